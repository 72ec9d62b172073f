import Foundation
import MagicData

/// Creates a database with content that no attack may change, and compares that content.
enum SafeDatabase {
  static func make() throws -> Database {
    let database = try Database.memory()
    try database.executeMultipleChanges(
      "CREATE TABLE safe (a, b); INSERT INTO safe VALUES (1, 2); CREATE INDEX i ON safe (a)")
    return database
  }

  /// Returns the whole schema and the rows of `safe`.
  static func content(of database: Database) throws -> [[Value]] {
    try
      (database.executeQuery("SELECT type, name, sql FROM sqlite_schema ORDER BY name")
      + database.executeQuery("SELECT * FROM safe")).map(\.values)
  }

  /// Returns whether the database still has all of `content`. It may have more.
  static func containsAll(_ content: [[Value]], _ database: Database) throws -> Bool {
    Set(content).isSubset(of: try self.content(of: database))
  }
}

/// Returns whether two texts have the same bytes, which is stricter than `==`.
func isSame(_ one: String?, _ other: String) -> Bool {
  one.map { Array($0.utf8) } == Array(other.utf8)
}

/// An in-memory implementation of LIKE: `%` matches anything, `_` matches a scalar, and ASCII
/// letters are case-insensitive.
struct LikePattern {
  private let scalars: [UInt32]

  init(_ text: String) { scalars = LikePattern.folded(text) }

  func matches(_ text: String) -> Bool {
    // The places in the pattern that the scalars so far can have reached.
    var places = closed([0])
    for scalar in LikePattern.folded(text) {
      var next: Set<Int> = []
      for place in places where place < scalars.count {
        if scalars[place] == 0x25 {
          next.insert(place)
        } else if scalars[place] == 0x5f || scalars[place] == scalar {
          next.insert(place + 1)
        }
      }
      places = closed(next)
    }
    return places.contains(scalars.count)
  }

  /// Returns the places and those that are reachable by skipping each `%`.
  private func closed(_ places: Set<Int>) -> Set<Int> {
    var all = places
    for var place in places {
      while place < scalars.count, scalars[place] == 0x25 {
        place += 1
        all.insert(place)
      }
    }
    return all
  }

  private static func folded(_ text: String) -> [UInt32] {
    text.unicodeScalars.map { (0x41...0x5a).contains($0.value) ? $0.value + 32 : $0.value }
  }
}

/// The words of a text as FTS5's tokenizer `unicode61` finds them: letters and digits, without case
/// and diacritics.
struct Words {
  private let words: [String]

  init(_ text: String) {
    let letters = text.unicodeScalars.map { scalar -> String in
      switch scalar.properties.generalCategory {
      case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
        .decimalNumber, .letterNumber, .otherNumber, .privateUse:
        String(scalar).uppercased().lowercased()
      case .nonspacingMark, .spacingMark: ""
      default: " "
      }
    }
    words = letters.joined().decomposedStringWithCanonicalMapping.unicodeScalars
      .filter { $0.properties.generalCategory != .nonspacingMark }.split(separator: " ")
      .map { String(String.UnicodeScalarView($0)) }
  }

  func hasAll(of others: Words) -> Bool {
    !others.words.isEmpty && others.words.allSatisfy(words.contains)
  }

  func hasAny(of others: Words) -> Bool { others.words.contains(where: words.contains) }

  func hasPhrase(_ others: Words) -> Bool {
    guard !others.words.isEmpty, words.count >= others.words.count else { return false }
    return (0...(words.count - others.words.count)).contains {
      words[$0...].starts(with: others.words)
    }
  }
}
