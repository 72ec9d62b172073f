import Synchronization

/// The closures that other modules have registered, in order. Each closure is removed when its
/// registration is released.
final class ClosureRegistry<Body: Sendable>: Sendable {
  private struct State: Sendable {
    var bodies: [(id: UInt64, purpose: String?, body: Body)] = []
    var lastID: UInt64 = 0
  }

  private let state = Mutex(State())
  private let count = Atomic<Int>(0)
  private let last = Atomic<UInt64>(0)

  /// Whether there are no closures. Reading it takes no lock.
  var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

  /// The ID of the last added closure. Reading it takes no lock.
  var lastID: UInt64 { last.load(ordering: .acquiring) }

  /// Returns the closures that were added after the one with the given ID, each with its own ID.
  func bodies(after id: UInt64) -> [(id: UInt64, body: Body)] {
    state.withLock { $0.bodies }.filter { $0.id > id }.map { ($0.id, $0.body) }
  }

  /// The closures, in the order of their registration. Of several closures with the same purpose,
  /// only the oldest is included.
  var bodies: [Body] {
    var purposes: Set<String> = []
    return state.withLock { $0.bodies }.filter { _, purpose, _ in
      purpose.map { purposes.insert($0).inserted } ?? true
    }.map(\.body)
  }

  /// Adds a closure, and returns its registration.
  ///
  /// - Parameters:
  ///   - body: The closure to register.
  ///   - purpose: An identifier of work that is done once, even if several closures are registered
  ///     for it; nil if each closure must run.
  func add(_ body: Body, for purpose: String? = nil) -> Registration {
    let id = state.withLock { state in
      state.lastID += 1
      state.bodies.append((state.lastID, purpose, body))
      count.store(state.bodies.count, ordering: .relaxed)
      last.store(state.lastID, ordering: .releasing)
      return state.lastID
    }
    return Registration { [self] in
      // Release the closure, and everything that it captures, outside the lock.
      _ = state.withLock { state in
        defer { count.store(state.bodies.count, ordering: .relaxed) }
        return state.bodies.firstIndex { $0.id == id }.map { state.bodies.remove(at: $0) }
      }
    }
  }
}

/// The registration of a closure. Releasing the registration removes the closure.
package final class Registration: Sendable {
  private let end: @Sendable () -> Void

  init(end: @escaping @Sendable () -> Void) {
    self.end = end
  }

  deinit { end() }

  /// Removes the closure now, even if the registration is still retained.
  package func cancel() { end() }
}
