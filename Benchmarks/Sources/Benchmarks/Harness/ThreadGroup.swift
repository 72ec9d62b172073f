import Foundation
import Synchronization

/// A group of threads that prepare, start at the same time, and return a checksum each.
final class ThreadGroup: Sendable {
  private let results = Mutex<[Result<Checksum, any Error>?]>([])
  private let ready = DispatchSemaphore(value: 0)
  private let begin = DispatchSemaphore(value: 0)
  private let done = DispatchSemaphore(value: 0)
  private let stopped = Atomic(false)

  /// Whether threads that run until they are stopped should end.
  var isStopped: Bool { stopped.load(ordering: .relaxed) }

  /// Starts a thread that prepares and then waits for ``start()``.
  ///
  /// - Parameters:
  ///   - prepare: Creates the tool that the thread works with, such as a connection.
  ///   - work: The work to do after the start. Returns a checksum of its results.
  func add<Tool>(
    preparing prepare: @escaping @Sendable () throws -> Tool,
    _ work: @escaping @Sendable (Tool) throws -> Checksum
  ) {
    let place = results.withLock { results in
      results.append(nil)
      return results.count - 1
    }
    Thread.detachNewThread { [self] in
      let result = result(of: work, with: prepare)
      results.withLock { $0[place] = result }
      done.signal()
    }
  }

  /// Prepares the tool, waits for the start and runs `work`. Releases the tool before it returns,
  /// so that its connections are closed when the group finishes.
  private func result<Tool>(
    of work: (Tool) throws -> Checksum, with prepare: () throws -> Tool
  ) -> Result<Checksum, any Error> {
    let tool = Result { try prepare() }
    ready.signal()
    begin.wait()
    return Result { try work(try tool.get()) }
  }

  func waitUntilReady() {
    forEachThread { ready.wait() }
  }

  func start() {
    forEachThread { begin.signal() }
  }

  func stop() {
    stopped.store(true, ordering: .relaxed)
  }

  /// Waits for all threads and returns their checksums in the order in which the threads were
  /// added.
  func finish() throws -> [Checksum] {
    forEachThread { done.wait() }
    return try results.withLock { $0 }.compactMap { try $0?.get() }
  }

  private func forEachThread(_ body: () -> Void) {
    for _ in 0..<results.withLock(\.count) { body() }
  }
}
