import SQLiteCore

// Functions on texts have the semantics of the `String` functions of the same names. They support
// all scripts, and operate on characters, not bytes. Only searches compare bytes, like all
// comparisons of texts in queries.
extension MagicCalculation where Element == String {
  /// Returns an expression for the text in lower case, like Swift's `lowercased()`.
  ///
  ///     magic.objects(of: Track.self, where: (\Track.$name).lowercased() == "élan")
  ///
  /// Comparisons of the result can't use an index.
  public func lowercased() -> MagicExpression<Object, String> {
    MagicExpression(["magicdata_text_lowercased(", ")"], node)
  }

  /// Returns an expression for the text in upper case, like Swift's `uppercased()`.
  ///
  ///     let letters = try magic.fetch(Track.all.distinct().values((\Track.$name).prefix(1).uppercased()))
  public func uppercased() -> MagicExpression<Object, String> {
    MagicExpression(["magicdata_text_uppercased(", ")"], node)
  }

  /// An expression for the number of characters, counted as in Swift: a letter and its combining
  /// accents are one character.
  ///
  ///     magic.objects(of: Track.self, where: (\Track.$name).count > 30)
  public var count: MagicExpression<Object, Int> {
    MagicExpression(["magicdata_text_count(", ")"], node)
  }

  /// Returns an expression for the text without leading and trailing whitespace and line breaks.
  ///
  ///     magic.objects(of: Track.self, where: (\Track.$name).trimmed() == "")
  public func trimmed() -> MagicExpression<Object, String> {
    MagicExpression(["magicdata_text_trimmed(", ")"], node)
  }

  /// Returns an expression for the first characters of the text, or for the whole text if it isn't
  /// longer.
  ///
  ///     magic.objects(of: Track.self, where: (\Track.$name).prefix(3) == "The")
  ///
  /// A comparison of the result can't use an index. To use one, call `hasPrefix`.
  ///
  /// - Parameter maximumLength: The maximum number of characters. Fetching throws `SQLiteError` if
  ///   it is negative.
  public func prefix(_ maximumLength: Int) -> MagicExpression<Object, String> {
    MagicExpression(["magicdata_text_prefix(", ", ", ")"], node, QueryNode(maximumLength))
  }

  /// Returns an expression for the last characters of the text, or for the whole text if it isn't
  /// longer.
  ///
  ///     magic.objects(of: Track.self, where: (\Track.$path).suffix(4) == ".mp3")
  ///
  /// - Parameter maximumLength: The maximum number of characters. Fetching throws `SQLiteError` if
  ///   it is negative.
  public func suffix(_ maximumLength: Int) -> MagicExpression<Object, String> {
    MagicExpression(["magicdata_text_suffix(", ", ", ")"], node, QueryNode(maximumLength))
  }

  /// Returns an expression for the text with every occurrence of a part replaced. Bytes are
  /// compared, not characters.
  ///
  ///     let names = try magic.fetch(Track.all.values((\Track.$name).replacing("_", with: " ")))
  ///
  /// - Parameters:
  ///   - part: The text to replace. If it is empty, nothing is replaced.
  ///   - replacement: The text that replaces each occurrence.
  public func replacing(
    _ part: String, with replacement: String
  ) -> MagicExpression<Object, String> {
    MagicExpression(
      ["magicdata_text_replacing(", ", ", ", ", ")"], node, QueryNode(part), QueryNode(replacement))
  }

  /// Returns a filter for the objects whose text ends with a suffix. Bytes are compared, so case
  /// matters.
  ///
  ///     magic.objects(of: Track.self, where: (\Track.$path).hasSuffix(".mp3"))
  ///
  /// - Parameter suffix: The suffix.
  public func hasSuffix(_ suffix: String) -> Filter<Object> {
    let bytes = Array(suffix.utf8)
    guard !bytes.isEmpty else { return Filter(.comparison(node, .notEqual, .value(.null))) }
    return Filter(
      .form(
        ["(substr(CAST(", " AS BLOB), -", ") = ", ")"],
        [node, .value(.integer(Int64(bytes.count))), .value(.blob(bytes))]))
  }
}
