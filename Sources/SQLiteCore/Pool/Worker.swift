import Dispatch
import Synchronization

import Platform

#if canImport(ObjectiveC)
  import ObjectiveC
#endif

/// Threads for work that blocks, such as SQLite and files: Swift's own threads, of which there are few, must
/// not wait.
///
/// They are threads of our own and not queues of Dispatch: on Linux a concurrent queue runs on the threads that
/// Swift's tasks have, and a serial queue costs several times as much for each work (benchmark `async`).
///
/// A thread serves the next work only after the task of the one before has been resumed. A task cannot be
/// resumed while its cancellation handlers run: if the thread belonged to a connection, a handler that waits
/// for the connection would wait for itself. So a work that begins while all threads are busy gets a new one.
package final class Worker: Sendable {
  private let crew: Crew

  /// - Parameter capacity: The most idle threads that are kept.
  package init(capacity: Int = 4) {
    crew = Crew(capacity: capacity)
  }

  deinit { crew.dismiss() }

  /// Runs `body` on a thread that nobody else uses until it returns.
  package func start(_ body: @escaping @Sendable () -> Void) { crew.start(body) }

  /// Runs `body` on a thread that may wait, suspending the task.
  ///
  /// - Throws: What `body` throws, or `CancellationError` if the task was cancelled before.
  package nonisolated(nonsending) func run<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try Task.checkCancellation()
    return try await withCheckedThrowingContinuation { continuation in
      start { continuation.resume(with: Swift.Result { try body() }) }
    }
  }
}

/// The threads of a worker. They hold it, so that it is there as long as one of them is.
private final class Crew: Sendable {
  private struct State: Sendable {
    /// Those that wait for work. The last one has waited for the shortest time, and may still be awake.
    var idle: [Seat] = []
    var isDismissed = false
  }

  private let capacity: Int
  private let state = Mutex(State())

  init(capacity: Int) {
    self.capacity = capacity
  }

  func start(_ body: @escaping @Sendable () -> Void) {
    if let seat = state.withLock({ $0.idle.popLast() }) { return seat.give(body) }
    let seat = Seat()
    seat.give(body)
    startThread { [self] in serve(seat) }
  }

  /// Ends the threads that wait, and each other one after its work.
  func dismiss() {
    let idle = state.withLock { state in
      state.isDismissed = true
      defer { state.idle = [] }
      return state.idle
    }
    for seat in idle { seat.give(nil) }
  }

  private func serve(_ seat: Seat) {
    // Nothing of a work is left when its thread waits again: it may hold the worker.
    while runNext(seat) {
      let isKept = state.withLock { state in
        guard !state.isDismissed, state.idle.count < capacity else { return false }
        state.idle.append(seat)
        return true
      }
      guard isKept else { return }
    }
  }

  /// Runs the next work of a thread, and returns false if there will be none.
  @inline(never) private func runNext(_ seat: Seat) -> Bool {
    var call = seat.wait(atMost: .seconds(5))
    if case .none = call, !leave(seat) { call = seat.wait(atMost: nil) }
    guard case .work(let body) = call else { return false }
    #if canImport(ObjectiveC)
      autoreleasepool { body() }
    #else
      body()
    #endif
    return true
  }

  /// Takes a thread that has waited for long out of those that wait, unless it is being called.
  private func leave(_ seat: Seat) -> Bool {
    state.withLock { state in
      guard let index = state.idle.firstIndex(where: { $0 === seat }) else { return false }
      state.idle.remove(at: index)
      return true
    }
  }
}

/// The place where one thread waits for work.
///
/// It sleeps at once: a thread that stays awake for a while takes the core from the task that it has resumed.
private final class Seat: Sendable {
  enum Call {
    case work(@Sendable () -> Void)
    /// The thread must end.
    case dismissal
    /// Nobody called.
    case none
  }

  private enum State {
    static let awake = 0
    static let called = 1
    static let asleep = 2
  }

  private let work = Mutex<(@Sendable () -> Void)?>(nil)
  private let state = Atomic(State.awake)
  private let bell = DispatchSemaphore(value: 0)

  /// Calls the thread to a work, or to its end. Called once for each wait.
  func give(_ body: (@Sendable () -> Void)?) {
    work.withLock { $0 = body }
    if state.exchange(State.called, ordering: .acquiringAndReleasing) == State.asleep {
      bell.signal()
    }
  }

  /// Waits until the thread is called.
  func wait(atMost patience: DispatchTimeInterval?) -> Call {
    guard sleep(atMost: patience) else { return .none }
    state.store(State.awake, ordering: .relaxed)
    let body = work.withLock { work in
      defer { work = nil }
      return work
    }
    return body.map(Call.work) ?? .dismissal
  }

  /// Sleeps until the thread is called, and returns false if it was not.
  private func sleep(atMost patience: DispatchTimeInterval?) -> Bool {
    guard exchange(State.awake, for: State.asleep) else { return true }
    guard let patience else {
      bell.wait()
      return true
    }
    guard bell.wait(timeout: .now() + patience) == .timedOut else { return true }
    if exchange(State.asleep, for: State.awake) { return false }
    // Called just now.
    bell.wait()
    return true
  }

  private func exchange(_ present: Int, for next: Int) -> Bool {
    state.compareExchange(expected: present, desired: next, ordering: .acquiringAndReleasing)
      .exchanged
  }
}

/// Starts a thread that takes no signals but those of its own faults: others are for the program's threads
/// (`pthread_create`).
private func startThread(_ body: @escaping @Sendable () -> Void) {
  var (signals, before) = (sigset_t(), sigset_t())
  unsafe sigfillset(&signals)
  for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS] {
    unsafe sigdelset(&signals, fault)
  }
  unsafe pthread_sigmask(SIG_SETMASK, &signals, &before)
  defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
  let life = unsafe Unmanaged.passRetained(ThreadLife(body))
  #if canImport(Darwin)
    var thread: pthread_t?
    let code = unsafe pthread_create(&thread, nil, { unsafe ThreadLife.run($0) }, life.toOpaque())
  #else
    var thread = pthread_t()
    let code = unsafe pthread_create(&thread, nil, { unsafe ThreadLife.run($0) }, life.toOpaque())
  #endif
  guard code != 0 else { return }
  unsafe life.release()
  // The system gives no thread; Dispatch waits for one.
  DispatchQueue(label: "MagicData.Worker").async(execute: body)
}

/// The body of a thread, on its way to it.
private final class ThreadLife: Sendable {
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) {
    self.body = body
  }

  static func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    #if canImport(Darwin)
      unsafe pthread_detach(pthread_self())
    #else
      pthread_detach(pthread_self())
    #endif
    if let context = unsafe context {
      unsafe Unmanaged<ThreadLife>.fromOpaque(context).takeRetainedValue().body()
    }
    return nil
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
