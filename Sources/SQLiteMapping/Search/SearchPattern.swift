package import SQLiteCore

/// A pattern of a full-text search.
///
/// Text of a user's is taken as words and never as FTS5's query language: no quote, operator or
/// parenthesis in it can break a search.
///
///     let found = try database.fetch(Note.all.search(.all(of: field.text)))
///
/// Patterns that are joined by one operator are a list to FTS5, of any length. Those of different
/// operators in turns are nested: a search refuses more than ``maximumDepth``.
public struct SearchPattern: Hashable, Sendable {
  /// How deep patterns may be nested. FTS5's parser has a stack of 100 entries, three for each.
  public static let maximumDepth = 30

  /// The operator between the parts.
  private enum Joint: Hashable { case none, and, or, not }

  private let joint: Joint
  /// In FTS5's language; empty if it finds nothing.
  private let text: String
  /// The operand of NOT, its parts joined by OR.
  private let excluded: String
  /// How many parentheses are around the innermost part.
  private let depth: Int

  private init(_ text: String, _ joint: Joint, excluded: String = "", depth: Int = 0) {
    self.text = text
    self.joint = joint
    self.excluded = excluded
    self.depth = depth
  }

  /// Values that have all words of a text, in any order.
  ///
  /// - Parameter text: Words, with anything between them.
  public static func all(of text: String) -> SearchPattern {
    joined(words(of: text), .and)
  }

  /// Values that have at least one word of a text.
  ///
  /// - Parameter text: Words, with anything between them. One that comes again, in whatever case, weighs no more.
  public static func any(of text: String) -> SearchPattern {
    joined(words(of: text), .or)
  }

  /// Values that have the words of a text side by side.
  ///
  /// - Parameter text: Words, with anything between them.
  public static func phrase(_ text: String) -> SearchPattern {
    SearchPattern(words(of: text).joined(separator: " + "), .none)
  }

  /// Values that have all words of a text, and a word that begins as its last one, as while typing.
  ///
  /// - Parameter text: Words, with anything between them.
  public static func prefix(_ text: String) -> SearchPattern {
    var words = words(of: text)
    if let last = words.popLast() { words.append(last + " *") }
    return joined(words, .and)
  }

  /// Values that fit both patterns.
  ///
  /// - Parameter other: Another pattern.
  public func and(_ other: SearchPattern) -> SearchPattern {
    if isEmpty || other.isEmpty { return SearchPattern("", .none) }
    return joined(.and, " AND ", other)
  }

  /// Values that fit one of the patterns, or both.
  ///
  /// - Parameter other: Another pattern.
  public func or(_ other: SearchPattern) -> SearchPattern {
    if isEmpty { return other }
    if other.isEmpty { return self }
    return joined(.or, " OR ", other)
  }

  /// Values that fit this pattern and not the other one.
  ///
  /// - Parameter other: Another pattern.
  public func not(_ other: SearchPattern) -> SearchPattern {
    guard !isEmpty, !other.isEmpty else { return self }
    let unwanted = other.part(of: .or)
    if joint == .not {
      // Excluding both patterns is excluding one or the other.
      return SearchPattern(
        text, .not, excluded: "\(excluded) OR \(unwanted.text)",
        depth: max(depth, unwanted.depth + 1))
    }
    let wanted = part(of: .not)
    return SearchPattern(
      wanted.text, .not, excluded: unwanted.text, depth: max(wanted.depth, unwanted.depth + 1))
  }

  /// Whether it finds nothing.
  package var isEmpty: Bool { text.isEmpty }

  /// The pattern in FTS5's language; empty if it finds nothing.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/tooBig`` if it is nested too deep.
  package func expression() throws(SQLiteError) -> String {
    guard depth <= Self.maximumDepth else {
      throw SQLiteError(
        .tooBig,
        "the search pattern is nested \(depth) deep, and FTS5 reads \(Self.maximumDepth) at most")
    }
    return joint == .not ? "\(text) NOT (\(excluded))" : text
  }

  /// The pattern as a part of a list, in parentheses if it is another list.
  private func part(of list: Joint) -> (text: String, depth: Int) {
    switch joint {
    case .none: (text, depth)
    case .not: ("(\(text) NOT (\(excluded)))", depth + 1)
    case .and, .or: joint == list ? (text, depth) : ("(\(text))", depth + 1)
    }
  }

  private func joined(
    _ joint: Joint, _ separator: String, _ other: SearchPattern
  ) -> SearchPattern {
    let (left, right) = (part(of: joint), other.part(of: joint))
    return SearchPattern(
      left.text + separator + right.text, joint, depth: max(left.depth, right.depth))
  }

  /// Joins words, each once: for a snippet FTS5 takes time by the square of the places where words are found, and a
  /// word that comes a thousand times in the pattern is found at each place a thousand times.
  private static func joined(_ words: [String], _ joint: Joint) -> SearchPattern {
    var seen: Set<String> = []
    let words = words.filter { seen.insert($0.lowercased()).inserted }
    return SearchPattern(
      words.joined(separator: joint == .and ? " AND " : " OR "), words.count > 1 ? joint : .none)
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
