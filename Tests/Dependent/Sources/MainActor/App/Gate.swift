import Foundation
import MagicData
import Synchronization

/// An SQL function that stops a thread of the database until the main actor has run some code. If
/// the statement runs on the main actor's thread, neither continues.
final nonisolated class Gate: Sendable {
  private let isClosed = Mutex(false)
  private let opened = DispatchSemaphore(value: 0)
  private let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)

  func add(to connection: Connection) throws {
    try connection.addFunction("gate") { () -> Int in
      if self.isClosed.withLock({ $0 }) {
        self.arrival.yield()
        self.opened.wait()
      }
      return 1
    }
  }

  /// Runs `body`, which evaluates the function `gate` once, and opens the gate when the statement
  /// has arrived at it.
  @MainActor func passing<Result: Sendable>(
    _ body: @escaping @MainActor () async throws -> Result
  ) async throws -> Result {
    isClosed.withLock { $0 = true }
    let task = Task { try await body() }
    for await _ in arrivals { break }
    isClosed.withLock { $0 = false }
    opened.signal()
    return try await task.value
  }
}
