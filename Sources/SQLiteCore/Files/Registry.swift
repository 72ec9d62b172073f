import Synchronization

/// Closures of layers above, in the order in which they were added, each as long as its registration lives.
final class Registry<Body: Sendable>: Sendable {
  private struct State: Sendable {
    var bodies: [(id: UInt64, purpose: String?, body: Body)] = []
    var lastID: UInt64 = 0
  }

  private let state = Mutex(State())
  private let count = Atomic<Int>(0)
  private let last = Atomic<UInt64>(0)

  /// Whether there is no closure. This costs no lock.
  var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

  /// The number of the closure that was added last. This costs no lock.
  var lastID: UInt64 { last.load(ordering: .acquiring) }

  /// The closures that were added after the one with a number, with their own numbers.
  func bodies(after id: UInt64) -> [(id: UInt64, body: Body)] {
    state.withLock { $0.bodies }.filter { $0.id > id }.map { ($0.id, $0.body) }
  }

  /// The closures, only the first one of those for the same purpose.
  var bodies: [Body] {
    var purposes: Set<String> = []
    return state.withLock { $0.bodies }.filter { _, purpose, _ in
      purpose.map { purposes.insert($0).inserted } ?? true
    }.map(\.body)
  }

  /// Adds a closure.
  ///
  /// - Parameter purpose: Something that is done once, however many want it; nil for what each does for itself.
  func add(_ body: Body, for purpose: String? = nil) -> Registration {
    let id = state.withLock { state in
      state.lastID += 1
      state.bodies.append((state.lastID, purpose, body))
      count.store(state.bodies.count, ordering: .relaxed)
      last.store(state.lastID, ordering: .releasing)
      return state.lastID
    }
    return Registration { [self] in
      // It goes outside the lock, and what it holds with it.
      _ = state.withLock { state in
        defer { count.store(state.bodies.count, ordering: .relaxed) }
        return state.bodies.firstIndex { $0.id == id }.map { state.bodies.remove(at: $0) }
      }
    }
  }
}

/// Keeps a closure registered as long as it lives.
package final class Registration: Sendable {
  private let end: @Sendable () -> Void

  init(end: @escaping @Sendable () -> Void) {
    self.end = end
  }

  deinit { end() }

  /// Ends the registration now.
  package func cancel() { end() }
}
