import SQLiteCore
import Synchronization

/// Runs work that takes long on a thread of its own, away from Swift's, and lets it end when the
/// task is cancelled: at its next report of progress.
///
/// - Parameters:
///   - progress: What the caller wants to be told.
///   - work: The work, which calls what it is given instead.
/// - Throws: What the work throws, or `CancellationError`.
func cancellable<Result: Sendable>(
  _ progress: @escaping @Sendable (DumpProgress) throws -> Void,
  _ work: @escaping @Sendable (@escaping @Sendable (DumpProgress) throws -> Void) throws -> Result
) async throws -> Result {
  let worker = try Database.memory()
  let flag = CancellationFlag()
  return try await withTaskCancellationHandler {
    try await worker.withoutTransaction { _ in
      try work {
        try flag.check()
        try progress($0)
      }
    }
  } onCancel: {
    flag.set()
  }
}

private final class CancellationFlag: Sendable {
  private let isSet = Atomic(false)

  func set() { isSet.store(true, ordering: .relaxed) }

  func check() throws {
    if isSet.load(ordering: .relaxed) { throw CancellationError() }
  }
}
