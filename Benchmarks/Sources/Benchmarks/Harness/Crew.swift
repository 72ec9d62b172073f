import Foundation
import Synchronization

/// Threads that get ready, start together, and hand in a checksum each.
final class Crew: Sendable {
  private let results = Mutex<[Result<Checksum, any Error>?]>([])
  private let ready = DispatchSemaphore(value: 0)
  private let begin = DispatchSemaphore(value: 0)
  private let done = DispatchSemaphore(value: 0)
  private let stopped = Atomic(false)

  /// Whether the threads that run until they are stopped are to end.
  var isStopped: Bool { stopped.load(ordering: .relaxed) }

  /// Adds a thread.
  ///
  /// - Parameters:
  ///   - prepare: Makes what it works with, before the start.
  ///   - work: Its work.
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

  /// Works when all threads do. The tool is gone when it returns: nobody meets a connection of it.
  private func result<Tool>(
    of work: (Tool) throws -> Checksum, with prepare: () throws -> Tool
  ) -> Result<Checksum, any Error> {
    let tool = Result { try prepare() }
    ready.signal()
    begin.wait()
    return Result { try work(try tool.get()) }
  }

  func whenReady() {
    forEachThread { ready.wait() }
  }

  func start() {
    forEachThread { begin.signal() }
  }

  func stop() {
    stopped.store(true, ordering: .relaxed)
  }

  /// Waits for all threads and returns what they handed in, in the order in which they were added.
  func finish() throws -> [Checksum] {
    forEachThread { done.wait() }
    return try results.withLock { $0 }.compactMap { try $0?.get() }
  }

  private func forEachThread(_ body: () -> Void) {
    for _ in 0..<results.withLock(\.count) { body() }
  }
}
