/// The effect of a statement that changes the database.
public struct Change: Hashable, Sendable {
  /// The number of rows that the statement inserted, updated or deleted. Rows that were changed by
  /// triggers and foreign key actions don't count. It is 0 for statements that change no rows.
  public let rows: Int
  /// The rowid of the last row that this or an earlier statement on the connection has inserted
  /// into a table with rowids, or 0 if there is no such row (`sqlite3_last_insert_rowid`).
  public let lastInsertedRowID: Int64
}

/// A position in the recording of a ``ChangeRecorder``.
package struct RecordingMark {
  var tables = 0
  /// The size of the recorded rows in bytes.
  var rows = 0
  var schemaChanges = 0
  /// The number of times that rows were dropped from the recording, or couldn't be recorded.
  var losses = 0
  /// The size, in bytes, of the rows that the pre-commit closures have already received.
  var preparedRows = 0
}

/// An object that corrects the recording after a statement has failed.
protocol RunReconciler: AnyObject {
  func reconcile(_ run: RecordedRun)
}

/// The state of the recording before a writing statement runs.
struct RecordedRun {
  let recorder: any RunReconciler
  var mark: RecordingMark
  /// The recorder's `cutCount` when `mark` was read. If the recorder's count is higher now, the
  /// recording has been shortened since, and `mark` may be beyond its end.
  var cutCount: Int

  /// Corrects the recording after the statement has failed.
  func reconcile() { recorder.reconcile(self) }
}
