package import SQLiteCore
import Synchronization

/// A queue of the commits that a reader hasn't read yet. Writers never wait for the reader: if the
/// queue exceeds its limit, its commits are dropped, and the reader receives `overflow` instead.
package final class DeltaQueue: Sendable {
  package enum News: Sendable {
    case commit(CommittedChanges)
    case overflow
    case replaced
  }

  fileprivate struct State: Sendable {
    var commits: [CommittedChanges] = []
    var byteCount = 0
    /// The event that replaces the dropped commits; nil if nothing was dropped.
    var loss: News?
    /// The sequence number of the last commit that the reader's state includes.
    var commitNumber: UInt64 = 0
  }

  private let state = Awaited(State())
  private let database: Database
  private let limit: Int
  private let tables: Set<String>
  private let subscription = Mutex<Registration?>(nil)

  /// Creates a queue of the commits that change certain tables from now on.
  ///
  /// - Parameters:
  ///   - database: The database.
  ///   - tables: The names of the tables in lower case.
  ///   - limit: The maximum size of the queued changes in bytes.
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
      if changes.commitNumber != 0, changes.commitNumber <= state.commitNumber { return }
      if isRebuilt {
        state.drop(.replaced)
      } else if isLarge || state.byteCount + changes.recorded.byteCount > limit {
        state.drop(.overflow)
      } else {
        state.commits.append(changes)
        // 256 bytes is about the size of a commit without its rows.
        state.byteCount += changes.recorded.byteCount + 256
      }
    }
  }

  /// Empties the queue and ignores commits up to `commitNumber` from now on, because the reader
  /// reads a state of the database that includes them. Call it while no other connection can
  /// commit.
  package func begin(after commitNumber: UInt64) {
    state.withLock { state in
      state.commitNumber = commitNumber
      state.commits = []
      state.byteCount = 0
      state.loss = nil
    }
  }

  /// Waits for the next event and removes it from the queue.
  ///
  /// - Returns: The event, or nil if the task was cancelled.
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
  /// Replaces all queued commits with one event, which the reader receives next. If it hasn't yet
  /// received an earlier `replaced`, that event stays.
  fileprivate mutating func drop(_ news: DeltaQueue.News) {
    commits = []
    byteCount = 0
    if case .replaced? = loss { return }
    loss = news
  }
}
