import CSQLite

extension Connection {
  /// Says whether a write's transaction is open whose end runs the actions of ``afterRollback(_:)`` and
  /// its like: what is read now may yet be undone (`sqlite3_txn_state`).
  package var mayUndoReads: Bool { ownsTransaction && handle.isWriting }

  /// Runs what must be done although the access is to end, such as looking at what a rollback has left.
  package func uninterrupted<Result>(_ body: () throws -> Result) rethrows -> Result {
    let before = interruption.isExempt
    interruption.isExempt = true
    defer { interruption.isExempt = before }
    return try body()
  }
}

extension ConnectionHandle {
  /// Says whether the open transaction may write.
  var isWriting: Bool { unsafe sqlite3_txn_state(pointer, "main") == SQLITE_TXN_WRITE }
}
