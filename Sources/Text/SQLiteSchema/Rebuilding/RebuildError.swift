/// A change of a table that would lose something, or break what names the table.
public struct RebuildError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The table.
  public let table: String
  /// The obstacles, one sentence each.
  public let obstacles: [String]
  /// The rowids of rows that stand in the way, the first ten of them; empty for a table WITHOUT ROWID.
  public let rowIDs: [Int64]

  init(_ table: String, _ obstacles: [String], rowIDs: [Int64] = []) {
    self.table = table
    self.obstacles = obstacles
    self.rowIDs = rowIDs
  }

  /// The table and what stands in the way.
  public var description: String {
    "The table “\(table)” cannot be changed: \(obstacles.joined(separator: "; "))."
  }
}
