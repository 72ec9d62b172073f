import Conformance
import Synchronization

/// A set of names that concurrent tasks add to.
final class Names: Sendable {
  private let names = Mutex<Set<String>>([])

  var all: Set<String> { names.withLock { $0 } }
  func add(_ name: String) { _ = names.withLock { $0.insert(name) } }
}
