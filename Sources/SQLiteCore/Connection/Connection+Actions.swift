/// The work of layers above for the moment when the outermost transaction ends.
struct TransactionActions {
  fileprivate var beforeCommit: [(Connection) throws -> Void] = []
  fileprivate var afterCommit: [(Connection) -> Void] = []
  fileprivate var afterRollback: [(Connection) -> Void] = []

  var counts: ActionCounts {
    ActionCounts(
      beforeCommit: beforeCommit.count, afterCommit: afterCommit.count,
      afterRollback: afterRollback.count)
  }
}

extension Connection {
  /// Runs `action` just before the outermost transaction commits; if it throws, all is rolled back.
  /// In `withoutTransaction`, that may be a COMMIT, an END or a RELEASE in the user's SQL.
  package func beforeCommit(_ action: @escaping (Connection) throws -> Void) {
    actions.beforeCommit.append(action)
  }

  /// Runs `action` once the outermost transaction is durable, within the same access and outside
  /// any transaction. Dropped if the scope that is open now is rolled back.
  package func afterCommit(_ action: @escaping (Connection) -> Void) {
    actions.afterCommit.append(action)
  }

  /// Runs `action` once the scope that is open now, or one around it, has been rolled back.
  package func afterRollback(_ action: @escaping (Connection) -> Void) {
    actions.afterRollback.append(action)
  }

  /// Runs the actions that wait for a commit, those before it first.
  func prepareCommit() throws {
    while !actions.beforeCommit.isEmpty {
      let pending = actions.beforeCommit
      actions.beforeCommit = []
      for action in pending { try action(self) }
    }
    try checkFile()
  }

  func committed() {
    let pending = actions.afterCommit
    actions = TransactionActions()
    for action in pending { action(self) }
    publishChanges()
  }

  /// Drops what was added since `counts`, and runs what waits for a rollback.
  func rolledBack(to counts: ActionCounts) {
    actions.beforeCommit.removeLast(max(0, actions.beforeCommit.count - counts.beforeCommit))
    actions.afterCommit.removeLast(max(0, actions.afterCommit.count - counts.afterCommit))
    let pending = actions.afterRollback[min(counts.afterRollback, actions.afterRollback.count)...]
    actions.afterRollback.removeLast(pending.count)
    // What was done last is undone first.
    for action in pending.reversed() { action(self) }
  }
}
