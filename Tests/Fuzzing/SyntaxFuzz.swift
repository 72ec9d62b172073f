import SyntaxOracle

/// Any bytes as SQL: they are accepted or refused as SQLite does, and what is accepted is printed
/// as a text that means the same.
package enum SyntaxFuzz {
  /// Returns what was wrong, or nil.
  package static func check(_ bytes: [UInt8]) throws -> String? {
    let judge = try Judge()
    return judge.difference(bytes) ?? judge.unfaithfulness(bytes)
  }
}
