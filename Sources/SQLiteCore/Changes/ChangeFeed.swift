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

/// The changes of one transaction in the main database.
package struct CommittedChanges: Sendable {
  init(changesSchema: Bool = false, isReplaced: Bool = false) {
    self.changesSchema = changesSchema
    self.isReplaced = isReplaced
  }

  /// The changes of a transaction that others have made.
  package init(recorded: RecordedRows) {
    self.recorded = recorded
    tables = Set(recorded.layouts.map(\.table))
  }

  /// The tables whose rows changed.
  package internal(set) var tables: Set<String> = []
  /// The rows in the order of their changes; empty unless someone asked for rows or values.
  package internal(set) var recorded = RecordedRows.none
  /// Whether a CREATE, DROP, ALTER or VACUUM ran, the whole content was replaced, or what changed
  /// is not known: any table may differ.
  package internal(set) var changesSchema = false
  /// The SQL of the statements that changed the schema.
  package internal(set) var schemaChanges: [String] = []
  /// Whether the whole content was replaced, or what changed is not known.
  package internal(set) var isReplaced = false
  /// Whether rows are missing: they were too many, or their table could not be looked up.
  package internal(set) var isIncomplete = false
  /// The place of the transaction among those of this process that changed the file, in the order of their commits;
  /// 0 if it is not known.
  package internal(set) var turn: UInt64 = 0

  /// Whether rows of a table may have other columns, or other values than those that were recorded: it was altered
  /// or dropped, or all was replaced.
  ///
  /// - Parameter table: The table's name in lower case.
  package func mayRebuild(_ table: String) -> Bool {
    if isReplaced { return true }
    return schemaChanges.contains { sql in
      let words = SQLScanner.words(sql).filter { $0.token == .word }.prefix(4).map(\.text)
      guard words.contains("table"), asciiLowercased(sql).contains(table),
        !SQLScanner.namesOtherSchema(sql)
      else { return false }
      // A table that is made is empty, unless it is made of a query.
      return words.first != "create" || asciiLowercased(sql).contains("select")
    }
  }

  package var isEmpty: Bool { tables.isEmpty && !changesSchema }

  /// The rows as values.
  package var rows: [RowChange] {
    var rows: [RowChange] = []
    // The bytes are this process's own.
    try? recorded.forEach { rows.append($0) }
    return rows
  }

  /// A change that nobody has recorded: any table may differ.
  static let unknown = CommittedChanges(changesSchema: true, isReplaced: true)
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
    /// The database that it subscribed by.
    let owner: ObjectIdentifier
    let detail: ChangeDetail
    /// The tables whose rows it wants, in lower case; nil for all.
    let tables: Set<String>?
    /// The most bytes of rows of one transaction that it has use for.
    let byteLimit: Int
    let body: @Sendable (CommittedChanges) -> Void
  }

  private struct State: Sendable {
    /// In the order in which they came.
    var subscribers: [Subscriber] = []
    /// How many subscribers want each detail.
    var counts = [0, 0, 0, 0]
    var lastID: UInt64 = 0
  }

  /// The most bytes of rows that are kept of one transaction, whoever wants them. Beyond them it is told only that
  /// tables changed.
  static let maximumByteCount = 256 << 20

  private let state = Mutex(State())
  private let current = Atomic<UInt64>(0)

  /// The present demand.
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

  /// Whether somebody wants the values of a table's rows.
  func wantsValues(of table: String) -> Bool {
    let name = asciiLowercased(table)
    return state.withLock { state in
      state.subscribers.contains {
        $0.detail == .values && ($0.tables.map { $0.contains(name) } ?? true)
      }
    }
  }

  /// The most bytes of rows of one transaction that anybody has use for.
  var byteLimit: Int {
    let most = state.withLock { state in
      state.subscribers.lazy.filter { $0.detail != .tables }.map(\.byteLimit).max()
    }
    return min(most ?? 0, Self.maximumByteCount)
  }

  /// The news of one transaction.
  private struct News {
    let changes: CommittedChanges
    let recorded: Demand
    let hasWritten: Bool
  }

  /// The order of the commits of all connections of this process to the file.
  private struct Turns {
    var last: UInt64 = 0
    /// The first one that was not told.
    var next: UInt64 = 1
    /// News that others must be told before; nil for a commit that failed.
    var waiting: [UInt64: News?] = [:]
  }

  private let turns = Mutex(Turns())

  /// The place of the last recorded commit that has begun.
  var lastTurn: UInt64 { turns.withLock { $0.last } }

  /// Returns a place after all commits that have begun and before all later ones. While a connection has the file to
  /// itself, all those before have ended.
  func takeMoment() -> UInt64 {
    let turn = takeTurn()
    abandon(turn)
    return turn
  }

  /// Gives the commit that begins its place. It must be published or abandoned.
  func takeTurn() -> UInt64 {
    turns.withLock { turns in
      turns.last += 1
      return turns.last
    }
  }

  /// Notes that a commit has failed.
  func abandon(_ turn: UInt64) { end(turn, nil) }

  /// Tells what was committed, after what was committed before.
  ///
  /// - Parameters:
  ///   - changes: The recorded changes.
  ///   - turn: The place of the commit; nil if it is not known.
  ///   - recorded: The demand when the recording began. A subscriber that has come since and wants more is
  ///     told only that something may have changed.
  ///   - hasWritten: Whether anything may have changed, recorded or not.
  func publish(
    _ changes: CommittedChanges, turn: UInt64? = nil, recorded: Demand, hasWritten: Bool
  ) {
    let news = News(changes: changes, recorded: recorded, hasWritten: hasWritten)
    if let turn { end(turn, news) } else { tell(news) }
  }

  private func end(_ turn: UInt64, _ news: News?) {
    turns.withLock { turns in
      turns.waiting.updateValue(news, forKey: turn)
      // Told under the lock: another thread's later news would overtake them.
      while let next = turns.waiting.removeValue(forKey: turns.next) {
        turns.next += 1
        if let next { tell(next) }
      }
    }
  }

  private func tell(_ news: News) {
    let subscribers = state.withLock { $0.subscribers }
    for subscriber in subscribers {
      // Which tables' values were recorded was decided without those who came later.
      let isRecorded =
        news.recorded.detail.map { subscriber.detail <= $0 && subscriber.detail != .values }
        ?? false
      if news.recorded.knows(subscriber.id) || isRecorded {
        if !news.changes.isEmpty { subscriber.body(news.changes) }
      } else if news.hasWritten {
        // With its place: a reader whose state includes this commit must not be notified of it again.
        var unknown = CommittedChanges.unknown
        unknown.turn = news.changes.turn
        subscriber.body(unknown)
      }
    }
  }

  /// Wakes the subscribers of a database that was closed, and no others on the file.
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

/// Where the last commit of a connection without a recorder stands among the recorded commits.
///
/// A subscriber may come after the commit and before the commit is published. It must not be notified of a commit that it
/// has read.
final class UnrecordedCommits {
  private let feed: ChangeFeed
  /// A place that other commits may have, too: it is after all moments before the commit and not after later ones.
  private(set) var turn: UInt64 = 0

  init(_ feed: ChangeFeed) { self.feed = feed }

  /// A commit begins, so that no other connection to the file commits until it has ended.
  func note() { turn = feed.lastTurn + 1 }
}

/// How often the whole content of a file was replaced in this process, so that what was read before is
/// known to be of another content.
package final class ContentGeneration: Sendable {
  private let count = Atomic<Int>(0)

  /// The number of replacements so far.
  package var current: Int { count.load(ordering: .acquiring) }

  func increase() { count.add(1, ordering: .acquiringAndReleasing) }
}
