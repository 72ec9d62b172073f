import Synchronization

/// How much subscribers want to know of each change. More costs more.
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

/// The changes of one transaction, or of the statements of one access outside any, in the main database.
package struct CommittedChanges: Sendable {
  /// The tables whose rows changed.
  package internal(set) var tables: Set<String> = []
  /// The rows in the order of their changes; empty unless someone asked for rows or values.
  package internal(set) var rows: [RowChange] = []
  /// Whether a CREATE, DROP, ALTER or VACUUM ran, the whole content was replaced, or what changed
  /// is not known: any table may differ.
  package internal(set) var changesSchema = false

  package var isEmpty: Bool { tables.isEmpty && !changesSchema }

  /// A change that nobody has recorded: any table may differ.
  static let unknown = CommittedChanges(changesSchema: true)
}

/// Tells subscribers what transactions changed; one for all databases of this process on one file.
final class ChangeFeed: Sendable {
  /// The most detail that any subscriber wants, read at some moment.
  struct Demand: Hashable, Sendable {
    /// The last subscriber's number above two bits for the most that anyone wants.
    fileprivate let bits: UInt64

    init() { bits = 0 }

    fileprivate init(bits: UInt64) { self.bits = bits }

    /// The most that anyone wants to know, or nil if nobody listens.
    var detail: ChangeDetail? { ChangeDetail(rawValue: UInt8(truncatingIfNeeded: bits & 3)) }

    /// Returns whether a subscriber had come when this was read.
    fileprivate func knows(_ id: UInt64) -> Bool { id <= bits >> 2 }
  }

  private struct Subscriber: Sendable {
    let id: UInt64
    let detail: ChangeDetail
    let body: @Sendable (CommittedChanges) -> Void
  }

  private struct State: Sendable {
    /// In the order in which they came.
    var subscribers: [Subscriber] = []
    /// How many subscribers want each detail.
    var counts = [0, 0, 0, 0]
    var lastID: UInt64 = 0
  }

  private let state = Mutex(State())
  private let current = Atomic<UInt64>(0)

  /// The present demand.
  var demand: Demand { Demand(bits: current.load(ordering: .acquiring)) }

  func subscribe(
    _ detail: ChangeDetail, _ body: @escaping @Sendable (CommittedChanges) -> Void
  ) -> ChangeSubscription {
    let id = state.withLock { state in
      state.lastID += 1
      state.subscribers.append(Subscriber(id: state.lastID, detail: detail, body: body))
      state.counts[Int(detail.rawValue)] += 1
      updateDemand(state)
      return state.lastID
    }
    return ChangeSubscription { [weak self] in self?.end(id) }
  }

  private func end(_ id: UInt64) {
    // It goes outside the lock, and what it holds with it.
    let ended = state.withLock { state -> Subscriber? in
      guard let index = state.subscribers.firstIndex(where: { $0.id == id }) else { return nil }
      let ended = state.subscribers.remove(at: index)
      state.counts[Int(ended.detail.rawValue)] -= 1
      updateDemand(state)
      return ended
    }
    withExtendedLifetime(ended) {}
  }

  /// Tells what was committed.
  ///
  /// - Parameters:
  ///   - changes: The recorded changes.
  ///   - recorded: The demand when the recording began. A subscriber that has come since and wants more is
  ///     told only that something may have changed.
  ///   - hasWritten: Whether anything may have changed, recorded or not.
  func publish(_ changes: CommittedChanges, recorded: Demand, hasWritten: Bool) {
    let subscribers = state.withLock { $0.subscribers }
    for subscriber in subscribers {
      if recorded.knows(subscriber.id) || recorded.detail.map({ subscriber.detail <= $0 }) ?? false
      {
        if !changes.isEmpty { subscriber.body(changes) }
      } else if hasWritten {
        subscriber.body(.unknown)
      }
    }
  }

  /// Tells that any table may differ.
  func publishUnknown() { publish(.unknown, recorded: Demand(), hasWritten: true) }

  private func updateDemand(_ state: borrowing State) {
    let most = state.counts.lastIndex { $0 > 0 } ?? 0
    current.store(state.lastID << 2 | UInt64(most), ordering: .releasing)
  }
}

/// A subscription, which ends when it is cancelled or released.
package final class ChangeSubscription: Sendable {
  private let end: @Sendable () -> Void

  fileprivate init(end: @escaping @Sendable () -> Void) {
    self.end = end
  }

  deinit { end() }

  /// Ends the subscription. A transaction that commits at this moment may still be told.
  package func cancel() { end() }
}

/// How often the whole content of a file was replaced in this process, so that what was read before is
/// known to be of another content.
package final class ContentGeneration: Sendable {
  private let count = Atomic<Int>(0)

  /// The number of replacements so far.
  package var current: Int { count.load(ordering: .acquiring) }

  func increase() { count.add(1, ordering: .acquiringAndReleasing) }
}
