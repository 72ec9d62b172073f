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

  /// A call that is made once the lock is free.
  private enum Call: Sendable {
    case grant(Wake, Int)
    case refuse(Wake, SQLiteError)
    case action(@Sendable () -> Void)

    func run(_ leaver: TaskAccess? = nil) {
      switch self {
      case .grant(let wake, let slot): wake(.success(slot), leaver)
      case .refuse(let wake, let error): wake(.failure(error), nil)
      case .action(let action): action()
      }
    }
  }

  private struct Waiter: Sendable {
    let kind: Access.Kind
    let cancellation: Cancellation
    let thread: UInt?
    /// The write that may share a transaction with those before it.
    let member: GroupCommitMember?
    let wake: Wake
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

    /// The slot of the access that runs on a thread, if there is one.
    func slot(heldBy thread: UInt) -> Int? {
      // By index, which copies no holder: this runs at each access (benchmark `call`).
      for slot in holders.indices where holders[slot]?.thread == thread { return slot }
      return nil
    }
  }

  private let state: Mutex<State>
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
  }

  deinit { timer.withLock { $0?.cancel() } }

  /// The slot of the access that runs on a thread, if there is one.
  func slot(heldBy thread: UInt) -> Int? { state.withLock { $0.slot(heldBy: thread) } }

  /// The accesses that run, one for each slot.
  var holders: [Holder?] { state.withLock { $0.holders } }

  /// The number of accesses that wait.
  var waiterCount: Int { state.withLock { $0.waiting.count } }

  /// The number of deadlines that are looked after.
  var deadlineCount: Int { state.withLock { $0.waiting.deadlineCount } }

  /// Finds a slot, blocking the thread until there is one.
  func enter(
    _ kind: Access.Kind, cancellation: Cancellation, deadline: Moment?
  ) throws(SQLiteError) -> Grant {
    let thread = currentThread()
    if let grant = try grant(kind, thread: thread, cancellation) { return grant }
    let semaphore = DispatchSemaphore(value: 0)
    let outcome = Mutex<Result<Int, SQLiteError>?>(nil)
    wait(kind, thread: thread, cancellation) { result, _ in
      outcome.withLock { $0 = result }
      semaphore.signal()
    }
    block(cancellation, on: semaphore, until: deadline)
    guard let outcome = outcome.withLock({ $0 }) else {
      throw SQLiteError(.internalError, "an access was woken without a slot")
    }
    return .slot(try outcome.get())
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

  /// Finds a slot without waiting, or returns nil if all are taken.
  func grant(
    _ kind: Access.Kind, thread: UInt?, _ cancellation: Cancellation
  ) throws(SQLiteError) -> Grant? {
    let result: Result<Grant?, SQLiteError> = state.withLock { state in
      if let thread, let slot = state.slot(heldBy: thread) {
        guard kind == .read || state.holders[slot]?.kind == .write else {
          return .failure(
            SQLiteError(
              .misuse, "a write cannot begin inside a read, whose snapshot would not see it"))
        }
        return .success(.nested(slot))
      }
      if let refusal = state.refusal { return .failure(refusal) }
      // First come, first served.
      guard state.waiting.isEmpty(lane(kind)), let slot = freeSlot(lane(kind), in: state)
      else { return .success(nil) }
      state.holders[slot] = Holder(
        kind: kind, since: .now, cancellation: cancellation, thread: thread)
      return .success(.slot(slot))
    }
    return try result.get()
  }

  /// Finds a slot for the access of a task without waiting, or returns nil if all are taken.
  func grant(_ access: Access) throws(SQLiteError) -> Int? {
    if case .slot(let slot)? = try grant(access.kind, thread: nil, access.cancellation) {
      return slot
    }
    return nil
  }

  /// Joins the queue for a task. `wake` is called once, perhaps before this returns.
  func wait(_ access: Access, member: GroupCommitMember? = nil, wake: @escaping Wake) {
    wait(
      access.kind, thread: nil, access.cancellation, member: member, until: access.deadline,
      wake: wake)
    // Cancelled before it began to wait: its handler found nothing to wake.
    if access.cancellation.isRequested { giveUpCancelled(access.cancellation) }
  }

  /// Finds a slot without blocking; `wake` is called once, perhaps before this returns.
  func enter(_ access: Access, member: GroupCommitMember? = nil, wake: @escaping Wake) {
    do throws(SQLiteError) {
      if let slot = try grant(access) { return wake(.success(slot), nil) }
    } catch {
      return wake(.failure(error), nil)
    }
    wait(access, member: member, wake: wake)
  }

  /// Joins the queue. `wake` is called once, perhaps before this returns.
  ///
  /// - Parameters:
  ///   - cancellation: That of this access and no other: by it the access gives up.
  ///   - member: The write, if one that has its slot already may take it along.
  ///   - deadline: When to give up, or nil if the caller sees to that.
  /// - Complexity: O(1), or O(log *n*) with a deadline.
  func wait(
    _ kind: Access.Kind, thread: UInt?, _ cancellation: Cancellation,
    member: GroupCommitMember? = nil,
    until deadline: Moment? = nil, wake: @escaping Wake
  ) {
    let waiter = Waiter(
      kind: kind, cancellation: cancellation, thread: thread, member: member, wake: wake)
    let lane = lane(kind)
    let (calls, mustSetTimer) = state.withLock { state -> ([Call], Bool) in
      if let refusal = state.refusal { return ([.refuse(wake, refusal)], false) }
      let number = state.waiting.append(waiter, to: lane, deadline: deadline)
      cancellation.ticket.store(number, ordering: .relaxed)
      // A slot may have become free since it was asked for.
      let calls = admit(lane, &state)
      guard let next = state.waiting.nextDeadline, state.alarm.map({ next < $0 }) ?? true else {
        return (calls, false)
      }
      state.alarm = next
      return (calls, true)
    }
    for call in calls { call.run() }
    if mustSetTimer { setTimer() }
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
    let thread = currentThread()
    state.withLock { state in
      state.holders[slot]?.thread = thread
      if let cancellation { state.holders[slot]?.cancellation = cancellation }
    }
  }

  /// Frees a slot, for the next one that waits for it.
  ///
  /// - Parameters:
  ///   - slot: The slot.
  ///   - leaver: The access of a task, if its thread may go on with the next one.
  /// - Complexity: O(1) in the number of those who wait.
  func leave(_ slot: Int, _ leaver: TaskAccess? = nil) {
    let calls = state.withLock { state in
      state.holders[slot] = nil
      var calls = admit(hasReaders && slot > 0 ? 1 : 0, &state)
      if !state.whenIdle.isEmpty, state.holders.allSatisfy({ $0 == nil }) {
        calls += state.whenIdle.map { .action($0) }
        state.whenIdle = []
      }
      if !state.endsBySlot[slot].isEmpty { calls += endRead(slot, &state) }
      return calls
    }
    for call in calls { call.run(leaver) }
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

  private func endRead(_ slot: Int, _ state: inout State) -> [Call] {
    let ends = state.endsBySlot[slot]
    state.endsBySlot[slot] = []
    var actions: [Call] = []
    for end in ends {
      state.endsOfReads[end]?.count -= 1
      guard state.endsOfReads[end]?.count == 0 else { continue }
      if let ended = state.endsOfReads.removeValue(forKey: end) {
        actions.append(.action(ended.action))
      }
    }
    return actions
  }

  /// Lets in those who wait in a lane, in order, as far as there are slots.
  private func admit(_ lane: Int, _ state: inout State) -> [Call] {
    var calls: [Call] = []
    while !state.waiting.isEmpty(lane), let slot = freeSlot(lane, in: state),
      let waiter = state.waiting.removeFirst(in: lane)
    {
      state.holders[slot] = Holder(
        kind: waiter.kind, since: .now, cancellation: waiter.cancellation, thread: waiter.thread)
      calls.append(.grant(waiter.wake, slot))
    }
    return calls
  }

  private func freeSlot(_ lane: Int, in state: State) -> Int? {
    let slots = lane == 0 ? 0..<1 : 1..<state.holders.count
    return slots.first { state.holders[$0] == nil }
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
      var calls: [Call] = state.waiting.removeAll().map { .refuse($0.wake, error) }
      if state.holders.allSatisfy({ $0 == nil }) {
        calls.append(.action(whenIdle))
      } else {
        state.whenIdle.append(whenIdle)
      }
      return calls
    }
    for call in calls { call.run() }
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
    slot(heldBy: currentThread()) != nil
  }
}

extension Scheduler: FileUser {}
