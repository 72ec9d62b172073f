import Synchronization

/// Limits the number of requests that run at the same time, and ends when the last one has ended.
///
/// Without a limit, requests of an overloaded service wait in the queue of a writer connection until
/// their deadlines pass, so that most of the work is wasted. Rejected requests cost nothing.
final class Gate: Sendable {
  /// The permission of a request to run. The request ends when it releases its permit.
  final class Permit: Sendable {
    private let gate: Gate

    fileprivate init(_ gate: Gate) { self.gate = gate }

    deinit { gate.leave() }
  }

  private struct State: Sendable {
    var count = 0
    var isClosed = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let limit: Int
  private let state = Mutex(State())

  init(limit: Int) { self.limit = limit }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// The number of requests that run now.
  var count: Int { state.withLock { $0.count } }

  /// Admits a request.
  ///
  /// - Throws: ``Refusal`` with the status 503 if too many requests are running, or after
  ///   ``close()``.
  func enter() throws(Refusal) -> Permit {
    let reason: String? = state.withLock { state in
      if state.isClosed { return "the service is being shut down" }
      if state.count >= limit { return "the service is overloaded" }
      state.count += 1
      return nil
    }
    if let reason { throw .unavailable(reason) }
    return Permit(self)
  }

  private func leave() {
    let waiters = state.withLock { state in
      state.count -= 1
      guard state.isClosed, state.count == 0 else { return [CheckedContinuation<Void, Never>]() }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Rejects all further requests, and suspends the task until the running ones have ended.
  func close() async {
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { state in
        state.isClosed = true
        if state.count > 0 { state.waiters.append(continuation) }
        return state.count == 0
      }
      if isIdle { continuation.resume() }
    }
  }
}
