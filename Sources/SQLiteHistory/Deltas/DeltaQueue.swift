package import SQLiteCore
import Synchronization

/// The commits that a reader has not read yet. Nobody waits for the reader: what is too much is dropped.
package final class DeltaQueue: Sendable {
  package enum News: Sendable {
    case commit(CommittedChanges)
    case tooMuch
    case replaced
  }

  fileprivate struct State {
    var commits: [CommittedChanges] = []
    var byteCount = 0
    /// The news that takes the place of all that was dropped.
    var loss: News?
    /// Commits up to this one are in the state that the reader has.
    var turn: UInt64 = 0
    var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var lastID: UInt64 = 0
  }

  private let state = Mutex(State())
  private let limit: Int
  private let tables: Set<String>
  private let subscription = Mutex<ChangeSubscription?>(nil)
  /// Where tasks are resumed: not on a thread that tells the news, see ``ChangeFeed``.
  private let worker = Worker()

  /// - Parameters:
  ///   - database: The database.
  ///   - tables: The tables, in lower case.
  ///   - limit: The most bytes of changes that are kept.
  package init(_ database: Database, tables: Set<String>, limit: Int) {
    self.limit = limit
    self.tables = tables
    let made = database.subscribe(to: .values, tables: tables) { [weak self] in self?.add($0) }
    subscription.withLock { $0 = made }
  }

  private func add(_ changes: CommittedChanges) {
    let isRebuilt = changes.changesSchema && tables.contains { changes.mayRebuild($0) }
    guard isRebuilt || changes.tables.contains(where: { tables.contains(asciiLowercased($0)) })
    else { return }
    let isLarge = changes.isIncomplete || changes.recorded.byteCount > limit
    change { state in
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
  package func next() async -> News? {
    while !Task.isCancelled {
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
      await wait()
    }
    return nil
  }

  private func wait() async {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.loss != nil || !state.commits.isEmpty || Task.isCancelled { return true }
          state.waiters[id] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
    }
  }

  private func change(_ change: (inout State) -> Void) {
    let waiters = state.withLock { state in
      change(&state)
      defer { state.waiters = [:] }
      return state.waiters
    }
    guard !waiters.isEmpty else { return }
    worker.start { for waiter in waiters.values { waiter.resume() } }
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
