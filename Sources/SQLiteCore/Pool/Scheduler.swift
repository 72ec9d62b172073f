import Dispatch
import Synchronization

import Platform

/// Decides who uses which connection, in the order in which they asked.
///
/// Slot 0 is the writer's; the others are readers'. Where reads and writes share a connection there
/// is slot 0 only.
final class Scheduler: Sendable {
  /// A slot that was found.
  enum Grant: Sendable, Equatable {
    /// The slot is ours until we leave it.
    case slot(Int)
    /// This thread holds the slot already, further down its stack.
    case nested(Int)
  }

  /// Told the slot, and the access that has just left it on a thread that may go on with the next one.
  typealias Wake = @Sendable (Result<Int, SQLiteError>, _ leaver: TaskAccess?) -> Void

  /// A call that is made once the lock is free. Indirect, since each access moves an optional one (benchmark `call`).
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

  /// The calls that are made once the lock is free: mostly one, for which no array is made.
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
    /// The write that may share a transaction with those before it.
    let member: GroupCommitMember?
    let wake: Wake
  }

  /// The thread of the access at a slot, 0 if there is none.
  ///
  /// A thread writes its own number when its access begins, and removes it when that ends; it asks for no other
  /// number. So the scheduler's lock is not needed, nor any order of memory.
  private final class ThreadMark: Sendable {
    let number = Atomic<UInt>(0)
  }

  /// An action that waits for the reads that ran at some moment.
  private struct EndOfReads: Sendable {
    /// How many of them have not ended yet.
    var count: Int
    let action: @Sendable () -> Void
  }

  private struct State: Sendable {
    var holders: [Holder?]
    var waiting: WaitingList<Waiter>
    /// The deadline that the clock is set for, if it is.
    var alarm: Moment?
    /// Why no access begins, if so.
    var refusal: SQLiteError?
    /// Whether `refusal` is for ever.
    var isClosed = false
    /// How many calls are waiting for the last access to end, or are closing connections.
    var endings = 0
    /// Whether accesses begin again once no call is ending any more.
    var isResumed = false
    var whenIdle: [@Sendable () -> Void] = []
    var endsOfReads: [UInt64: EndOfReads] = [:]
    /// Those that wait for the read at a slot, for each slot.
    var endsBySlot: [[UInt64]]
    var lastEnd: UInt64 = 0

    init(slots: Int, lanes: Int) {
      holders = Array(repeating: nil, count: slots)
      waiting = WaitingList(lanes: lanes)
      endsBySlot = Array(repeating: [], count: slots)
    }
  }

  private let state: Mutex<State>
  /// The forks of this process when the database was opened.
  private let forks = ForkCount.atOpening
  private let threads: [ThreadMark]
  private let hasReaders: Bool
  /// The one timer, for the earliest deadline of those who wait; made when it is first needed. Locked
  /// before the state, never inside it.
  private let timer = Mutex<(any DispatchSourceTimer)?>(nil)
  /// Where tasks are resumed whose access was refused. Resuming a task waits until its cancellation
  /// handlers have run, so only this queue may wait for them.
  let messenger = DispatchQueue(label: "MagicData.Scheduler.messenger")

  /// The cancellation of accesses inside others, which nobody requests.
  let ofNestedAccesses = Cancellation()

  init(readers: Int) {
    hasReaders = readers > 0
    state = Mutex(State(slots: readers + 1, lanes: readers > 0 ? 2 : 1))
    threads = (0...readers).map { _ in ThreadMark() }
  }

  deinit { timer.withLock { $0?.cancel() } }

  /// The slot of the access that runs on this thread, if there is one.
  func slotOfThisThread() -> Int? {
    let thread = currentThread()
    for slot in threads.indices where threads[slot].number.load(ordering: .relaxed) == thread {
      return slot
    }
    return nil
  }

  /// The accesses that run, one for each slot.
  var holders: [Holder?] {
    var holders = state.withLock { $0.holders }
    for slot in holders.indices {
      holders[slot]?.thread = threads[slot].number.load(ordering: .relaxed)
    }
    return holders
  }

  /// The number of accesses that wait.
  var waiterCount: Int { state.withLock { $0.waiting.count } }

  /// The number of deadlines that are looked after.
  var deadlineCount: Int { state.withLock { $0.waiting.deadlineCount } }

  /// Finds a slot for an access of this thread, blocking it until there is one.
  func enter(
    _ kind: Access.Kind, cancellation: Cancellation, deadline: Moment?
  ) throws(SQLiteError) -> Grant {
    if let grant = try grant(kind, cancellation) { return grant }
    let semaphore = DispatchSemaphore(value: 0)
    let outcome = Mutex<Result<Int, SQLiteError>?>(nil)
    wait(kind, cancellation) { result, _ in
      outcome.withLock { $0 = result }
      semaphore.signal()
    }
    block(cancellation, on: semaphore, until: deadline)
    guard let outcome = outcome.withLock({ $0 }) else {
      throw SQLiteError(.internalError, "an access was woken without a slot")
    }
    let slot = try outcome.get()
    adopt(slot)
    return .slot(slot)
  }

  /// Blocks the thread until `semaphore` is signalled, giving up the wait for a slot at `deadline`.
  func block(
    _ cancellation: Cancellation, on semaphore: DispatchSemaphore,
    until deadline: Moment?
  ) {
    guard let deadline else { return semaphore.wait() }
    guard semaphore.wait(timeout: Scheduler.time(of: deadline)) == .timedOut else { return }
    giveUp(cancellation, SQLiteError.late)
    semaphore.wait()
  }

  /// Finds a slot for an access of this thread without waiting, or returns nil if all are taken.
  func grant(
    _ kind: Access.Kind, _ cancellation: Cancellation
  ) throws(SQLiteError) -> Grant? {
    // Before the lock, which another thread may have held at the fork.
    try checkProcess()
    if let slot = slotOfThisThread() {
      guard kind == .read || state.withLock({ $0.holders[slot]?.kind }) == .write else {
        throw SQLiteError(
          .misuse, "a write cannot begin inside a read, whose snapshot would not see it")
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

  /// Throws if this process was forked since the database was opened.
  func checkProcess() throws(SQLiteError) { try ForkCount.check(forks) }

  /// Runs `body` while nobody has the slot of the writer, unless somebody wants it.
  func whileWriterIsIdle(_ body: () -> Void) {
    let (cancellation, now) = (Cancellation(), Moment.now)
    let result = state.withLock { grant(.write, cancellation, now, &$0) }
    guard case .success(let slot?) = result else { return }
    body()
    leave(slot)
  }

  /// Finds a slot without blocking; `wake` is called once, perhaps before this returns.
  func enter(_ access: Access, member: GroupCommitMember? = nil, wake: @escaping Wake) {
    wait(access.kind, access.cancellation, member: member, until: access.deadline, wake: wake)
    // Cancelled before it began to wait: its handler found nothing to wake.
    if access.cancellation.isRequested { giveUpCancelled(access.cancellation) }
  }

  /// Takes a free slot, or joins the queue. `wake` is called once, perhaps before this returns.
  ///
  /// - Parameters:
  ///   - cancellation: That of this access and no other: by it the access gives up.
  ///   - member: The write, if one that has its slot already may take it along.
  ///   - deadline: When to give up, or nil if the caller sees to that.
  /// - Complexity: O(1), or O(log *n*) with a deadline.
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

  /// Whether the next access that waits for the writer's slot is a write that may share a transaction.
  var hasMember: Bool {
    state.withLock { $0.waiting.first(in: lane(.write))?.member != nil }
  }

  /// Takes the next access that waits for the writer's slot out of the queue, if it is a write that
  /// may share a transaction.
  ///
  /// - Complexity: O(1).
  func takeMember() -> GroupCommitMember? {
    // Whole, so that nothing is released under the lock.
    let waiter: Waiter? = state.withLock { state in
      let lane = lane(.write)
      // Nobody is overtaken: an access that must be alone ends the group.
      guard state.waiting.first(in: lane)?.member != nil else { return nil }
      return state.waiting.removeFirst(in: lane)
    }
    return waiter?.member
  }

  /// Leaves the queue with an error, unless a slot was found already, or the access does not wait yet.
  ///
  /// Nobody else is woken: leaving the queue frees no slot, and those behind wait since all slots are
  /// taken. So a cancellation handler, which runs under its task's lock, never waits for that of another
  /// task.
  ///
  /// - Complexity: O(1), or O(log *n*) with a deadline.
  func giveUp(_ cancellation: Cancellation, _ error: SQLiteError) {
    let waiter = state.withLock { state in
      state.waiting.remove(cancellation.ticket.load(ordering: .relaxed))
    }
    waiter?.wake(.failure(error), nil)
  }

  /// Leaves the queue since the access's own task was cancelled.
  func giveUpCancelled(_ cancellation: Cancellation) {
    giveUp(cancellation, SQLiteError(.interrupt, Cancellation.Reason.task.message))
  }

  /// Notes that the access runs on this thread from now on.
  ///
  /// - Parameter cancellation: The cancellation of the access from now on, if it is another one.
  func adopt(_ slot: Int, _ cancellation: Cancellation? = nil) {
    threads[slot].number.store(currentThread(), ordering: .relaxed)
    guard let cancellation else { return }
    state.withLock { $0.holders[slot]?.cancellation = cancellation }
  }

  /// Frees the slot of this thread's access, for the next one that waits for it.
  ///
  /// - Parameters:
  ///   - slot: The slot.
  ///   - leaver: The access of a task, if its thread may go on with the next one.
  /// - Complexity: O(1) in the number of those who wait.
  func leave(_ slot: Int, _ leaver: TaskAccess? = nil) {
    threads[slot].number.store(0, ordering: .relaxed)
    let now = Moment.now
    // What is released goes outside the lock.
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
      if !state.endsBySlot[slot].isEmpty { endRead(slot, &state, &calls) }
      return (calls, holder)
    }
    withExtendedLifetime(holder) { calls.run(leaver) }
  }

  /// Calls `action` once all reads that run now have ended, and returns false if none runs.
  func afterPresentReads(_ action: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      let slots = state.holders.indices.filter { state.holders[$0]?.kind == .read }
      guard !slots.isEmpty else { return false }
      state.lastEnd += 1
      state.endsOfReads[state.lastEnd] = EndOfReads(count: slots.count, action: action)
      for slot in slots { state.endsBySlot[slot].append(state.lastEnd) }
      return true
    }
  }

  private func endRead(_ slot: Int, _ state: inout State, _ calls: inout Calls) {
    let ends = state.endsBySlot[slot]
    state.endsBySlot[slot] = []
    for end in ends {
      state.endsOfReads[end]?.count -= 1
      guard state.endsOfReads[end]?.count == 0 else { continue }
      if let ended = state.endsOfReads.removeValue(forKey: end) {
        calls.append(.action(ended.action))
      }
    }
  }

  private func freeSlot(_ lane: Int, in state: State) -> Int? {
    let slots = lane == 0 ? 0..<1 : 1..<state.holders.count
    // By index, which copies no holder.
    for slot in slots where state.holders[slot] == nil { return slot }
    return nil
  }

  /// Accesses of one lane wait for the same slots: the writer's, or those of the readers.
  private func lane(_ kind: Access.Kind) -> Int {
    hasReaders && kind == .read ? 1 : 0
  }
}

extension Scheduler {
  private static let clock = DispatchQueue(label: "MagicData.Scheduler.clock")

  /// Sets the timer for the earliest deadline.
  private func setTimer() {
    timer.withLock { timer in
      // The present alarm: another thread may have set it meanwhile.
      guard let alarm = state.withLock({ $0.alarm }) else { return }
      if let timer { return timer.schedule(deadline: Scheduler.time(of: alarm)) }
      let made = DispatchSource.makeTimerSource(queue: Scheduler.clock)
      made.setEventHandler { [weak self] in self?.wakeLate() }
      made.schedule(deadline: Scheduler.time(of: alarm))
      made.activate()
      timer = made
    }
  }

  /// Wakes those whose deadlines have passed.
  private func wakeLate() {
    let (late, mustSetTimer) = state.withLock { state in
      let late = state.waiting.removeLate(.now)
      state.alarm = state.waiting.nextDeadline
      return (late, state.alarm != nil)
    }
    for waiter in late { waiter.wake(.failure(SQLiteError.late), nil) }
    if mustSetTimer { setTimer() }
  }
}

extension Scheduler {
  /// Refuses all accesses, those that wait included, until ``ended()`` and ``allow()``.
  ///
  /// - Parameters:
  ///   - error: The error of all accesses from now on.
  ///   - isClosed: Whether no access ever begins again.
  ///   - whenIdle: Called when the last access has ended, at once if there is none.
  func refuse(
    _ error: SQLiteError, isClosed: Bool, whenIdle: @escaping @Sendable () -> Void
  ) {
    let calls = state.withLock { state in
      if !state.isClosed { state.refusal = error }
      state.isClosed = state.isClosed || isClosed
      state.isResumed = false
      state.endings += 1
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

  /// Whether no access begins, and running ones must end undone.
  var isSuspended: Bool { state.withLock { $0.refusal != nil && !$0.isClosed } }

  /// Whether no access ever begins again.
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Notes that the connections are closed.
  func ended() {
    state.withLock { state in
      state.endings -= 1
      if state.endings == 0, state.isResumed, !state.isClosed { state.refusal = nil }
    }
  }

  /// Lets accesses in again, unless the database was closed; once the connections are closed.
  func allow() {
    state.withLock { state in
      state.isResumed = true
      if state.endings == 0, !state.isClosed { state.refusal = nil }
    }
  }

  /// Asks all running accesses to end.
  func cancelAll(_ reason: Cancellation.Reason) {
    for holder in holders { holder?.cancellation.request(reason) }
  }

  /// A point in time for Dispatch.
  static func time(of deadline: Moment) -> DispatchTime {
    .now() + .nanoseconds(deadline.nanosecondsLeft)
  }

  /// Whether an access runs on this thread.
  var isHeldByThisThread: Bool {
    slotOfThisThread() != nil
  }
}
