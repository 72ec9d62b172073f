import Dispatch
import Synchronization

import Platform

/// A scheduler that grants the slots of a database's connections to accesses, first come, first
/// served.
///
/// Slot 0 belongs to the writer connection, the other slots to the readers. If reads and writes
/// share one connection, slot 0 is the only one.
final class Scheduler: Sendable {
  /// A slot that an access was granted.
  enum Grant: Sendable, Equatable {
    /// The access itself owns the slot and leaves it at its end.
    case slot(Int)
    /// An outer access on this thread already owns the slot, so the access must not leave it.
    case nested(Int)
  }

  /// A closure that receives the granted slot or the error of a rejection. `leaver` is the task's
  /// access that has just left the slot, if that access's thread can run the next one; otherwise
  /// nil.
  typealias Wake = @Sendable (Result<Int, SQLiteError>, _ leaver: TaskAccess?) -> Void

  /// A callback to run after the lock is released. The enum is indirect because every access moves
  /// an optional callback, which is then only one pointer (benchmark `call`).
  private indirect enum Call: Sendable {
    case grant(Waiter, Int)
    case refuse(Waiter, SQLiteError)
    case action(@Sendable () -> Void)

    func run(_ leaver: TaskAccess?) {
      switch self {
      case .grant(let waiter, let slot): waiter.wake(.success(slot), leaver)
      case .refuse(let waiter, let error): waiter.wake(.failure(error), nil)
      case .action(let action): action()
      }
    }
  }

  /// The callbacks to run after the lock is released. There is usually only one, which needs no
  /// array.
  private struct Calls: Sendable {
    private var first: Call?
    private var rest: [Call] = []

    mutating func append(_ call: Call) {
      if first == nil { first = call } else { rest.append(call) }
    }

    func run(_ leaver: TaskAccess? = nil) {
      first?.run(leaver)
      for call in rest { call.run(leaver) }
    }
  }

  private struct Waiter: Sendable {
    let kind: Access.Kind
    let cancellation: Cancellation
    /// The write if it can join a transaction that is already open, otherwise nil.
    let member: GroupCommitMember?
    let wake: Wake
  }

  /// The number of the thread whose access uses a slot, or 0 if no access is running there.
  ///
  /// A thread stores its own number when its access begins and resets it when the access ends. It
  /// only ever searches for its own number, so relaxed loads and stores are enough and the
  /// scheduler's lock isn't needed.
  private final class ThreadMark: Sendable {
    let number = Atomic<UInt>(0)
  }

  /// An action that runs when all reads that were running at a certain time have ended.
  private struct ReadBarrier: Sendable {
    /// The number of reads that the action still waits for.
    var count: Int
    let action: @Sendable () -> Void
  }

  private struct State: Sendable {
    var holders: [Holder?]
    var waiting: WaitingList<Waiter>
    /// The deadline for which the timer is set, or nil.
    var alarm: Moment?
    /// The error that new accesses throw because the database is suspended or closed, or nil if it
    /// is open.
    var refusal: SQLiteError?
    /// Whether `refusal` is permanent.
    var isClosed = false
    /// The number of `refuse` calls that aren't complete: the last access hasn't ended, or the
    /// caller is still closing connections.
    var pendingRefusals = 0
    /// Whether accesses can begin again as soon as `pendingRefusals` is zero.
    var isResumed = false
    var whenIdle: [@Sendable () -> Void] = []
    var readBarriers: [UInt64: ReadBarrier] = [:]
    /// For each slot, the keys in `readBarriers` of the barriers that wait for the slot's current
    /// read.
    var barriersBySlot: [[UInt64]]
    var lastBarrierID: UInt64 = 0

    init(slots: Int, lanes: Int) {
      holders = Array(repeating: nil, count: slots)
      waiting = WaitingList(lanes: lanes)
      barriersBySlot = Array(repeating: [], count: slots)
    }
  }

  private let state: Mutex<State>
  /// The fork count of this process when the database was opened.
  private let forks = ForkCount.atOpening
  private let threads: [ThreadMark]
  private let hasReaders: Bool
  /// The timer for the earliest deadline of a waiting access, created at first use. To avoid
  /// deadlocks, lock it before `state`, never while holding `state`.
  private let timer = Mutex<(any DispatchSourceTimer)?>(nil)
  /// The queue on which the tasks of rejected accesses are resumed. Resuming a task blocks until
  /// its cancellation handlers have run. These may wait for other threads, so only a separate
  /// thread can resume the task without a deadlock.
  let messenger = DispatchQueue(label: "MagicData.Scheduler.messenger")

  /// The cancellation that all nested accesses share. It is never requested, because only the outer
  /// access can be cancelled.
  let nestedAccessCancellation = Cancellation()

  init(readers: Int) {
    hasReaders = readers > 0
    state = Mutex(State(slots: readers + 1, lanes: readers > 0 ? 2 : 1))
    threads = (0...readers).map { _ in ThreadMark() }
  }

  deinit { timer.withLock { $0?.cancel() } }

  /// Returns the slot of the access that is running on this thread, or nil.
  func slotOfThisThread() -> Int? {
    let thread = currentThread()
    for slot in threads.indices where threads[slot].number.load(ordering: .relaxed) == thread {
      return slot
    }
    return nil
  }

  /// For each slot, the access that holds it; nil for a free slot.
  var holders: [Holder?] {
    var holders = state.withLock { $0.holders }
    for slot in holders.indices {
      holders[slot]?.thread = threads[slot].number.load(ordering: .relaxed)
    }
    return holders
  }

  /// The number of waiting accesses.
  var waiterCount: Int { state.withLock { $0.waiting.count } }

  /// The number of waiting accesses that have a deadline.
  var deadlineCount: Int { state.withLock { $0.waiting.deadlineCount } }

  /// Acquires a slot for an access on this thread, and blocks until one is free. Throws if the
  /// access is rejected or cancelled, or if its deadline passes.
  func enter(
    _ kind: Access.Kind, cancellation: Cancellation, deadline: Moment?
  ) throws(SQLiteError) -> Grant {
    if let grant = try grant(kind, cancellation) { return grant }
    let slot = try waitBlocking(kind, cancellation, deadline)
    adopt(slot)
    return .slot(slot)
  }

  /// Runs `body` while holding the slots of all readers, so that no read is running. Call this only
  /// while holding the writer's slot. Throws if the running reads don't end before the deadline.
  func withoutReads(until deadline: Moment, _ body: () throws -> Void) throws {
    var slots: [Int] = []
    defer { for slot in slots { leave(slot) } }
    for _ in threads.dropFirst() {
      do throws(SQLiteError) {
        slots.append(try waitBlocking(.read, Cancellation(), deadline))
      } catch {
        guard error == .late else { throw error }
        throw SQLiteError(.busy, "reads of this database are still running; end them first")
      }
    }
    try body()
  }

  /// Acquires a slot, and blocks until one is free.
  private func waitBlocking(
    _ kind: Access.Kind, _ cancellation: Cancellation, _ deadline: Moment?
  ) throws(SQLiteError) -> Int {
    let semaphore = DispatchSemaphore(value: 0)
    let outcome = Mutex<Result<Int, SQLiteError>?>(nil)
    wait(kind, cancellation) { result, _ in
      outcome.withLock { $0 = result }
      semaphore.signal()
    }
    block(cancellation, on: semaphore, until: deadline)
    guard let outcome = outcome.withLock({ $0 }) else {
      throw SQLiteError(.internalError, "a waiting access was resumed without a connection")
    }
    return try outcome.get()
  }

  /// Blocks the thread until `semaphore` is signaled. At `deadline`, removes the access from the
  /// queue, which also signals the semaphore.
  func block(
    _ cancellation: Cancellation, on semaphore: DispatchSemaphore,
    until deadline: Moment?
  ) {
    guard let deadline else { return semaphore.wait() }
    guard semaphore.wait(timeout: Scheduler.time(of: deadline)) == .timedOut else { return }
    giveUp(cancellation, SQLiteError.late)
    semaphore.wait()
  }

  /// Acquires a slot for an access on this thread without waiting. Returns nil if no slot is free,
  /// or if other accesses are already waiting for one.
  func grant(
    _ kind: Access.Kind, _ cancellation: Cancellation
  ) throws(SQLiteError) -> Grant? {
    // Before the lock: at the fork, another thread may have held it.
    try checkProcess()
    if let slot = slotOfThisThread() {
      guard kind == .read || state.withLock({ $0.holders[slot]?.kind }) == .write else {
        throw SQLiteError(
          .misuse,
          "a write cannot begin inside a read, because the snapshot of the read would not "
            + "contain it; begin it outside")
      }
      return .nested(slot)
    }
    let now = Moment.now
    let result = state.withLock { grant(kind, cancellation, now, &$0) }
    guard let slot = try result.get() else { return nil }
    adopt(slot)
    return .slot(slot)
  }

  private func grant(
    _ kind: Access.Kind, _ cancellation: Cancellation, _ now: Moment, _ state: inout State
  ) -> Result<Int?, SQLiteError> {
    if let refusal = state.refusal { return .failure(refusal) }
    // First come, first served.
    guard state.waiting.isEmpty(lane(kind)), let slot = freeSlot(lane(kind), in: state)
    else { return .success(nil) }
    state.holders[slot] = Holder(kind: kind, since: now, cancellation: cancellation)
    return .success(slot)
  }

  /// Throws if this process was forked after the database was opened.
  func checkProcess() throws(SQLiteError) { try ForkCount.check(forks) }

  /// Runs `body` while holding the writer's slot. Does nothing if the slot is in use or another
  /// access waits for it.
  func whileWriterIsIdle(_ body: () -> Void) {
    let (cancellation, now) = (Cancellation(), Moment.now)
    let result = state.withLock { grant(.write, cancellation, now, &$0) }
    guard case .success(let slot?) = result else { return }
    body()
    leave(slot)
  }

  /// Acquires a slot without blocking. Calls `wake` once, possibly before this function returns.
  func enter(_ access: Access, member: GroupCommitMember? = nil, wake: @escaping Wake) {
    wait(access.kind, access.cancellation, member: member, until: access.deadline, wake: wake)
    // If the access was cancelled before it joined the queue, the cancellation handler didn't find
    // it there.
    if access.cancellation.isRequested { giveUpCancelled(access.cancellation) }
  }

  /// Takes a free slot or joins the queue. Calls `wake` once, possibly before this function
  /// returns.
  ///
  /// - Parameters:
  ///   - kind: Whether the access needs a connection for reading or the writer connection.
  ///   - cancellation: The access's own cancellation. Pass it to ``giveUp(_:_:)`` to leave the
  ///     queue.
  ///   - member: The write, if a running write can execute it in its own transaction.
  ///   - deadline: When to leave the queue with an error; nil if the caller handles deadlines
  ///     itself.
  ///   - wake: Receives the slot or the error.
  /// - Complexity: Amortized O(1).
  func wait(
    _ kind: Access.Kind, _ cancellation: Cancellation, member: GroupCommitMember? = nil,
    until deadline: Moment? = nil, wake: @escaping Wake
  ) {
    do { try checkProcess() } catch { return wake(.failure(error), nil) }
    let waiter = Waiter(kind: kind, cancellation: cancellation, member: member, wake: wake)
    let lane = lane(kind)
    let now = Moment.now
    let (result, mustSetTimer) = state.withLock { state -> (Result<Int?, SQLiteError>, Bool) in
      let result = grant(kind, cancellation, now, &state)
      guard case .success(nil) = result else { return (result, false) }
      let number = state.waiting.append(waiter, to: lane, deadline: deadline)
      cancellation.ticket.store(number, ordering: .relaxed)
      guard let deadline, state.alarm.map({ deadline < $0 }) ?? true else { return (result, false) }
      state.alarm = deadline
      return (result, true)
    }
    switch result {
    case .success(nil): if mustSetTimer { setTimer() }
    case .success(let slot?): wake(.success(slot), nil)
    case .failure(let error): wake(.failure(error), nil)
    }
  }

  /// Whether the next access in the writer's queue is a write that can join a transaction that is
  /// already open.
  var hasMember: Bool {
    state.withLock { $0.waiting.first(in: lane(.write))?.member != nil }
  }

  /// Removes and returns the next access in the writer's queue if it is a write that can join a
  /// transaction that is already open; otherwise returns nil.
  ///
  /// - Complexity: Amortized O(1).
  func takeMember() -> GroupCommitMember? {
    // Returns the whole waiter, so that nothing is released under the lock.
    let waiter: Waiter? = state.withLock { state in
      let lane = lane(.write)
      // No write overtakes another: an access that can't share a transaction ends the group.
      guard state.waiting.first(in: lane)?.member != nil else { return nil }
      return state.waiting.removeFirst(in: lane)
    }
    return waiter?.member
  }

  /// Removes a waiting access from the queue and wakes it with an error. Does nothing if the access
  /// already has a slot or isn't in the queue yet.
  ///
  /// No other access is woken: leaving the queue frees no slot, and the accesses after it wait
  /// because all slots are in use. A cancellation handler, which runs under its task's lock, can
  /// therefore call this without waiting for another task.
  ///
  /// - Complexity: Amortized O(log *n*) in the number of waiting accesses.
  func giveUp(_ cancellation: Cancellation, _ error: SQLiteError) {
    let waiter = state.withLock { state in
      state.waiting.remove(cancellation.ticket.load(ordering: .relaxed))
    }
    waiter?.wake(.failure(error), nil)
  }

  /// Removes an access from the queue because its task was cancelled.
  func giveUpCancelled(_ cancellation: Cancellation) {
    giveUp(cancellation, SQLiteError(.interrupt, Cancellation.Reason.task.message))
  }

  /// Records that the access at a slot runs on this thread from now on.
  ///
  /// - Parameters:
  ///   - slot: The number of the slot; 0 is the writer's.
  ///   - cancellation: The new cancellation of the access, or nil to keep the current one.
  func adopt(_ slot: Int, _ cancellation: Cancellation? = nil) {
    threads[slot].number.store(currentThread(), ordering: .relaxed)
    guard let cancellation else { return }
    state.withLock { $0.holders[slot]?.cancellation = cancellation }
  }

  /// Frees a slot at the end of this thread's access, or passes it to the next access that waits
  /// for it.
  ///
  /// - Parameters:
  ///   - slot: The number of the slot; 0 is the writer's.
  ///   - leaver: The task's access that leaves, if its thread can run the next access; otherwise
  ///     nil.
  /// - Complexity: Amortized O(1), regardless of the number of waiting accesses.
  func leave(_ slot: Int, _ leaver: TaskAccess? = nil) {
    threads[slot].number.store(0, ordering: .relaxed)
    let now = Moment.now
    // The old holder is released outside the lock.
    let (calls, holder) = state.withLock { state -> (Calls, Holder?) in
      let holder = state.holders[slot]
      var calls = Calls()
      if let next = state.waiting.removeFirst(in: hasReaders && slot > 0 ? 1 : 0) {
        state.holders[slot] = Holder(
          kind: next.kind, since: now, cancellation: next.cancellation)
        calls.append(.grant(next, slot))
      } else {
        state.holders[slot] = nil
        if !state.whenIdle.isEmpty, state.holders.allSatisfy({ $0 == nil }) {
          for action in state.whenIdle { calls.append(.action(action)) }
          state.whenIdle = []
        }
      }
      if !state.barriersBySlot[slot].isEmpty { endRead(slot, &state, &calls) }
      return (calls, holder)
    }
    withExtendedLifetime(holder) { calls.run(leaver) }
  }

  /// Calls `action` when all reads that are running now have ended. If no read is running, returns
  /// false and never calls `action`.
  func afterCurrentReads(_ action: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      let slots = state.holders.indices.filter { state.holders[$0]?.kind == .read }
      guard !slots.isEmpty else { return false }
      state.lastBarrierID += 1
      state.readBarriers[state.lastBarrierID] = ReadBarrier(count: slots.count, action: action)
      for slot in slots { state.barriersBySlot[slot].append(state.lastBarrierID) }
      return true
    }
  }

  private func endRead(_ slot: Int, _ state: inout State, _ calls: inout Calls) {
    let ends = state.barriersBySlot[slot]
    state.barriersBySlot[slot] = []
    for end in ends {
      state.readBarriers[end]?.count -= 1
      guard state.readBarriers[end]?.count == 0 else { continue }
      if let ended = state.readBarriers.removeValue(forKey: end) {
        calls.append(.action(ended.action))
      }
    }
  }

  private func freeSlot(_ lane: Int, in state: State) -> Int? {
    let slots = lane == 0 ? 0..<1 : 1..<state.holders.count
    // Iterates over indices, because iterating over the elements would copy the holders.
    for slot in slots where state.holders[slot] == nil { return slot }
    return nil
  }

  /// Returns the queue for a kind of access: 0 for the writer's slot, 1 for the readers' slots.
  private func lane(_ kind: Access.Kind) -> Int {
    hasReaders && kind == .read ? 1 : 0
  }
}

extension Scheduler {
  private static let clock = DispatchQueue(label: "MagicData.Scheduler.clock")

  /// Sets the timer for the earliest deadline of a waiting access.
  private func setTimer() {
    timer.withLock { timer in
      // Read the alarm again: another thread may have changed it.
      guard let alarm = state.withLock({ $0.alarm }) else { return }
      if let timer { return timer.schedule(deadline: Scheduler.time(of: alarm)) }
      let made = DispatchSource.makeTimerSource(queue: Scheduler.clock)
      made.setEventHandler { [weak self] in self?.wakeExpired() }
      made.schedule(deadline: Scheduler.time(of: alarm))
      made.activate()
      timer = made
    }
  }

  /// Removes from the queue all accesses whose deadlines have passed, and wakes them with an error.
  private func wakeExpired() {
    let (late, mustSetTimer) = state.withLock { state in
      let late = state.waiting.removeExpired(.now)
      state.alarm = state.waiting.nextDeadline
      return (late, state.alarm != nil)
    }
    for waiter in late { waiter.wake(.failure(SQLiteError.late), nil) }
    if mustSetTimer { setTimer() }
  }
}

extension Scheduler {
  /// Rejects all waiting accesses, and also all new ones until both ``ended()`` and ``allow()``
  /// have been called.
  ///
  /// - Parameters:
  ///   - error: The error that rejected accesses throw.
  ///   - isClosed: Whether the rejection is permanent.
  ///   - whenIdle: Called when the last running access has ended, or immediately if none is
  ///     running.
  func refuse(
    _ error: SQLiteError, isClosed: Bool, whenIdle: @escaping @Sendable () -> Void
  ) {
    let calls = state.withLock { state in
      if !state.isClosed { state.refusal = error }
      state.isClosed = state.isClosed || isClosed
      state.isResumed = false
      state.pendingRefusals += 1
      var calls = Calls()
      for waiter in state.waiting.removeAll() { calls.append(.refuse(waiter, error)) }
      if state.holders.allSatisfy({ $0 == nil }) {
        calls.append(.action(whenIdle))
      } else {
        state.whenIdle.append(whenIdle)
      }
      return calls
    }
    calls.run()
  }

  /// Whether the database is suspended: no access can begin, and running accesses must roll back.
  var isSuspended: Bool { state.withLock { $0.refusal != nil && !$0.isClosed } }

  /// Whether new accesses are rejected permanently.
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Records that a caller of ``refuse(_:isClosed:whenIdle:)`` has closed the database's
  /// connections.
  func ended() {
    state.withLock { state in
      state.pendingRefusals -= 1
      if state.pendingRefusals == 0, state.isResumed, !state.isClosed { state.refusal = nil }
    }
  }

  /// Accepts new accesses again, as soon as all calls of ``refuse(_:isClosed:whenIdle:)`` are
  /// complete. Does nothing if the database has been closed.
  func allow() {
    state.withLock { state in
      state.isResumed = true
      if state.pendingRefusals == 0, !state.isClosed { state.refusal = nil }
    }
  }

  /// Requests that all running accesses end.
  func cancelAll(_ reason: Cancellation.Reason) {
    for holder in holders { holder?.cancellation.request(reason) }
  }

  /// Returns a deadline as a time of Dispatch's clock.
  static func time(of deadline: Moment) -> DispatchTime {
    .now() + .nanoseconds(deadline.nanosecondsLeft)
  }

  /// Whether this thread is running an access of the database.
  var isHeldByThisThread: Bool {
    slotOfThisThread() != nil
  }
}
