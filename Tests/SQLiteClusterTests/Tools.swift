import Conformance
import Synchronization

/// A flag that tasks share.
final class Flag: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .acquiring) }
  func set() { value.store(true, ordering: .releasing) }
}

/// Names that tasks collect.
final class Names: Sendable {
  private let names = Mutex<Set<String>>([])

  var all: Set<String> { names.withLock { $0 } }
  func add(_ name: String) { _ = names.withLock { $0.insert(name) } }
}
