/// The effect of a statement that changes the database.
public struct Change: Hashable, Sendable {
  /// The rows that the statement itself inserted, updated or deleted, without those that triggers
  /// and foreign keys changed; 0 for statements that change no rows.
  public let rows: Int
  /// The rowid of the row inserted last on the connection, 0 if there is none yet.
  public let lastInsertedRowID: Int64
}

/// How much a ``ChangeRecorder`` had collected at some moment.
package struct RecordingMark {
  var tables = 0
  /// The bytes of the rows.
  var rows = 0
  var schemaChanges = 0
  /// How often rows had been left out.
  var losses = 0
}

/// The state before a statement's run, by which its recording is undone.
struct RecordedRun {
  let mark: RecordingMark
  /// How many statements had begun.
  let statementCount: Int
  /// The rows changed on the connection before.
  let totalChanges: Int64
}
