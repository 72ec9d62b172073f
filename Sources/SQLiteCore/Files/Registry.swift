import Synchronization

/// Closures of layers above, in the order in which they were added, each as long as its registration lives.
final class Registry<Body: Sendable>: Sendable {
  private struct State: Sendable {
    var bodies: [(id: UInt64, body: Body)] = []
    var lastID: UInt64 = 0
  }

  private let state = Mutex(State())
  private let count = Atomic<Int>(0)

  /// Whether there is no closure. This costs no lock.
  var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

  var bodies: [Body] {
    state.withLock { $0.bodies }.map(\.body)
  }

  func add(_ body: Body) -> Registration {
    let id = state.withLock { state in
      state.lastID += 1
      state.bodies.append((state.lastID, body))
      count.store(state.bodies.count, ordering: .relaxed)
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

  fileprivate init(end: @escaping @Sendable () -> Void) {
    self.end = end
  }

  deinit { end() }
}
