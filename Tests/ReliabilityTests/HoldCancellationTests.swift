import Dispatch
import Foundation
import MagicData
import Synchronization
import TestSupport
import Testing

/// Cancelling never makes two threads wait for each other. A cancellation handler runs under a lock of
/// its task, which whoever resumes the task waits for: so nobody resumes another task in a handler, nor
/// while holding what a user's handler may wait for.
///
/// Each test has a process of its own, which a clock ends if it hangs.
@Suite(.timeLimit(.minutes(40))) struct HoldCancellationTests {
  private struct Note: MagicObject {
    @MagicValue var text: String
    init() { text = "" }
  }

  /// A number that several tasks change.
  private final class Counter: Sendable {
    private let stored = Atomic(0)
    var value: Int { stored.load(ordering: .acquiring) }
    func add() { stored.add(1, ordering: .acquiringAndReleasing) }
  }

  /// Ends the process if it has not ended by itself.
  private static func endSoon() { _ = alarm(100) }

  /// Holds the writer's place until it is released.
  private struct Hold {
    private let leave = DispatchSemaphore(value: 0)
    private let left = DispatchSemaphore(value: 0)

    init(_ database: Database) async {
      let entered = DispatchSemaphore(value: 0), leave = leave, left = left
      Thread.detachNewThread {
        _ = try? database.write { _ in
          entered.signal()
          leave.wait()
        }
        left.signal()
      }
      await HoldCancellationTests.wait(for: entered)
    }

    func release() async {
      leave.signal()
      await HoldCancellationTests.wait(for: left)
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

  /// Cancels tasks at the same moment, each on a thread of its own.
  private static func cancelAtOnce(_ tasks: [Task<Void, any Error>]) async {
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

  private static func whenWaiting(_ count: Int, _ database: Database) async throws {
    try await waitUntil { database.waitingAccessCount >= count }
  }

  @Test func `waiting tasks that are cancelled at once all end`() async {
    await #expect(processExitsWith: .success) { try await HoldCancellationTests.cancelWaiting() }
  }

  @Test func `those who listen to one sequence and are cancelled at once all end`() async {
    await #expect(processExitsWith: .success) { try await HoldCancellationTests.cancelListeners() }
  }

  @Test func `a cancellation handler may wait for the database`() async {
    await #expect(processExitsWith: .success) {
      try await HoldCancellationTests.waitInHandlers(others: 3)
    }
  }

  @Test func `a cancellation handler may wait for an access that begins while its task ends`() async
  {
    // With one other task the place is mostly free, and is taken while the task before is being resumed.
    await #expect(processExitsWith: .success) {
      try await HoldCancellationTests.waitInHandlers(others: 1)
    }
  }

  @Test func `suspending and closing in a cancellation handler wakes all that wait`() async {
    await #expect(processExitsWith: .success) { try await HoldCancellationTests.closeInHandlers() }
  }

  private static func cancelWaiting() async throws {
    endSoon()
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
      try await whenWaiting(2, database)
      await cancelAtOnce(tasks)
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
    endSoon()
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
      await cancelAtOnce(tasks)
      for task in tasks { try await task.value }
    }
  }

  private static func waitInHandlers(others count: Int) async throws {
    endSoon()
    let magic = try await MagicData(type: .memory)
    let database = magic.database
    try await magic.update(Note())
    let over = Counter()
    // Keeps the places taken, so that the handlers have somebody to wait for.
    let others = (0..<count).map { number in
      Task {
        while over.value == 0 {
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
      await cancelAtOnce([task])
      _ = try? await task.value
    }
    over.add()
    for other in others { try await other.value }
  }

  private static func closeInHandlers() async throws {
    endSoon()
    for round in 0..<150 {
      let database = try Database.memory()
      let hold = await Hold(database)
      let tasks = (0..<3).map { _ in
        Task {
          try await withTaskCancellationHandler {
            try await database.write { _ in }
          } onCancel: {
            // On another thread: it waits for the one that holds the place.
            Thread.detachNewThread {
              if round % 2 == 0 { try? database.suspend() } else { try? database.close() }
            }
          }
        }
      }
      try await whenWaiting(3, database)
      await cancelAtOnce(tasks)
      for task in tasks { _ = try? await task.value }
      await hold.release()
    }
  }
}
