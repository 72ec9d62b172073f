import Synchronization

/// A flag that tasks share.
package final class Flag: Sendable {
  private let value = Atomic(false)

  package init() {}

  package var isSet: Bool { value.load(ordering: .acquiring) }
  package func set() { value.store(true, ordering: .releasing) }
}

/// Waits until the condition holds.
///
/// A cancelled task waits no longer, so the time limit of a test ends the wait.
///
/// - Throws: `CancellationError`, and what the condition throws.
package func waitUntil(_ condition: () throws -> Bool) async throws {
  while try !condition() { try await Task.sleep(for: .milliseconds(1)) }
}
