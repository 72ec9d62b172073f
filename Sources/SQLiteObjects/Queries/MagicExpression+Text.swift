import SQLiteCore

// Functions of texts mean what those of Swift's `String` of the same names mean: letters of all scripts, characters
// and not bytes. Only parts are found byte by byte, as texts are compared.
extension MagicCalculation where Element == String {
  /// The text in lower case, as Swift's `lowercased()`.
  ///
  ///     magic.objects(of: Track.self, where: (\Track.$name).lowercased() == "élan")
  ///
  /// No index serves a comparison of it.
  public func lowercased() -> MagicExpression<Object, String> {
    MagicExpression(["magicdata_text_lowercased(", ")"], node)
  }

  /// The text in upper case, as Swift's `uppercased()`.
  ///
  ///     let letters = try magic.fetch(Track.all.distinct().values((\Track.$name).prefix(1).uppercased()))
  public func uppercased() -> MagicExpression<Object, String> {
    MagicExpression(["magicdata_text_uppercased(", ")"], node)
  }

  /// The number of characters, as Swift counts them: a letter and its combining accents are one.
  ///
  ///     magic.objects(of: Track.self, where: (\Track.$name).count > 30)
  public var count: MagicExpression<Object, Int> {
    MagicExpression(["magicdata_text_count(", ")"], node)
  }

  /// The text without white space and line ends at both ends.
  ///
  ///     magic.objects(of: Track.self, where: (\Track.$name).trimmed() == "")
  public func trimmed() -> MagicExpression<Object, String> {
    MagicExpression(["magicdata_text_trimmed(", ")"], node)
  }

  /// The first characters, or the whole text if it has no more.
  ///
  ///     magic.objects(of: Track.self, where: (\Track.$name).prefix(3) == "The")
  ///
  /// An index serves `hasPrefix`, and not this.
  ///
  /// - Parameter maximumLength: The greatest number of characters. The query throws if it is negative.
  public func prefix(_ maximumLength: Int) -> MagicExpression<Object, String> {
    MagicExpression(["magicdata_text_prefix(", ", ", ")"], node, QueryNode(maximumLength))
  }

  /// The last characters, or the whole text if it has no more.
  ///
  ///     magic.objects(of: Track.self, where: (\Track.$path).suffix(4) == ".mp3")
  ///
  /// - Parameter maximumLength: The greatest number of characters. The query throws if it is negative.
  public func suffix(_ maximumLength: Int) -> MagicExpression<Object, String> {
    MagicExpression(["magicdata_text_suffix(", ", ", ")"], node, QueryNode(maximumLength))
  }

  /// The text with each part that is equal to another, byte by byte, replaced.
  ///
  ///     let names = try magic.fetch(Track.all.values((\Track.$name).replacing("_", with: " ")))
  ///
  /// - Parameters:
  ///   - part: What to replace; nothing is replaced if it is empty.
  ///   - replacement: What stands there afterwards.
  public func replacing(
    _ part: String, with replacement: String
  ) -> MagicExpression<Object, String> {
    MagicExpression(
      ["magicdata_text_replacing(", ", ", ", ", ")"], node, QueryNode(part), QueryNode(replacement))
  }

  /// True if the text ends with another, byte by byte.
  ///
  ///     magic.objects(of: Track.self, where: (\Track.$path).hasSuffix(".mp3"))
  ///
  /// - Parameter suffix: The end.
  public func hasSuffix(_ suffix: String) -> Filter<Object> {
    let bytes = Array(suffix.utf8)
    guard !bytes.isEmpty else { return Filter(.comparison(node, .notEqual, .value(.null))) }
    return Filter(
      .form(
        ["(substr(CAST(", " AS BLOB), -", ") = ", ")"],
        [node, .value(.integer(Int64(bytes.count))), .value(.blob(bytes))]))
  }
}
