import Dispatch
import Foundation
import MagicData
import Synchronization
import TestSupport
import Testing

/// Tests that cancellation never deadlocks. A cancellation handler runs under a lock of its task,
/// and resuming the task needs the same lock. The library therefore never resumes a task inside a
/// handler or while it holds a lock that a user's handler may need.
///
/// Each test runs in its own process, which an alarm ends if it hangs.
@Suite(.timeLimit(.minutes(40))) struct HoldCancellationTests {
  private struct Note: MagicObject {
    @MagicValue var text: String
    init() { text = "" }
  }

  /// A counter that several tasks change.
  private final class Counter: Sendable {
    private let stored = Atomic(0)
    var value: Int { stored.load(ordering: .acquiring) }
    func add() { stored.add(1, ordering: .acquiringAndReleasing) }
  }

  /// Ends the process after 100 seconds if it hangs.
  private static func limitRunTime() { _ = alarm(100) }

  /// A write that holds the writer connection until it is released.
  private struct Hold {
    private let mayEnd = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    init(_ database: Database) async {
      let entered = DispatchSemaphore(value: 0), mayEnd = mayEnd, hasEnded = hasEnded
      Thread.detachNewThread {
        _ = try? database.write { _ in
          entered.signal()
          mayEnd.wait()
        }
        hasEnded.signal()
      }
      await HoldCancellationTests.wait(for: entered)
    }

    func release() async {
      mayEnd.signal()
      await HoldCancellationTests.wait(for: hasEnded)
    }
  }

  private static func wait(for semaphore: DispatchSemaphore) async {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        semaphore.wait()
        continuation.resume()
      }
    }
  }

  /// Cancels tasks at the same moment, each on its own thread.
  private static func cancelConcurrently(_ tasks: [Task<Void, any Error>]) async {
    let begin = DispatchSemaphore(value: 0), done = DispatchSemaphore(value: 0)
    for task in tasks {
      Thread.detachNewThread {
        begin.wait()
        task.cancel()
        done.signal()
      }
    }
    for _ in tasks { begin.signal() }
    for _ in tasks { await wait(for: done) }
  }

  private static func waitForAccesses(_ count: Int, _ database: Database) async throws {
    try await waitUntil { database.waitingAccessCount >= count }
  }

  @Test func `waiting tasks that are cancelled concurrently all end`() async {
    await #expect(processExitsWith: .success) { try await HoldCancellationTests.cancelWaiting() }
  }

  @Test func `iterators of one sequence that are cancelled concurrently all end`() async {
    await #expect(processExitsWith: .success) { try await HoldCancellationTests.cancelListeners() }
  }

  @Test func `a cancellation handler can wait for the database`() async {
    await #expect(processExitsWith: .success) {
      try await HoldCancellationTests.waitInHandlers(others: 3)
    }
  }

  @Test func `a cancellation handler can wait for an access that begins while its task ends`() async
  {
    // With one other task, the connections are mostly free and are taken while the previous task is
    // resumed.
    await #expect(processExitsWith: .success) {
      try await HoldCancellationTests.waitInHandlers(others: 1)
    }
  }

  @Test func `suspending or closing in a cancellation handler resumes all waiting tasks`() async {
    await #expect(processExitsWith: .success) { try await HoldCancellationTests.closeInHandlers() }
  }

  private static func cancelWaiting() async throws {
    limitRunTime()
    let database = try Database.memory()
    for round in 0..<1_500 {
      let hold = await Hold(database)
      let tasks = (0..<2).map { number in
        Task { () async throws -> Void in
          if (number + round) % 3 == 0 {
            try await database.writeInGroup { _ in }
          } else {
            try await database.write { _ in }
          }
        }
      }
      try await waitForAccesses(2, database)
      await cancelConcurrently(tasks)
      for task in tasks {
        do {
          try await task.value
          exit(1)
        } catch is CancellationError {}
      }
      await hold.release()
    }
  }

  private static func cancelListeners() async throws {
    limitRunTime()
    let magic = try await MagicData(type: .memory)
    for _ in 0..<300 {
      let changes = magic.changes(of: Note.self)
      let begun = Counter()
      let tasks = (0..<2).map { _ in
        Task {
          begun.add()
          var iterator = changes.makeAsyncIterator()
          while try await iterator.next() != nil {}
        }
      }
      try await waitUntil { begun.value >= 2 }
      await cancelConcurrently(tasks)
      for task in tasks { try await task.value }
    }
  }

  private static func waitInHandlers(others count: Int) async throws {
    limitRunTime()
    let magic = try await MagicData(type: .memory)
    let database = magic.database
    try await magic.update(Note())
    let isDone = Counter()
    // Keeps the connections busy, so that the handlers have to wait.
    let others = (0..<count).map { number in
      Task {
        while isDone.value == 0 {
          switch number {
          case 0: try await database.write { _ in }
          case 1: try await database.writeInGroup { _ in }
          default: try await magic.update(Note())
          }
        }
      }
    }
    for round in 0..<600 {
      let running = Counter()
      let task = Task {
        try await withTaskCancellationHandler {
          running.add()
          switch round % 4 {
          case 0: while true { try await database.write { _ in } }
          case 1: while true { try await database.writeInGroup { _ in } }
          case 2: while true { _ = try await database.read { _ in } }
          default: for try await _ in magic.observe(Note.all.limit(1)) {}
          }
        } onCancel: {
          if round % 8 < 4 {
            _ = try? database.write { _ in }
          } else {
            _ = try? database.writeInGroup { _ in }
          }
        }
      }
      try await waitUntil { running.value != 0 }
      for _ in 0..<(round % 50) { await Task.yield() }
      await cancelConcurrently([task])
      _ = try? await task.value
    }
    isDone.add()
    for other in others { try await other.value }
  }

  private static func closeInHandlers() async throws {
    limitRunTime()
    for round in 0..<150 {
      let database = try Database.memory()
      let hold = await Hold(database)
      let tasks = (0..<3).map { _ in
        Task {
          try await withTaskCancellationHandler {
            try await database.write { _ in }
          } onCancel: {
            // On another thread, because it waits for the task that holds the writer connection.
            Thread.detachNewThread {
              if round % 2 == 0 { try? database.suspend() } else { try? database.close() }
            }
          }
        }
      }
      try await waitForAccesses(3, database)
      await cancelConcurrently(tasks)
      for task in tasks { _ = try? await task.value }
      await hold.release()
    }
  }
}
