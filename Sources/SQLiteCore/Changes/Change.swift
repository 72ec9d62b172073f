/// What a statement that changes the database did.
public struct Change: Hashable, Sendable {
  /// The rows that the statement itself inserted, updated or deleted, without those that triggers
  /// and foreign keys changed; 0 for statements that change no rows.
  public let rows: Int
  /// The rowid of the row inserted last on the connection, 0 if there is none yet.
  public let lastInsertedRowID: Int64
}
