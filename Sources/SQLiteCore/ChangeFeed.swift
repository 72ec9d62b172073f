import Synchronization

/// How much subscribers want to know of each change; the more, the dearer.
package enum ChangeDetail: UInt8, Comparable, Sendable {
  /// The names of the tables.
  case tables = 1
  /// Each row, by its rowid.
  case rows
  /// Each row with its values before and after.
  case values

  package static func < (left: ChangeDetail, right: ChangeDetail) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// A row that a committed transaction changed. One row may be changed several times.
package struct RowChange: Hashable, Sendable {
  package enum Kind: Sendable {
    case insert, update, delete
  }

  package let table: String
  package let kind: Kind
  /// The rowid before the change; for an insert the one after it. Meaningless for a table WITHOUT
  /// ROWID, whose key is among the values.
  package let oldRowID: Int64
  /// The rowid after the change; for a delete the one before it.
  package let rowID: Int64
  /// The columns before the change; nil for an insert, or if they were not asked for. Text that is
  /// not valid UTF-8 comes as a blob.
  package let old: [Value]?
  /// The columns after the change; nil for a delete and for a blob written in place.
  package let new: [Value]?
}

/// What one transaction, or the statements of one access outside any, changed in the main database.
package struct CommittedChanges: Sendable {
  /// The tables whose rows changed.
  package internal(set) var tables: Set<String> = []
  /// The rows in the order of their changes; empty unless someone asked for rows or values.
  package internal(set) var rows: [RowChange] = []
  /// Says whether a CREATE, DROP, ALTER or VACUUM ran: any table may differ.
  package internal(set) var changesSchema = false

  package var isEmpty: Bool { tables.isEmpty && !changesSchema }
}

/// Tells subscribers what transactions changed; one for all databases of this process on one file.
final class ChangeFeed: Sendable {
  private struct Subscriber: Sendable {
    let detail: ChangeDetail
    let body: @Sendable (CommittedChanges) -> Void
  }

  private struct State: Sendable {
    var subscribers: [UInt64: Subscriber] = [:]
    var lastID: UInt64 = 0
  }

  private let state = Mutex(State())
  /// The most that anyone wants to know, 0 if nobody listens.
  private let level = Atomic<UInt8>(0)

  /// The most that anyone wants to know, or nil if nobody listens.
  var detail: ChangeDetail? { ChangeDetail(rawValue: level.load(ordering: .acquiring)) }

  func subscribe(
    _ detail: ChangeDetail, _ body: @escaping @Sendable (CommittedChanges) -> Void
  ) -> ChangeSubscription {
    let id = state.withLock { state in
      state.lastID += 1
      state.subscribers[state.lastID] = Subscriber(detail: detail, body: body)
      updateLevel(state)
      return state.lastID
    }
    return ChangeSubscription { [weak self] in
      self?.state.withLock { state in
        state.subscribers[id] = nil
        self?.updateLevel(state)
      }
    }
  }

  func publish(_ changes: CommittedChanges) {
    let bodies = state.withLock { state in
      state.subscribers.sorted { $0.key < $1.key }.map(\.value.body)
    }
    for body in bodies { body(changes) }
  }

  private func updateLevel(_ state: borrowing State) {
    let most = state.subscribers.values.map(\.detail.rawValue).max() ?? 0
    level.store(most, ordering: .releasing)
  }
}

/// Ends a subscription when it is cancelled, or goes.
package final class ChangeSubscription: Sendable {
  private let end: @Sendable () -> Void

  fileprivate init(end: @escaping @Sendable () -> Void) {
    self.end = end
  }

  deinit { end() }

  /// Ends the subscription. A transaction that commits at this moment may still be told.
  package func cancel() { end() }
}

extension Database {
  /// Tells `body` of each transaction that changes this file, by any database of this process.
  ///
  /// Told are the transactions whose access begins after this call, in the order of their commits,
  /// on the thread that committed, once the changes are durable and before the access ends. `body`
  /// must be quick and must not use the database: pass the news on. What was rolled back, savepoints
  /// and failed statements included, is not told, except for savepoints that the user's own SQL
  /// rolled back. Other processes are not seen.
  ///
  /// Without the preupdate hook, on a libsqlite3 that lacks it, tables WITHOUT ROWID, rows deleted
  /// by REPLACE, and values are not seen.
  ///
  /// - Parameters:
  ///   - detail: How much to tell. Others may want more: then more is told.
  ///   - body: Takes the changes.
  /// - Returns: What keeps the subscription alive.
  package func subscribe(
    to detail: ChangeDetail, _ body: @escaping @Sendable (CommittedChanges) -> Void
  ) -> ChangeSubscription {
    shared.feed.subscribe(detail, body)
  }
}
