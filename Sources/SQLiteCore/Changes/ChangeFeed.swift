import Synchronization

/// The level of detail at which a subscriber receives changes. Higher levels cost more.
package enum ChangeDetail: UInt8, Comparable, Sendable {
  /// The names of the changed tables.
  case tables = 1
  /// Each changed row, identified by its rowid.
  case rows
  /// Each changed row with its values before and after the change.
  case values

  package static func < (left: ChangeDetail, right: ChangeDetail) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// The changes of one transaction in the main database.
package struct CommittedChanges: Sendable {
  init(changesSchema: Bool = false, isReplaced: Bool = false) {
    self.changesSchema = changesSchema
    self.isReplaced = isReplaced
  }

  /// Creates the changes of a transaction from rows that were recorded elsewhere, such as in a
  /// journal.
  package init(recorded: RecordedRows) {
    self.recorded = recorded
    tables = Set(recorded.layouts.map(\.table))
  }

  /// The names of the tables whose rows changed.
  package internal(set) var tables: Set<String> = []
  /// The changed rows in the order of the changes. Empty if no subscriber requested rows or values,
  /// or if ``isIncomplete`` is true. Rows of tables that no subscriber requested may be missing.
  package internal(set) var recorded = RecordedRows.none
  /// Whether all tables must be treated as changed: a CREATE, DROP, ALTER or VACUUM ran, the whole
  /// content was replaced, or the changes are unknown.
  package internal(set) var changesSchema = false
  /// The SQL of the statements that changed the schema, or tried to, in order.
  package internal(set) var schemaChanges: [String] = []
  /// Whether the whole content was replaced, or the changes are unknown.
  package internal(set) var isReplaced = false
  /// Whether ``recorded`` is empty because not all changed rows could be recorded: for example,
  /// there were too many, or the columns of their table couldn't be determined.
  package internal(set) var isIncomplete = false
  /// The sequence number of the transaction among this process's commits to the file; 0 if unknown.
  package internal(set) var commitNumber: UInt64 = 0

  /// Returns whether the rows of a table may now have other columns, or values that weren't
  /// recorded, because the table was altered, dropped or created from a query, or because the whole
  /// content was replaced.
  ///
  /// - Parameter table: The table's name in lower case.
  package func mayRebuild(_ table: String) -> Bool {
    if isReplaced { return true }
    return schemaChanges.contains { sql in
      let words = SQLScanner.words(sql).filter { $0.token == .word }.prefix(4).map(\.text)
      guard words.contains("table"), asciiLowercased(sql).contains(table),
        !SQLScanner.namesOtherSchema(sql)
      else { return false }
      // A new table is empty, unless it is created from a query.
      return words.first != "create" || asciiLowercased(sql).contains("select")
    }
  }

  package var isEmpty: Bool { tables.isEmpty && !changesSchema }

  /// The changed rows with decoded values.
  package var rows: [RowChange] {
    var rows: [RowChange] = []
    // This process has encoded the bytes, so decoding them doesn't fail.
    try? recorded.forEach { rows.append($0) }
    return rows
  }

  /// The changes of a transaction that wasn't recorded: any table may have changed.
  static let unknown = CommittedChanges(changesSchema: true, isReplaced: true)
}

/// A feed that notifies subscribers of committed transactions. All databases of this process on one
/// file share a feed.
final class ChangeFeed: Sendable {
  /// The needs of all subscribers at one point in time: the highest level of detail that any of
  /// them needed, and the ID of the last subscriber.
  struct Demand: Hashable, Sendable {
    /// The ID of the last subscriber, followed by two bits for the highest level of detail.
    fileprivate let bits: UInt64

    init() { bits = 0 }

    fileprivate init(bits: UInt64) { self.bits = bits }

    /// The highest level of detail that a subscriber needs; nil if there are no subscribers.
    var detail: ChangeDetail? { ChangeDetail(rawValue: UInt8(truncatingIfNeeded: bits & 3)) }

    /// Returns whether the subscriber with the given ID existed when this demand was read.
    fileprivate func knows(_ id: UInt64) -> Bool { id <= bits >> 2 }
  }

  private struct Subscriber: Sendable {
    let id: UInt64
    /// The identity of the database through which the subscriber was added.
    let owner: ObjectIdentifier
    let detail: ChangeDetail
    /// The lowercased names of the tables whose rows the subscriber needs; nil for all tables.
    let tables: Set<String>?
    /// The size, in bytes, up to which the subscriber can use the rows of a transaction.
    let byteLimit: Int
    let body: @Sendable (CommittedChanges) -> Void
  }

  private struct State: Sendable {
    /// The subscribers in the order in which they subscribed.
    var subscribers: [Subscriber] = []
    /// The number of subscribers for each level of detail. The index is the level's raw value.
    var counts = [0, 0, 0, 0]
    var lastID: UInt64 = 0
  }

  /// The maximum size, in bytes, of the rows recorded for one transaction. For larger transactions,
  /// subscribers are notified only of the changed tables.
  static let maximumByteCount = 256 << 20

  private let state = Mutex(State())
  private let current = Atomic<UInt64>(0)

  /// The demand of all current subscribers.
  var demand: Demand { Demand(bits: current.load(ordering: .acquiring)) }

  func subscribe(
    _ detail: ChangeDetail, by owner: AnyObject, tables: Set<String>? = nil,
    atMost byteLimit: Int = .max, _ body: @escaping @Sendable (CommittedChanges) -> Void
  ) -> Registration {
    let id = state.withLock { state in
      state.lastID += 1
      state.subscribers.append(
        Subscriber(
          id: state.lastID, owner: ObjectIdentifier(owner), detail: detail, tables: tables,
          byteLimit: byteLimit, body: body))
      state.counts[Int(detail.rawValue)] += 1
      updateDemand(state)
      return state.lastID
    }
    return Registration { [weak self] in self?.end(id) }
  }

  private func end(_ id: UInt64) {
    // Release the subscriber, and everything that it captures, outside the lock.
    let ended = state.withLock { state -> Subscriber? in
      guard let index = state.subscribers.firstIndex(where: { $0.id == id }) else { return nil }
      let ended = state.subscribers.remove(at: index)
      state.counts[Int(ended.detail.rawValue)] -= 1
      updateDemand(state)
      return ended
    }
    withExtendedLifetime(ended) {}
  }

  /// Returns whether a subscriber needs the values of a table's rows.
  func wantsValues(of table: String) -> Bool {
    let name = asciiLowercased(table)
    return state.withLock { state in
      state.subscribers.contains {
        $0.detail == .values && ($0.tables.map { $0.contains(name) } ?? true)
      }
    }
  }

  /// The highest byte limit of the subscribers that request rows or values, at most
  /// ``maximumByteCount``; 0 if there are no such subscribers.
  var byteLimit: Int {
    let most = state.withLock { state in
      state.subscribers.lazy.filter { $0.detail != .tables }.map(\.byteLimit).max()
    }
    return min(most ?? 0, Self.maximumByteCount)
  }

  /// The arguments of a notification about one transaction, stored until the subscribers can be
  /// notified.
  private struct CommitNotification {
    let changes: CommittedChanges
    let recorded: Demand
    let hasWritten: Bool
  }

  /// The numbering of the commits that this process makes to the file, and the notifications that
  /// wait for their turn.
  private struct CommitSequence {
    var last: UInt64 = 0
    /// The sequence number of the first commit that has been neither published nor abandoned.
    var next: UInt64 = 1
    /// The notifications that wait for earlier commits, keyed by the sequence numbers of their
    /// commits. The value is nil if the commit has failed, or if the number was only reserved.
    var waiting: [UInt64: CommitNotification?] = [:]
  }

  private let commitSequence = Mutex(CommitSequence())

  /// The last sequence number that was assigned to a commit or reserved.
  var lastCommitNumber: UInt64 { commitSequence.withLock { $0.last } }

  /// Reserves a sequence number after all commits that have begun and before all later ones. If the
  /// caller holds the file's write lock, all earlier commits have ended.
  func reserveCommitNumber() -> UInt64 {
    let commitNumber = assignCommitNumber()
    abandon(commitNumber)
    return commitNumber
  }

  /// Assigns a sequence number to the commit that begins. The caller must publish or abandon it.
  func assignCommitNumber() -> UInt64 {
    commitSequence.withLock { commitSequence in
      commitSequence.last += 1
      return commitSequence.last
    }
  }

  /// Records that the commit with a sequence number has failed or that the number was only
  /// reserved, so that later notifications don't wait for it.
  func abandon(_ commitNumber: UInt64) { end(commitNumber, nil) }

  /// Notifies the subscribers of a commit, as soon as all earlier commits have been published or
  /// abandoned.
  ///
  /// - Parameters:
  ///   - changes: The recorded changes.
  ///   - commitNumber: The sequence number of the commit. If it is nil, the subscribers are
  ///     notified without waiting for earlier commits.
  ///   - recorded: The demand when the recording began. A subscriber that was added later, and that
  ///     requests values or more detail than `recorded`, is notified only that anything may have
  ///     changed.
  ///   - hasWritten: Whether anything may have changed, recorded or not.
  func publish(
    _ changes: CommittedChanges, commitNumber: UInt64? = nil, recorded: Demand, hasWritten: Bool
  ) {
    let notification = CommitNotification(
      changes: changes, recorded: recorded, hasWritten: hasWritten)
    if let commitNumber { end(commitNumber, notification) } else { notifySubscribers(notification) }
  }

  private func end(_ commitNumber: UInt64, _ notification: CommitNotification?) {
    commitSequence.withLock { commitSequence in
      commitSequence.waiting.updateValue(notification, forKey: commitNumber)
      // Notify while holding the lock, so that later notifications of another thread can't
      // overtake.
      while let next = commitSequence.waiting.removeValue(forKey: commitSequence.next) {
        commitSequence.next += 1
        if let next { notifySubscribers(next) }
      }
    }
  }

  private func notifySubscribers(_ notification: CommitNotification) {
    let subscribers = state.withLock { $0.subscribers }
    for subscriber in subscribers {
      // The tables whose values to record were chosen without regard to later subscribers.
      let isRecorded =
        notification.recorded.detail.map { subscriber.detail <= $0 && subscriber.detail != .values }
        ?? false
      if notification.recorded.knows(subscriber.id) || isRecorded {
        if !notification.changes.isEmpty { subscriber.body(notification.changes) }
      } else if notification.hasWritten {
        // Keep the sequence number: a reader whose snapshot includes this commit must not be
        // notified of it again.
        var unknown = CommittedChanges.unknown
        unknown.commitNumber = notification.changes.commitNumber
        subscriber.body(unknown)
      }
    }
  }

  /// Notifies the subscribers that were added through the closed database `database` that anything
  /// may have changed. Subscribers of other databases on the file aren't notified.
  func publishClosure(of database: AnyObject) {
    let subscribers = state.withLock { $0.subscribers }
    for subscriber in subscribers where subscriber.owner == ObjectIdentifier(database) {
      subscriber.body(.unknown)
    }
  }

  private func updateDemand(_ state: borrowing State) {
    let most = state.counts.lastIndex { $0 > 0 } ?? 0
    current.store(state.lastID << 2 | UInt64(most), ordering: .releasing)
  }
}

/// The position of a connection's last commit among the recorded commits, for a connection without
/// a recorder.
///
/// A subscriber may be added after a commit but before the commit is published. The position shows
/// whether the subscriber's first read already included the commit; the subscriber must not be
/// notified of it again.
final class UnrecordedCommits {
  private let feed: ChangeFeed
  /// The position of the last commit. It is greater than every number reserved before the commit,
  /// and may equal the sequence number of a later commit that is recorded.
  private(set) var commitNumber: UInt64 = 0

  init(_ feed: ChangeFeed) { self.feed = feed }

  /// Records that a commit begins. No other connection to the file can commit until it ends.
  func note() { commitNumber = feed.lastCommitNumber + 1 }
}

/// A counter of the replacements of a file's whole content by this process. Values that were read
/// at a lower count are stale.
package final class ContentGeneration: Sendable {
  private let count = Atomic<Int>(0)

  /// The number of replacements so far.
  package var current: Int { count.load(ordering: .acquiring) }

  func increase() { count.add(1, ordering: .acquiringAndReleasing) }
}
