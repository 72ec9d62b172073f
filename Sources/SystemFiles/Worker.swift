import Dispatch

/// The threads on which asynchronous calls read and write files, so that Swift's own, of which there
/// are few, do not wait for a disk.
package struct Worker: Sendable {
  private let queue = DispatchQueue(label: "MagicData.Files", attributes: .concurrent)

  package init() {}

  /// Runs `body` on a thread that may wait, without blocking the task.
  ///
  /// - Throws: What `body` throws, or `CancellationError` if the task was cancelled before.
  package nonisolated(nonsending) func run<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try Task.checkCancellation()
    return try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Swift.Result { try body() }) }
    }
  }
}
