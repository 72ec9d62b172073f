import Synchronization

/// How writes that wait at the same time are merged into one transaction.
///
/// A durable commit waits for the disk, whether it holds one row or a thousand. Where many tasks
/// each write a little, merging their writes makes one such wait for all of them.
///
/// Only writes that ask for it are merged, by `writeInGroup` or by ``includesAsyncWrites``, since their
/// closures may run more than once.
public struct GroupCommit: Hashable, Sendable {
  /// The most writes in one transaction; 1 merges nothing.
  public var maximumCount = 128
  /// How long after its beginning a transaction still takes in writes that wait. The first of them is
  /// answered at most that much later, plus the time of one write and the commit.
  public var maximumDuration = Duration.milliseconds(10)
  /// Whether every asynchronous `write` that begins its transaction immediately may be merged, and
  /// not only those by `writeInGroup`. Then their closures, too, may run more than once.
  public var includesAsyncWrites = false

  /// The defaults: what asks for it is merged.
  public init() {}

  /// Merges nothing: each write has a transaction of its own.
  public static var off: GroupCommit {
    var groupCommit = GroupCommit()
    groupCommit.maximumCount = 1
    return groupCommit
  }
}

/// The runs of writes that share a transaction, until each has its outcome, of which all are told at the
/// end.
///
/// They run together, each but the first in a savepoint. If SQLite ends the transaction, the last one is to blame:
/// the others run together once more, and then that one alone. If that fails too, or the commit, each
/// runs alone. So each ends as if it had been alone from the start, after at most three runs.
struct GroupCommitRun {
  /// Why a transaction was given up.
  private struct GivenUp: Error {}

  private let scheduler: Scheduler
  private let slot: Int
  private let limits: GroupCommit
  private let experience: GroupCommitExperience
  /// Those who wait for their outcome, in order.
  private var members: [GroupCommitMember]
  /// Those who have it, and with which error.
  private var answers: [(member: GroupCommitMember, error: (any Error)?)] = []
  private var hasBegun = false
  private var losses: SessionLosses
  /// Whether the database was suspended while a member ran: then all of them end.
  private var wasSuspended = false

  /// - Parameter patience: How long after a session of a server was lost they may run again.
  init(
    _ first: GroupCommitMember, at slot: Int, of scheduler: Scheduler, _ limits: GroupCommit,
    _ experience: GroupCommitExperience, patience: Duration
  ) {
    self.scheduler = scheduler
    self.slot = slot
    self.limits = limits
    self.experience = experience
    losses = SessionLosses(before: nil, patience: patience)
    members = [first]
  }

  /// Whether there is nobody left to run.
  var isOver: Bool { members.isEmpty }

  private var isSuspended: Bool { wasSuspended || scheduler.isSuspended }

  /// Ends the first member by an error.
  mutating func fail(_ error: any Error) {
    answers.append((members.removeFirst(), error))
  }

  /// Tells each member its outcome, once the slot was left.
  ///
  /// A task cannot be resumed while its cancellation handlers run. These may wait for the slot, or
  /// for another member: threads are told first, which can be told at any time.
  mutating func answer() {
    for (member, error) in answers where !member.isTask { member.finish(error) }
    for (member, error) in answers where member.isTask { member.finish(error) }
    answers = []
  }

  /// Runs the members as long as the connection is sound.
  mutating func run(on connection: Connection) {
    let interruption = connection.interruption
    let outer = (interruption.deadline, interruption.cancellation)
    defer { (interruption.deadline, interruption.cancellation) = outer }
    if !hasBegun {
      hasBegun = true
      if let culprit = runTogether(on: connection, takesMore: true) {
        runApart(from: culprit, on: connection)
      }
    }
    while !members.isEmpty, connection.isUsable { runFirstAlone(on: connection) }
  }

  /// Runs all members in one transaction, and those that wait meanwhile.
  ///
  /// - Returns: The error of the last member, if SQLite ended the transaction there.
  private mutating func runTogether(
    on connection: Connection, takesMore: Bool
  ) -> (any Error)? {
    var outcomes: [(any Error)?] = []
    var culprit: (any Error)?
    var commit: Moment?
    do {
      begin(members[0].access, on: connection)
      try connection.runTransaction(.immediate) {
        let end = Moment.now + limits.maximumDuration
        if takesMore {
          let outcome = try runFirst(on: connection)
          // Alone it is a write like any other.
          guard outcome == .commit, connection.state.isSound, !connection.isAutocommit,
            !connection.defersAtServer, mayTakeMore(until: end)
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
            throw GivenUp()
          }
          if connection.defersAtServer { throw GivenUp() }
          outcomes.append(outcome)
          connection.interruption.end()
          try connection.endDeferral()
          if takesMore, outcomes.count == members.count, mayTakeMore(until: end),
            let next = scheduler.takeMember()
          {
            members.append(next)
          }
        }
        // The commit is of all members: no single cancellation or deadline ends it.
        begin(nil, on: connection)
        if isSuspended { throw Cancellation.Reason.suspension.error }
        commit = .now
        return .commit
      }
    } catch {
      let isAgain = Result { () throws(SQLiteError) in
        try mayRunAgain(members[0], error, on: connection)
      }
      guard members.count == 1 else { return culprit }
      switch isAgain {
      // On the new session others may join again.
      case .success(true): hasBegun = false
      // A single member has its outcome: that of the work, of the beginning, or of the commit.
      case .success(false): fail(culprit ?? error)
      case .failure(let refusal): fail(refusal)
      }
      return nil
    }
    if takesMore, let commit { experience.note(count: members.count, commit: commit) }
    for (index, member) in members.enumerated() {
      answers.append((member, index < outcomes.count ? outcomes[index] : nil))
    }
    members.removeAll()
    return nil
  }

  /// Runs the first member. It needs no savepoint: all that is in the transaction is its own.
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

  /// Whether another write waits that may join, or comes soon.
  private func mayTakeMore(until end: Moment) -> Bool {
    guard members.count < limits.maximumCount, .now < end else { return false }
    return experience.waits(after: members.count) { scheduler.hasMember }
  }

  /// Runs together those before the culprit, and then the culprit alone.
  private mutating func runApart(from error: any Error, on connection: Connection) {
    guard connection.isUsable, !isSuspended, members.count > 1 else { return }
    let culprit = members.removeLast()
    defer {
      // Its turn comes after theirs, whether they are done or not.
      members.append(culprit)
      if members.count == 1, culprit.isInterrupted { fail(error) }
    }
    _ = runTogether(on: connection, takesMore: false)
  }

  /// Whether a member that failed runs again, on a new session of the server and with those behind it.
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
    // The access sets its own deadline and cancellation.
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

  /// Lets the deadline and cancellation of a member end the statements that follow; nil for those of
  /// nobody.
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
  /// Removes deadline and cancellation.
  fileprivate func end() {
    (deadline, cancellation) = (nil, nil)
  }
}

extension Connection {
  /// Whether a member has deferred foreign keys at a server: then each runs alone. A server does not tell of those
  /// that lead nowhere before the commit, and forgets them when the deferral ends.
  fileprivate var defersAtServer: Bool { handle.remote?.mayDeferForeignKeys == true }

  /// Ends what `PRAGMA defer_foreign_keys` has begun: it lasts until the commit, and would reach
  /// the members that come later.
  fileprivate func endDeferral() throws(SQLiteError) {
    guard handle.remote == nil else { return }
    try withoutAuthorizer { () throws(SQLiteError) in
      // Not from the cache: SQLite asks for the setting when it compiles.
      guard try pragma("defer_foreign_keys") != .integer(0) else { return }
      _ = try pragma("defer_foreign_keys", " = 0")
    }
  }
}

/// How many writes the last transaction had, and how long its commit took.
///
/// Tasks that were answered together write again one after the other, each a few microseconds after the one
/// before. So a transaction waits for as many writes as the last one had, if that does not take longer than half
/// of a commit.
final class GroupCommitExperience: Sendable {
  private static let longest = 100_000

  private let count = Atomic(1)
  private let patience = Atomic(0)

  /// Notes the end of a transaction.
  func note(count: Int, commit: Moment) {
    self.count.store(count, ordering: .relaxed)
    patience.store(min(commit.nanosecondsSince / 2, Self.longest), ordering: .relaxed)
  }

  /// Returns whether another write waits, or comes soon.
  ///
  /// - Parameters:
  ///   - count: How many the transaction has.
  ///   - isWaiting: Whether another one waits.
  func waits(after count: Int, _ isWaiting: () -> Bool) -> Bool {
    if isWaiting() { return true }
    guard count < self.count.load(ordering: .relaxed) else { return false }
    let start = Moment.now
    let patience = patience.load(ordering: .relaxed)
    var passed = 0
    while passed < patience {
      // Those who come need the lock that this asks for.
      let next = passed + 2_000
      while passed < next { passed = start.nanosecondsSince }
      if isWaiting() { return true }
    }
    return false
  }
}

/// A write that may share a transaction with others, and the one who waits for its outcome.
struct GroupCommitMember: Sendable {
  let access: Access
  /// Whether a task waits for the outcome, or a thread.
  let isTask: Bool
  let work: any Work
  /// Tells the one who waits, at the end of all runs.
  let finish: @Sendable ((any Error)?) -> Void

  /// - Parameters:
  ///   - access: When it must end, and by whom it is cancelled.
  ///   - isTask: Whether a task waits for the outcome.
  ///   - work: The work; it may run several times, of which only the last counts.
  ///   - finish: Takes the outcome, once.
  /// Whether its deadline has passed or it was cancelled: another run would end like the last.
  var isInterrupted: Bool {
    access.cancellation.isRequested || access.deadline.map { $0 <= .now } ?? false
  }

  /// Runs the work in a transaction of its own.
  func run(on connection: Connection) -> (any Error)? {
    error { try access.run(on: connection) { try work.run(on: $0) } }
  }

  /// Runs the work in a savepoint of the transaction that is open.
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
  /// Runs the actions and checks of a commit before the end of a savepoint.
  fileprivate func prepareRelease() throws {
    // The release itself will say so.
    guard state.failure == nil else { return }
    try prepareCommit()
    if let reason = interruption.reason { throw SQLiteError(.interrupt, reason) }
    // They are of this member: those before it had none at their ends.
    if hasDeferredViolations {
      throw SQLiteError(.foreignKeyConstraint, "FOREIGN KEY constraint failed", sql: "COMMIT")
    }
  }
}
