extension Connection {
  /// Begins or ends recording, as the subscribers of the feed want it. Called between accesses.
  func updateRecorder() {
    guard let feed = shared?.feed, isWriter else { return }
    demand = feed.demand
    let detail = demand.detail
    guard detail != handle.recorder?.detail else { return }
    // Statements compiled without the hook empty tables without calling it.
    cache.removeAll()
    handle.install(
      detail.map { ChangeRecorder(detail: $0) }, usesPreupdateHook: options.usesPreupdateHook)
  }

  /// Tells subscribers what was committed.
  func publishChanges() {
    guard let feed = shared?.feed, isWriter, handle.recorder != nil || feed.demand != demand,
      handle.isAutocommit
    else { return }
    let changes = handle.recorder?.takeCommitted() ?? CommittedChanges()
    feed.publish(changes, recorded: demand, hasWritten: hasWritten)
    hasWritten = false
  }

  /// The whole content was replaced, past the hooks.
  func noteReplacement() {
    hasWritten = true
    handle.recorder?.noteReplacement()
  }
}

extension StatementHandle {
  /// Remembers where the changes of this run begin.
  func beginRecording(_ recorder: ChangeRecorder, of connection: Connection) {
    recorder.statementBegins(
      isAutocommit: connection.handle.isAutocommit, changesSchema: changesSchema)
    recorded = Recorded(
      mark: recorder.mark, statement: recorder.statementCount,
      totalChanges: connection.handle.totalChanges)
  }

  /// Drops the changes of a run that failed.
  func dropRecorded(_ recorder: ChangeRecorder, of connection: Connection) {
    guard let recorded else { return }
    // A statement with OR FAIL keeps what it did, and SQLite counts that. If others have begun
    // meanwhile, their changes stand behind the mark: better told too much than too little.
    guard connection.handle.totalChanges == recorded.totalChanges,
      recorder.statementCount == recorded.statement
    else { return }
    recorder.rollBack(to: recorded.mark)
  }

  /// What a run needs to undo its recording.
  struct Recorded {
    let mark: ChangeRecorder.Mark
    let statement: Int
    let totalChanges: Int64
  }
}
