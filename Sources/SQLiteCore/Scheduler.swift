import Dispatch
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Decides who uses which connection, in the order in which they asked.
///
/// Place 0 is the writer's; the others are readers'. Where reads and writes share a connection there
/// is place 0 only.
final class Scheduler: Sendable {
  /// What an access wants to do.
  enum Kind: Sendable {
    case read
    case write
  }

  /// A place that was found.
  enum Grant: Sendable, Equatable {
    /// The place is ours until we leave it.
    case place(Int)
    /// This thread holds the place already, further down its stack.
    case nested(Int)
  }

  /// Who has a place. A class: the copying of an instant is slow, and places are looked through at
  /// each access (benchmark `call`).
  final class Holder: Sendable {
    let kind: Kind
    let since: ContinuousClock.Instant
    let cancellation: Cancellation
    let thread: UInt?

    init(_ kind: Kind, since: ContinuousClock.Instant, _ cancellation: Cancellation, thread: UInt?)
    {
      self.kind = kind
      self.since = since
      self.cancellation = cancellation
      self.thread = thread
    }
  }

  typealias Wake = @Sendable (Result<Int, SQLiteError>) -> Void

  private struct Waiter: Sendable {
    let id: UInt64
    let kind: Kind
    let cancellation: Cancellation
    let thread: UInt?
    /// The write that may share a transaction with those before it.
    let member: GroupMember?
    let wake: Wake
  }

  /// What waits for the reads that ran at some moment.
  private struct EndOfReads: Sendable {
    /// Those that have not ended yet.
    var places: Set<Int>
    let action: @Sendable () -> Void
  }

  private struct State: Sendable {
    var holders: [Holder?]
    var waiters: [Waiter] = []
    var nextID: UInt64 = 0
    /// Why nobody is let in, if so.
    var refusal: SQLiteError?
    /// Says whether `refusal` is for ever.
    var isClosed = false
    /// How many calls are waiting for the last access to end, or are closing connections.
    var endings = 0
    /// Says whether accesses are to be let in once no call is ending any more.
    var isResumed = false
    var whenIdle: [@Sendable () -> Void] = []
    var endsOfReads: [EndOfReads] = []
  }

  private let state: Mutex<State>
  private let hasReaders: Bool

  init(readers: Int) {
    hasReaders = readers > 0
    state = Mutex(State(holders: Array(repeating: nil, count: readers + 1)))
  }

  /// Who holds which place now.
  var holders: [Holder?] { state.withLock { $0.holders } }

  /// The number of accesses that wait.
  var waiterCount: Int { state.withLock { $0.waiters.count } }

  /// Finds a place, blocking the thread until there is one.
  func enter(
    _ kind: Kind, cancellation: Cancellation, deadline: ContinuousClock.Instant?
  ) throws(SQLiteError) -> Grant {
    let thread = currentThread()
    if let grant = try grant(kind, thread: thread, cancellation) { return grant }
    let semaphore = DispatchSemaphore(value: 0)
    let outcome = Mutex<Result<Int, SQLiteError>?>(nil)
    let id = wait(kind, thread: thread, cancellation) { result in
      outcome.withLock { $0 = result }
      semaphore.signal()
    }
    block(id, on: semaphore, until: deadline)
    guard let outcome = outcome.withLock({ $0 }) else {
      throw SQLiteError(.internalError, "an access was woken without a place")
    }
    return .place(try outcome.get())
  }

  /// Blocks the thread until `semaphore` is signalled, giving up the wait for a place at `deadline`.
  func block(
    _ id: UInt64, on semaphore: DispatchSemaphore, until deadline: ContinuousClock.Instant?
  ) {
    guard let deadline else { return semaphore.wait() }
    guard semaphore.wait(timeout: Scheduler.time(of: deadline)) == .timedOut else { return }
    giveUp(id, Scheduler.lateError)
    semaphore.wait()
  }

  /// Finds a place without waiting, or returns nil if all are taken.
  func grant(
    _ kind: Kind, thread: UInt?, _ cancellation: Cancellation
  ) throws(SQLiteError) -> Grant? {
    let result: Result<Grant?, SQLiteError> = state.withLock { state in
      if let thread, let place = state.holders.firstIndex(where: { $0?.thread == thread }) {
        guard kind == .read || state.holders[place]?.kind == .write else {
          return .failure(
            SQLiteError(
              .misuse, "a write cannot begin inside a read, whose snapshot would not see it"))
        }
        return .success(.nested(place))
      }
      if let refusal = state.refusal { return .failure(refusal) }
      // Whoever came first goes first.
      guard !state.waiters.contains(where: { compete($0.kind, kind) }),
        let place = freePlace(kind, in: state)
      else { return .success(nil) }
      state.holders[place] = Holder(kind, since: .now, cancellation, thread: thread)
      return .success(.place(place))
    }
    return try result.get()
  }

  /// Joins the queue. `wake` is called once, perhaps before this returns.
  ///
  /// - Parameter member: The write, if one that has its place already may take it along.
  /// - Returns: A number by which to give up.
  func wait(
    _ kind: Kind, thread: UInt?, _ cancellation: Cancellation, member: GroupMember? = nil,
    wake: @escaping Wake
  ) -> UInt64 {
    let (id, wakes) = state.withLock { state in
      state.nextID += 1
      let id = state.nextID
      if let refusal = state.refusal { return (id, [{ @Sendable in wake(.failure(refusal)) }]) }
      state.waiters.append(
        Waiter(
          id: id, kind: kind, cancellation: cancellation, thread: thread, member: member,
          wake: wake))
      return (id, admit(&state))
    }
    for wake in wakes { wake() }
    return id
  }

  /// Takes the next access that waits for the writer's place out of the queue, if it is a write that
  /// may share a transaction.
  func takeMember() -> GroupMember? {
    state.withLock { state in
      // Nobody is overtaken: whoever must be alone ends the group.
      guard let next = state.waiters.firstIndex(where: { compete($0.kind, .write) }),
        let member = state.waiters[next].member
      else { return nil }
      state.waiters.remove(at: next)
      return member
    }
  }

  /// Leaves the queue with an error, unless a place was found already.
  func giveUp(_ id: UInt64, _ error: SQLiteError) {
    let wakes = state.withLock { state -> [@Sendable () -> Void] in
      guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return [] }
      let waiter = state.waiters.remove(at: index)
      return [{ waiter.wake(.failure(error)) }] + admit(&state)
    }
    for wake in wakes { wake() }
  }

  /// Wakes those who wait for nothing, since their task was cancelled.
  func wakeCancelled() {
    let ids = state.withLock { state in
      state.waiters.filter { $0.cancellation.isRequested }.map(\.id)
    }
    for id in ids { giveUp(id, SQLiteError(.interrupt, "the task was cancelled")) }
  }

  /// Says that the access runs on this thread from now on.
  ///
  /// - Parameter cancellation: What ends it, if that is another one from now on.
  func adopt(_ place: Int, _ cancellation: Cancellation? = nil) {
    let thread = currentThread()
    state.withLock { state in
      guard let holder = state.holders[place] else { return }
      state.holders[place] = Holder(
        holder.kind, since: holder.since, cancellation ?? holder.cancellation, thread: thread)
    }
  }

  /// Gives a place to whoever waits for it.
  func leave(_ place: Int) {
    let wakes = state.withLock { state in
      state.holders[place] = nil
      var wakes = admit(&state)
      if state.holders.allSatisfy({ $0 == nil }) {
        wakes += state.whenIdle
        state.whenIdle = []
      }
      if !state.endsOfReads.isEmpty { wakes += endRead(place, &state) }
      return wakes
    }
    for wake in wakes { wake() }
  }

  /// Calls `action` once all reads that run now have ended, and returns false if none runs.
  func afterPresentReads(_ action: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      let places = state.holders.indices.filter { state.holders[$0]?.kind == .read }
      guard !places.isEmpty else { return false }
      state.endsOfReads.append(EndOfReads(places: Set(places), action: action))
      return true
    }
  }

  private func endRead(_ place: Int, _ state: inout State) -> [@Sendable () -> Void] {
    for index in state.endsOfReads.indices { state.endsOfReads[index].places.remove(place) }
    let ended = state.endsOfReads.filter(\.places.isEmpty)
    state.endsOfReads.removeAll(where: \.places.isEmpty)
    return ended.map(\.action)
  }

  /// Lets in those who wait, in order, as far as there are places.
  private func admit(_ state: inout State) -> [@Sendable () -> Void] {
    guard !state.waiters.isEmpty else { return [] }
    var wakes: [@Sendable () -> Void] = []
    var remaining: [Waiter] = []
    for waiter in state.waiters {
      guard !remaining.contains(where: { compete($0.kind, waiter.kind) }),
        let place = freePlace(waiter.kind, in: state)
      else {
        remaining.append(waiter)
        continue
      }
      state.holders[place] = Holder(
        waiter.kind, since: .now, waiter.cancellation, thread: waiter.thread)
      wakes.append { waiter.wake(.success(place)) }
    }
    state.waiters = remaining
    return wakes
  }

  private func freePlace(_ kind: Kind, in state: State) -> Int? {
    let places = kind == .write || !hasReaders ? 0..<1 : 1..<state.holders.count
    return places.first { state.holders[$0] == nil }
  }

  /// Says whether two accesses wait for the same places.
  private func compete(_ first: Kind, _ second: Kind) -> Bool {
    !hasReaders || first == second
  }
}

extension Scheduler {
  static let lateError = SQLiteError(
    .interrupt, "the deadline has passed while waiting for other accesses")

  /// Lets nobody in any more, those who wait included, until ``ended()`` and ``allow()``.
  ///
  /// - Parameters:
  ///   - error: What they are told.
  ///   - isClosed: Whether nobody shall ever be let in again.
  ///   - whenIdle: Called when the last access has ended, at once if there is none.
  func refuse(
    _ error: SQLiteError, isClosed: Bool, whenIdle: @escaping @Sendable () -> Void
  ) {
    let wakes = state.withLock { state in
      if !state.isClosed { state.refusal = error }
      state.isClosed = state.isClosed || isClosed
      state.isResumed = false
      state.endings += 1
      var wakes = state.waiters.map { waiter in { @Sendable in waiter.wake(.failure(error)) } }
      state.waiters = []
      if state.holders.allSatisfy({ $0 == nil }) {
        wakes.append(whenIdle)
      } else {
        state.whenIdle.append(whenIdle)
      }
      return wakes
    }
    for wake in wakes { wake() }
  }

  /// Says whether nobody is let in, and running accesses shall end undone.
  var isSuspended: Bool { state.withLock { $0.refusal != nil && !$0.isClosed } }

  /// Says whether nobody shall ever be let in again.
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Says that the connections are closed.
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

  /// A point in time for Dispatch, no farther than it can count.
  static func time(of deadline: ContinuousClock.Instant) -> DispatchTime {
    let left = min(max(.zero, deadline - .now), .seconds(1_000_000_000))
    return .now() + .nanoseconds(Int(left / .nanoseconds(1)))
  }

  /// Says whether an access runs on this thread.
  var isHeldByThisThread: Bool {
    let thread = currentThread()
    return holders.contains { $0?.thread == thread }
  }
}

/// A number for the running thread.
package func currentThread() -> UInt {
  #if canImport(Darwin)
    unsafe UInt(bitPattern: pthread_self())
  #else
    UInt(pthread_self())
  #endif
}
