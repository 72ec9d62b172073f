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
  /// The bytes of the rows that the bodies before a commit had been given.
  var preparedRows = 0
}

/// Corrects the recording after a run has failed.
protocol RunReconciler: AnyObject {
  func reconcile(_ run: RecordedRun)
}

/// The state of the recording before the run of a statement that writes.
struct RecordedRun {
  let recorder: any RunReconciler
  var mark: RecordingMark
  /// How often the recording had been shortened. Afterwards `mark` may be too high.
  var cutCount: Int

  /// Corrects the recording after the run has failed.
  func reconcile() { recorder.reconcile(self) }
}
