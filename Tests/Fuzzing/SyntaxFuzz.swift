import SQLSyntax
import SyntaxOracle

/// Any bytes as SQL: they are accepted or refused as SQLite does, and what is accepted is printed
/// as a text that means the same.
package struct SyntaxFuzz {
  private let judge: Judge

  package init() throws { judge = try Judge() }

  /// Returns what was wrong, or nil.
  package func check(_ bytes: [UInt8]) -> String? {
    if let difference = judge.difference(bytes) { return difference }
    return judge.unfaithfulness(bytes)
  }
}
