package import SQLiteCore
import Synchronization

/// The commits that a reader has not read yet. Nobody waits for the reader: what is too much is dropped.
package final class DeltaQueue: Sendable {
  package enum News: Sendable {
    case commit(CommittedChanges)
    case tooMuch
    case replaced
  }

  fileprivate struct State: Sendable {
    var commits: [CommittedChanges] = []
    var byteCount = 0
    /// The news that takes the place of all that was dropped.
    var loss: News?
    /// Commits up to this one are in the state that the reader has.
    var turn: UInt64 = 0
  }

  private let state = Awaited(State())
  private let database: Database
  private let limit: Int
  private let tables: Set<String>
  private let subscription = Mutex<Registration?>(nil)

  /// - Parameters:
  ///   - database: The database.
  ///   - tables: The tables, in lower case.
  ///   - limit: The most bytes of changes that are kept.
  package init(_ database: Database, tables: Set<String>, limit: Int) {
    self.database = database
    self.limit = limit
    self.tables = tables
    let made = database.subscribe(to: .values, tables: tables, atMost: limit) {
      [weak self] in self?.add($0)
    }
    subscription.withLock { $0 = made }
  }

  private func add(_ changes: CommittedChanges) {
    let isRebuilt = changes.changesSchema && tables.contains { changes.mayRebuild($0) }
    guard isRebuilt || changes.tables.contains(where: { tables.contains(asciiLowercased($0)) })
    else { return }
    let isLarge = changes.isIncomplete || changes.recorded.byteCount > limit
    state.change { state in
      if changes.turn != 0, changes.turn <= state.turn { return }
      if isRebuilt {
        state.drop(.replaced)
      } else if isLarge || state.byteCount + changes.recorded.byteCount > limit {
        state.drop(.tooMuch)
      } else {
        state.commits.append(changes)
        // The rest is about as much as a commit without rows takes.
        state.byteCount += changes.recorded.byteCount + 256
      }
    }
  }

  /// Drops all that was told, since the reader has read the state after a commit. Called while no other connection commits.
  package func begin(after turn: UInt64) {
    state.withLock { state in
      state.turn = turn
      state.commits = []
      state.byteCount = 0
      state.loss = nil
    }
  }

  /// Waits for the next news, and takes it.
  ///
  /// - Returns: Nil if the task was cancelled.
  /// - Throws: `SQLiteError` if the database was closed.
  package func next() async throws(SQLiteError) -> News? {
    while !Task.isCancelled {
      try database.checkOpen()
      let news = state.withLock { state -> News? in
        if let loss = state.loss {
          state.loss = nil
          return loss
        }
        guard !state.commits.isEmpty else { return nil }
        let first = state.commits.removeFirst()
        state.byteCount -= first.recorded.byteCount + 256
        return .commit(first)
      }
      if let news { return news }
      await state.wait { $0.loss != nil || !$0.commits.isEmpty }
    }
    return nil
  }
}

extension DeltaQueue.State {
  /// Puts one piece of news in the place of all that waits.
  fileprivate mutating func drop(_ news: DeltaQueue.News) {
    commits = []
    byteCount = 0
    if case .replaced? = loss { return }
    loss = news
  }
}
