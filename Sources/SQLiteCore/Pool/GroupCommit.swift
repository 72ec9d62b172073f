import Synchronization

/// The configuration of group commit, which merges concurrent writes into one transaction.
///
/// A durable commit waits for the disk, no matter how many rows it contains. If many tasks write a
/// few rows each, merging their writes lets all of them share one such wait.
///
/// The closures of merged writes may run more than once. Therefore, only writes that opt in are
/// merged: calls of `writeInGroup`, and asynchronous calls of `write` if ``includesAsyncWrites`` is
/// true.
public struct GroupCommit: Hashable, Sendable {
  /// The maximum number of writes that share a transaction. The value 1 turns merging off.
  public var maximumCount = 128
  /// The time after the beginning of a transaction during which further writes can join it. The
  /// writes that join delay the commit of the first one by at most this time plus the duration of
  /// one more write.
  public var maximumDuration = Duration.milliseconds(10)
  /// A Boolean value that indicates whether asynchronous calls of `write` with the transaction kind
  /// `immediate` can be merged, too. Their closures may then run more than once.
  public var includesAsyncWrites = false

  /// Creates the default configuration, which merges up to 128 calls of `writeInGroup`, but no
  /// calls of `write`.
  public init() {}

  /// A configuration that turns merging off: each write runs in its own transaction.
  public static var off: GroupCommit {
    var groupCommit = GroupCommit()
    groupCommit.maximumCount = 1
    return groupCommit
  }
}

/// A group of writes that share a transaction. Each member runs at most three times (more often
/// only if a server's session is lost), and then gets its outcome.
///
/// 1. All members run in one transaction, each except the first in a savepoint.
/// 2. If a member makes SQLite end the transaction, the members before it run together again, and
///    that member runs alone.
/// 3. If this run or the commit fails, each member runs alone.
///
/// The outcome of each member is therefore the same as if it had run alone from the start.
struct GroupCommitRun {
  /// An error that makes a shared transaction roll back, so that its members run again.
  private struct Abandoned: Error {}

  private let scheduler: Scheduler
  private let slot: Int
  private let limits: GroupCommit
  private let groupCommitStatistics: GroupCommitStatistics
  /// The members without an outcome, in the order in which they run.
  private var members: [GroupCommitMember]
  /// The members with an outcome: an error, or nil on success.
  private var answers: [(member: GroupCommitMember, error: (any Error)?)] = []
  private var hasBegun = false
  private var losses: SessionLosses
  /// Whether the database was suspended while a member was running. All members then fail.
  private var wasSuspended = false

  /// Creates a group with its first member.
  ///
  /// - Parameters:
  ///   - first: The write that starts the group.
  ///   - slot: The slot of the writer connection, which the group holds.
  ///   - scheduler: The scheduler that provides further members.
  ///   - limits: The limits on the number of members and the duration.
  ///   - groupCommitStatistics: The statistics that decide whether to wait for members.
  ///   - patience: How long members are retried, counted from the first loss of a server's session.
  init(
    _ first: GroupCommitMember, at slot: Int, of scheduler: Scheduler, _ limits: GroupCommit,
    _ groupCommitStatistics: GroupCommitStatistics, patience: Duration
  ) {
    self.scheduler = scheduler
    self.slot = slot
    self.limits = limits
    self.groupCommitStatistics = groupCommitStatistics
    losses = SessionLosses(before: nil, patience: patience)
    members = [first]
  }

  /// Whether all members have an outcome.
  var isOver: Bool { members.isEmpty }

  private var isSuspended: Bool { wasSuspended || scheduler.isSuspended }

  /// Removes the first member and records `error` as its outcome.
  mutating func fail(_ error: any Error) {
    answers.append((members.removeFirst(), error))
  }

  /// Reports the outcomes to the callers. Call this after leaving the slot.
  ///
  /// A task can't be resumed while its cancellation handlers run, and these may wait for the slot
  /// or for another member. Blocked threads are therefore woken first, because waking them never
  /// waits.
  mutating func answer() {
    for (member, error) in answers where !member.isTask { member.finish(error) }
    for (member, error) in answers where member.isTask { member.finish(error) }
    answers = []
  }

  /// Runs the members on a connection, until all have an outcome or the connection becomes
  /// unusable.
  mutating func run(on connection: Connection) {
    let interruption = connection.interruption
    let outer = (interruption.deadline, interruption.cancellation)
    defer { (interruption.deadline, interruption.cancellation) = outer }
    if !hasBegun {
      hasBegun = true
      if let culprit = runTogether(on: connection, acceptsMembers: true) {
        retryWithoutLast(from: culprit, on: connection)
      }
    }
    while !members.isEmpty, connection.isUsable { runFirstAlone(on: connection) }
  }

  /// Runs all members in one transaction.
  ///
  /// - Parameters:
  ///   - connection: The writer connection.
  ///   - acceptsMembers: Whether writes that are queued while the transaction runs join it.
  /// - Returns: The error of the last member, if there are several and that member made SQLite roll
  ///   back the transaction; otherwise nil.
  private mutating func runTogether(
    on connection: Connection, acceptsMembers: Bool
  ) -> (any Error)? {
    var outcomes: [(any Error)?] = []
    var culprit: (any Error)?
    var commit: Moment?
    do {
      begin(members[0].access, on: connection)
      try connection.runTransaction(.immediate) {
        let end = Moment.now + limits.maximumDuration
        if acceptsMembers {
          let outcome = try runFirst(on: connection)
          // Otherwise the first member is the only one and commits like a normal write.
          guard outcome == .commit, connection.state.isSound, !connection.isAutocommit,
            !connection.defersAtServer, mayAcceptMember(until: end)
          else {
            commit = .now
            return outcome
          }
          try connection.prepareRelease()
          outcomes.append(nil)
          connection.interruption.end()
          try connection.endDeferral()
          if let next = scheduler.takeMember() { members.append(next) }
        }
        while outcomes.count < members.count {
          let member = members[outcomes.count]
          begin(member.access, on: connection)
          let outcome = member.join(connection)
          didRun(member, on: connection)
          guard connection.state.isSound, !connection.isAutocommit else {
            culprit = outcome
            throw Abandoned()
          }
          if connection.defersAtServer { throw Abandoned() }
          outcomes.append(outcome)
          connection.interruption.end()
          try connection.endDeferral()
          if acceptsMembers, outcomes.count == members.count, mayAcceptMember(until: end),
            let next = scheduler.takeMember()
          {
            members.append(next)
          }
        }
        // The commit belongs to all members, so no single deadline or cancellation applies to it.
        begin(nil, on: connection)
        if isSuspended { throw Cancellation.Reason.suspension.error }
        commit = .now
        return .commit
      }
    } catch {
      let runsAgain = Result { () throws(SQLiteError) in
        try mayRunAgain(members[0], error, on: connection)
      }
      guard members.count == 1 else { return culprit }
      switch runsAgain {
      // On the new session, other writes can join again.
      case .success(true): hasBegun = false
      // A single member fails with the error of its work, of BEGIN, or of the commit.
      case .success(false): fail(culprit ?? error)
      case .failure(let refusal): fail(refusal)
      }
      return nil
    }
    if acceptsMembers, let commit {
      groupCommitStatistics.note(count: members.count, commit: commit)
    }
    for (index, member) in members.enumerated() {
      answers.append((member, index < outcomes.count ? outcomes[index] : nil))
    }
    members.removeAll()
    return nil
  }

  /// Runs the first member. It needs no savepoint, because the transaction contains no other
  /// changes yet.
  private mutating func runFirst(on connection: Connection) throws -> TransactionOutcome {
    let member = members[0]
    let result = Result { try member.work.run(on: connection) }
    didRun(member, on: connection)
    let outcome = try result.get()
    if isSuspended { throw Cancellation.Reason.suspension.error }
    return outcome
  }

  private mutating func didRun(_ member: GroupCommitMember, on connection: Connection) {
    connection.cache.orphanCheckedOut()
    wasSuspended = wasSuspended || member.access.cancellation.reason == .suspension
  }

  /// Returns whether another member is queued. If none is, but one is likely to arrive soon, first
  /// waits for it for a short time.
  private func mayAcceptMember(until end: Moment) -> Bool {
    guard members.count < limits.maximumCount, .now < end else { return false }
    return groupCommitStatistics.waits(after: members.count) { scheduler.hasMember }
  }

  /// Runs all members except the last one together again, because the last one ended the
  /// transaction. The last member then runs alone, or gets `error` as its outcome if it was
  /// interrupted.
  private mutating func retryWithoutLast(from error: any Error, on connection: Connection) {
    guard connection.isUsable, !isSuspended, members.count > 1 else { return }
    let culprit = members.removeLast()
    defer {
      // It runs after the others, even if they have failed again.
      members.append(culprit)
      if members.count == 1, culprit.isInterrupted { fail(error) }
    }
    _ = runTogether(on: connection, acceptsMembers: false)
  }

  /// Returns whether a failed member can run again on a new session of the server.
  private mutating func mayRunAgain(
    _ member: GroupCommitMember, _ failure: (any Error)?, on connection: Connection
  ) throws(SQLiteError) -> Bool {
    guard let session = connection.handle.remote else { return false }
    return try losses.mayRunAgain(after: session, failure, unless: member.access.reasonToEnd)
  }

  private mutating func runFirstAlone(on connection: Connection) {
    let member = members.removeFirst()
    guard !isSuspended else {
      return answers.append((member, Cancellation.Reason.suspension.error))
    }
    begin(member.access, on: connection)
    // `member.run` sets its own deadline and cancellation.
    connection.interruption.end()
    let outcome = member.run(on: connection)
    connection.cache.orphanCheckedOut()
    do throws(SQLiteError) {
      if let outcome, try mayRunAgain(member, outcome, on: connection) {
        return members.insert(member, at: 0)
      }
      answers.append((member, outcome))
    } catch {
      answers.append((member, error))
    }
  }

  /// Applies an access's deadline and cancellation to the following statements. If `access` is nil,
  /// only `interrupt()` and `suspend()` can interrupt them.
  private func begin(_ access: Access?, on connection: Connection) {
    let cancellation = access?.cancellation ?? Cancellation()
    connection.interruption.deadline = access?.deadline
    connection.interruption.cancellation = cancellation
    scheduler.adopt(slot, cancellation)
  }
}

extension Cancellation.Reason {
  fileprivate var error: SQLiteError { SQLiteError(.interrupt, message) }
}

extension Interruption {
  /// Removes the deadline and the cancellation of the member that ran last.
  fileprivate func end() {
    (deadline, cancellation) = (nil, nil)
  }
}

extension Connection {
  /// Whether a member has deferred foreign keys at a server. Each member then runs alone, because a
  /// server doesn't report violations before the commit, and forgets them when the deferral ends.
  fileprivate var defersAtServer: Bool { handle.remote?.mayDeferForeignKeys == true }

  /// Resets `PRAGMA defer_foreign_keys`, which would otherwise stay in effect for the following
  /// members, until the commit.
  fileprivate func endDeferral() throws(SQLiteError) {
    guard handle.remote == nil else { return }
    try withoutAuthorizer { () throws(SQLiteError) in
      // Not cached: SQLite reads the setting when it compiles the pragma.
      guard try pragma("defer_foreign_keys") != .integer(0) else { return }
      _ = try pragma("defer_foreign_keys", " = 0")
    }
  }
}

/// The number of writes in the last shared transaction, and the duration of its commit.
///
/// Tasks that get their outcomes together usually write again within a few microseconds of each
/// other. Until a transaction has as many members as the last one, it therefore waits for the next
/// member. Each wait takes at most half the duration of the last commit, and at most 100 µs.
final class GroupCommitStatistics: Sendable {
  private static let longest = 100_000

  private let count = Atomic(1)
  private let patience = Atomic(0)

  /// Records the number of writes in a transaction that has just been committed, and derives from
  /// the duration of its commit how long later transactions wait for members.
  ///
  /// - Parameters:
  ///   - count: The number of writes.
  ///   - commit: The time at which the commit began.
  func note(count: Int, commit: Moment) {
    self.count.store(count, ordering: .relaxed)
    patience.store(min(commit.nanosecondsSince / 2, Self.longest), ordering: .relaxed)
  }

  /// Returns whether another write is queued. If none is and the last transaction had more members,
  /// first waits for one for a short time.
  ///
  /// - Parameters:
  ///   - count: The number of writes in the transaction so far.
  ///   - isWaiting: Returns whether another write is queued.
  func waits(after count: Int, _ isWaiting: () -> Bool) -> Bool {
    if isWaiting() { return true }
    guard count < self.count.load(ordering: .relaxed) else { return false }
    let start = Moment.now
    let patience = patience.load(ordering: .relaxed)
    var passed = 0
    while passed < patience {
      // `isWaiting` takes the lock that new writes need, so it is called only every 2 µs.
      let next = passed + 2_000
      while passed < next { passed = start.nanosecondsSince }
      if isWaiting() { return true }
    }
    return false
  }
}

/// A write that can share a transaction with others.
struct GroupCommitMember: Sendable {
  let access: Access
  /// Whether a task waits for the outcome, rather than a blocked thread.
  let isTask: Bool
  /// The work. It may run several times; only the last result is used.
  let work: any Work
  /// A closure that reports the outcome to the caller: an error, or nil on success. It is called
  /// once.
  let finish: @Sendable ((any Error)?) -> Void

  /// Whether the deadline has passed or the write was cancelled, so that another run would fail,
  /// too.
  var isInterrupted: Bool {
    access.cancellation.isRequested || access.deadline.map { $0 <= .now } ?? false
  }

  /// Runs the work in its own transaction and returns its error; nil on success.
  func run(on connection: Connection) -> (any Error)? {
    error { try access.run(on: connection) { try work.run(on: $0) } }
  }

  /// Runs the work in a savepoint of the open transaction and returns its error; nil on success.
  func join(_ connection: Connection) -> (any Error)? {
    error {
      try connection.runSavepoint {
        let outcome = try work.run(on: connection)
        if outcome == .commit { try connection.prepareRelease() }
        return outcome
      }
    }
  }

  private func error(_ body: () throws -> Void) -> (any Error)? {
    do {
      try body()
      return nil
    } catch {
      return error
    }
  }
}

extension Connection {
  /// Runs a member's commit actions and checks its foreign keys, before its savepoint is released
  /// or the next member joins.
  fileprivate func prepareRelease() throws {
    // Releasing the savepoint throws this failure.
    guard state.failure == nil else { return }
    try prepareCommit()
    if let reason = interruption.reason { throw SQLiteError(.interrupt, reason) }
    // The violations are this member's: earlier members ended without any.
    if hasDeferredViolations {
      throw SQLiteError(.foreignKeyConstraint, "FOREIGN KEY constraint failed", sql: "COMMIT")
    }
  }
}
