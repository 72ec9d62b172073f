import SQLiteCore
import Synchronization

/// Work that takes long and may be cancelled: between its steps, and in the midst of the SQL that it runs
/// in databases of its own.
final class CancellableWork: Sendable {
  private struct State {
    var isCancelled = false
    var databases: [WeakDatabase] = []
  }

  private struct WeakDatabase: Sendable {
    weak let database: Database?
  }

  private let state = Mutex(State())

  /// Throws if the work was cancelled.
  func check() throws {
    if state.withLock({ $0.isCancelled }) { throw CancellationError() }
  }

  /// Lets the work's end be that of the accesses that run in a database then. Each must call ``check()``
  /// when it begins.
  func interrupts(_ database: Database) {
    state.withLock { $0.databases.append(WeakDatabase(database: database)) }
  }

  private func cancel() {
    let databases = state.withLock { state in
      state.isCancelled = true
      return state.databases
    }
    for entry in databases { entry.database?.interrupt() }
  }

  /// Runs work on a thread of its own, away from Swift's, and lets it end when the task is cancelled.
  ///
  /// - Parameters:
  ///   - progress: What the caller wants to be told.
  ///   - body: The work, which calls what it is given instead.
  /// - Throws: What the work throws, or `CancellationError`.
  static func run<Result: Sendable>(
    _ progress: @escaping @Sendable (DumpProgress) throws -> Void,
    _ body:
      @escaping @Sendable (CancellableWork, @escaping @Sendable (DumpProgress) throws -> Void)
      throws
      -> Result
  ) async throws -> Result {
    let worker = try Database.memory()
    let work = CancellableWork()
    return try await withTaskCancellationHandler {
      try await worker.withoutTransaction { _ in
        do {
          return try body(work) {
            try work.check()
            try progress($0)
          }
        } catch {
          // Whatever was cut off, this is why.
          try work.check()
          throw error
        }
      }
    } onCancel: {
      work.cancel()
    }
  }
}
