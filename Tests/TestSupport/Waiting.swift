import Observation
import Synchronization

/// A flag that tasks can share.
package final class Flag: Sendable {
  private let value = Atomic(false)

  package init() {}

  package var isSet: Bool { value.load(ordering: .acquiring) }
  package func set() { value.store(true, ordering: .releasing) }
}

/// Waits until `condition` returns true.
///
/// The wait also ends when the task is cancelled, for example by a test's time limit.
///
/// - Throws: `CancellationError` if the task is cancelled, and errors of `condition`.
nonisolated(nonsending) package func waitUntil(_ condition: () throws -> Bool) async throws {
  while try !condition() { try await Task.sleep(for: .milliseconds(1)) }
}

/// Waits until `condition` returns true. It must read observable properties only: it is called
/// again when one of those that it has read changes.
///
/// - Throws: `CancellationError` if the task is cancelled.
@MainActor package func wait(until condition: @MainActor () -> Bool) async throws {
  while true {
    let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
    let isMet = withObservationTracking {
      condition()
    } onChange: {
      continuation.finish()
    }
    if isMet { return }
    for await _ in changes {}
    try Task.checkCancellation()
    // The notification precedes the change, which the current job of the main actor makes.
    await Task.yield()
  }
}
