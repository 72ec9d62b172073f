/// The names of a statement's columns, shared by the rows of one result.
package final class ColumnNames: Sendable {
  package let names: [String]
  /// Positions by name in ASCII lower case, the first of several.
  private let positions: [String: Int]

  init(_ names: [String]) {
    self.names = names
    positions = Dictionary(
      names.enumerated().map { (asciiLowercased($0.element), $0.offset) },
      uniquingKeysWith: { first, _ in first })
  }

  package var count: Int { names.count }

  /// The position of the first column of that name by SQLite's rule: ASCII letters of either case
  /// are one letter, all others are distinct.
  package func position(of name: String) -> Int? {
    let wanted = asciiLowercased(name)
    guard let position = positions[wanted] else { return nil }
    if sameBytes(asciiLowercased(names[position]), wanted) { return position }
    // Another spelling of canonically the same name came first.
    return names.firstIndex { sameBytes(asciiLowercased($0), wanted) }
  }
}

/// `text` with A to Z made small, as SQLite compares identifiers.
package func asciiLowercased(_ text: String) -> String {
  guard text.utf8.contains(where: { (65...90).contains($0) }) else { return text }
  return String(decoding: text.utf8.map { (65...90).contains($0) ? $0 | 32 : $0 }, as: UTF8.self)
}
