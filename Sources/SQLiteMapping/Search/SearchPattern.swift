/// What a full-text search looks for.
///
/// Text of a user's is taken as words and never as FTS5's query language: no quote, operator or
/// parenthesis in it can break a search.
///
///     let found = try database.search(Note.self, for: .all(of: field.text))
public struct SearchPattern: Hashable, Sendable {
  /// The pattern in FTS5's language; empty if it finds nothing.
  package let expression: String

  /// Values that have all words of a text, in any order.
  ///
  /// - Parameter text: Words, with anything between them.
  public static func all(of text: String) -> SearchPattern {
    SearchPattern(expression: words(of: text).joined(separator: " AND "))
  }

  /// Values that have at least one word of a text.
  ///
  /// - Parameter text: Words, with anything between them.
  public static func any(of text: String) -> SearchPattern {
    SearchPattern(expression: words(of: text).joined(separator: " OR "))
  }

  /// Values that have the words of a text side by side.
  ///
  /// - Parameter text: Words, with anything between them.
  public static func phrase(_ text: String) -> SearchPattern {
    SearchPattern(expression: words(of: text).joined(separator: " + "))
  }

  /// Values that have all words of a text, and a word that begins as its last one, as while typing.
  ///
  /// - Parameter text: Words, with anything between them.
  public static func prefix(_ text: String) -> SearchPattern {
    let words = words(of: text)
    return SearchPattern(expression: words.isEmpty ? "" : words.joined(separator: " AND ") + " *")
  }

  /// Values that fit both patterns.
  ///
  /// - Parameter other: Another pattern.
  public func and(_ other: SearchPattern) -> SearchPattern {
    guard !expression.isEmpty, !other.expression.isEmpty else {
      return SearchPattern(expression: "")
    }
    return SearchPattern(expression: "(\(expression)) AND (\(other.expression))")
  }

  /// Values that fit one of the patterns, or both.
  ///
  /// - Parameter other: Another pattern.
  public func or(_ other: SearchPattern) -> SearchPattern {
    if expression.isEmpty { return other }
    if other.expression.isEmpty { return self }
    return SearchPattern(expression: "(\(expression)) OR (\(other.expression))")
  }

  /// Values that fit this pattern and not the other one.
  ///
  /// - Parameter other: Another pattern.
  public func not(_ other: SearchPattern) -> SearchPattern {
    guard !expression.isEmpty, !other.expression.isEmpty else { return self }
    return SearchPattern(expression: "(\(expression)) NOT (\(other.expression))")
  }

  /// The words in quotes, which FTS5 takes as they are. What is neither letter nor digit to its
  /// tokenizer is left out, quotes among it: a word of nothing else would let nothing be found.
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
