package import SQLiteCore

/// A pattern for a full-text search.
///
/// Text from users is treated as words and never as FTS5's query language. Quotes, operators and
/// parentheses in it cannot break a search.
///
///     let found = try database.fetch(Note.all.search(.all(of: field.text)))
///
/// Patterns that are joined by the same operator form a list of any length. Patterns that are
/// joined by alternating operators are nested. A search throws if they are nested deeper than
/// ``maximumDepth``.
public struct SearchPattern: Hashable, Sendable {
  /// The maximum nesting depth of a pattern. FTS5's parser has a stack of 100 entries, and each
  /// level needs three.
  public static let maximumDepth = 30

  /// The operator that joins the parts of a pattern, or `none` for a single part.
  private enum JoiningOperator: Hashable { case none, and, or, not }

  private let joiningOperator: JoiningOperator
  /// The expression in FTS5's query language, without ``excluded``. Empty if the pattern matches
  /// nothing.
  private let text: String
  /// The right operand of NOT, with its parts joined by OR. Empty for any other operator.
  private let excluded: String
  /// The number of nested pairs of parentheses around the innermost part.
  private let depth: Int

  private init(
    _ text: String, _ joiningOperator: JoiningOperator, excluded: String = "", depth: Int = 0
  ) {
    self.text = text
    self.joiningOperator = joiningOperator
    self.excluded = excluded
    self.depth = depth
  }

  /// Returns a pattern that matches values with all words of a text, in any order.
  ///
  /// - Parameter text: Words, separated by any other characters. A text without words matches
  ///   nothing.
  public static func all(of text: String) -> SearchPattern {
    joined(words(of: text), .and)
  }

  /// Returns a pattern that matches values with at least one word of a text.
  ///
  /// - Parameter text: Words, separated by any other characters. A text without words matches
  ///   nothing. Repeated words, even if they differ in case, have no effect on the ranking.
  public static func any(of text: String) -> SearchPattern {
    joined(words(of: text), .or)
  }

  /// Returns a pattern that matches values with all words of a text next to each other, in the same
  /// order.
  ///
  /// - Parameter text: Words, separated by any other characters. A text without words matches
  ///   nothing.
  public static func phrase(_ text: String) -> SearchPattern {
    SearchPattern(words(of: text).joined(separator: " + "), .none)
  }

  /// Returns a pattern that matches values with all words of a text, where the last word only has
  /// to be the beginning of a word. Use it to search while the user is typing.
  ///
  /// - Parameter text: Words, separated by any other characters. A text without words matches
  ///   nothing.
  public static func prefix(_ text: String) -> SearchPattern {
    var words = words(of: text)
    if let last = words.popLast() { words.append(last + " *") }
    return joined(words, .and)
  }

  /// Returns a pattern for the values that both patterns match.
  ///
  /// - Parameter other: The pattern to combine with this one.
  public func and(_ other: SearchPattern) -> SearchPattern {
    if isEmpty || other.isEmpty { return SearchPattern("", .none) }
    return joined(.and, " AND ", other)
  }

  /// Returns a pattern for the values that at least one of the patterns matches.
  ///
  /// - Parameter other: The pattern to combine with this one.
  public func or(_ other: SearchPattern) -> SearchPattern {
    if isEmpty { return other }
    if other.isEmpty { return self }
    return joined(.or, " OR ", other)
  }

  /// Returns a pattern for the values that this pattern matches and the other one doesn't.
  ///
  /// - Parameter other: The pattern to exclude.
  public func not(_ other: SearchPattern) -> SearchPattern {
    guard !isEmpty, !other.isEmpty else { return self }
    let unwanted = other.part(of: .or)
    if joiningOperator == .not {
      // `a NOT b NOT c` is the same as `a NOT (b OR c)`.
      return SearchPattern(
        text, .not, excluded: "\(excluded) OR \(unwanted.text)",
        depth: max(depth, unwanted.depth + 1))
    }
    let wanted = part(of: .not)
    return SearchPattern(
      wanted.text, .not, excluded: unwanted.text, depth: max(wanted.depth, unwanted.depth + 1))
  }

  /// Whether the pattern matches nothing.
  package var isEmpty: Bool { text.isEmpty }

  /// Returns the pattern in FTS5's query language. Empty if the pattern matches nothing.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/tooBig`` if the pattern is nested deeper than
  ///   ``maximumDepth``.
  package func expression() throws(SQLiteError) -> String {
    guard depth <= Self.maximumDepth else {
      throw SQLiteError(
        .tooBig,
        "the search pattern is nested \(depth) levels deep; FTS5 allows at most "
          + "\(Self.maximumDepth)")
    }
    return joiningOperator == .not ? "\(text) NOT (\(excluded))" : text
  }

  /// Returns the pattern as a part of a list, in parentheses if it is a list with another operator.
  private func part(of list: JoiningOperator) -> (text: String, depth: Int) {
    switch joiningOperator {
    case .none: (text, depth)
    case .not: ("(\(text) NOT (\(excluded)))", depth + 1)
    case .and, .or: joiningOperator == list ? (text, depth) : ("(\(text))", depth + 1)
    }
  }

  private func joined(
    _ joiningOperator: JoiningOperator, _ separator: String, _ other: SearchPattern
  ) -> SearchPattern {
    let (left, right) = (part(of: joiningOperator), other.part(of: joiningOperator))
    return SearchPattern(
      left.text + separator + right.text, joiningOperator, depth: max(left.depth, right.depth))
  }

  /// Joins words after removing duplicates, which would slow down FTS5: the time for a snippet
  /// grows with the square of the number of matches, and a word that occurs a thousand times in the
  /// pattern would match a thousand times at each position.
  private static func joined(_ words: [String], _ joiningOperator: JoiningOperator) -> SearchPattern
  {
    var seen: Set<String> = []
    let words = words.filter { seen.insert($0.lowercased()).inserted }
    return SearchPattern(
      words.joined(separator: joiningOperator == .and ? " AND " : " OR "),
      words.count > 1 ? joiningOperator : .none)
  }

  /// Returns the words of a text, each in quotes, so that FTS5 doesn't interpret them as operators.
  /// Characters that FTS5's tokenizer treats as neither letters nor digits are removed, including
  /// quotes. Words without any letter or digit are omitted, because they would match nothing.
  private static func words(of text: String) -> [String] {
    text.unicodeScalars.split { !isMark($0) && !isLetter($0) }
      .filter { $0.contains(where: isLetter) }
      .map { "\"\(String(String.UnicodeScalarView($0)))\"" }
  }

  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber, .otherNumber, .privateUse:
      true
    default: false
    }
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark: true
    default: false
    }
  }
}
