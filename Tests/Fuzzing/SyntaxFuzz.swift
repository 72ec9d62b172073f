import SyntaxOracle

/// Fuzzes SQL: the parser accepts the same texts as SQLite, and the printed text of an accepted one
/// has the same meaning.
package enum SyntaxFuzz {
  /// Returns a description of a fault, or nil.
  package static func check(_ bytes: [UInt8]) throws -> String? {
    let judge = try Judge()
    return judge.difference(bytes) ?? judge.printingFault(bytes)
  }
}
