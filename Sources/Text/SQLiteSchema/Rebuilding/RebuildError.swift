/// An error that is thrown if a migration step would lose data or break an object that uses the
/// table, or if the table, column or constraint to change doesn't exist.
public struct RebuildError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the table that can't be changed.
  public let table: String
  /// The reasons why the table can't be changed, one phrase each.
  public let obstacles: [String]
  /// The rowids of the rows that prevent the change, at most ten. Empty if rows aren't the reason,
  /// or if the table is WITHOUT ROWID.
  public let rowIDs: [Int64]

  init(_ table: String, _ obstacles: [String], rowIDs: [Int64] = []) {
    self.table = table
    self.obstacles = obstacles
    self.rowIDs = rowIDs
  }

  /// A message with the table and the reasons.
  public var description: String {
    "the table “\(table)” cannot be changed: \(obstacles.joined(separator: "; "))"
  }
}
