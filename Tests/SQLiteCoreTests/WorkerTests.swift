import Dispatch
import SQLiteCore
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(40))) struct WorkerTests {
  /// A barrier: `join` blocks until `count` threads have called it.
  private final class Gathering: Sendable {
    private let missing: Mutex<Int>
    private let gate = DispatchSemaphore(value: 0)

    init(of count: Int) { missing = Mutex(count) }

    func join() {
      let isLast = missing.withLock { missing in
        missing -= 1
        return missing == 0
      }
      if isLast { gate.signal() }
      gate.wait()
      gate.signal()
    }
  }

  @Test func `work items that wait for each other all run`() async throws {
    let worker = Worker(capacity: 2), gathering = Gathering(of: 100)
    try await withThrowingTaskGroup { group in
      for _ in 0..<100 { group.addTask { try await worker.run { gathering.join() } } }
      try await group.waitForAll()
    }
  }

  @Test func `consecutive work items run, even after the threads were idle`() async throws {
    let worker = Worker(capacity: 2)
    var sum = 0
    for round in 0..<200 {
      sum += try await worker.run { round }
      if round % 50 == 0 { try await Task.sleep(for: .milliseconds(1)) }
    }
    #expect(sum == 199 * 100)
  }

  @Test func `a work item that holds the last reference to its worker releases it`() async throws {
    let isOver = DispatchSemaphore(value: 0)
    weak var gone: Worker?
    do {
      let worker = Worker()
      gone = worker
      try await worker.run {}
      worker.start {
        withExtendedLifetime(worker) {}
        isOver.signal()
      }
    }
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "wait").async {
        isOver.wait()
        continuation.resume()
      }
    }
    try await waitUntil { gone == nil }
  }

  @Test func `a cancelled task runs no work`() async throws {
    let worker = Worker()
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      try await worker.run { _ = Issue.record("the work ran") }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func `short accesses of many tasks finish or throw when they are cancelled`()
    async throws
  {
    let fixture = try Fixture(.file)
    let database = fixture.database
    // Earlier accesses leave idle threads, which later ones reuse.
    for _ in 0..<50 { _ = try await database.read { $0.isAutocommit } }
    var ended = 0
    for round in 0..<200 {
      let tasks = (0..<8).map { number in
        Task { try await database.read { try $0.rows("SELECT \(number)", as: Int.self) } }
      }
      tasks[round % 8].cancel()
      for (number, task) in tasks.enumerated() {
        do {
          let rows = try await task.value
          #expect(rows == [number])
          ended += 1
        } catch is CancellationError {
          #expect(number == round % 8)
          ended += 1
        }
      }
    }
    #expect(ended == 1_600)
    #expect(database.waitingAccessCount == 0)
  }

  @Test func `closing lets short accesses of many tasks finish or throw`() async throws {
    for _ in 0..<20 {
      let fixture = try Fixture(.file)
      let database = fixture.database
      for _ in 0..<20 { _ = try await database.read { $0.isAutocommit } }
      let tasks = (0..<50).map { number in
        Task { try await database.read { try $0.rows("SELECT \(number)", as: Int.self) } }
      }
      try await database.close()
      for (number, task) in tasks.enumerated() {
        do {
          let rows = try await task.value
          #expect(rows == [number])
        } catch let error as SQLiteError {
          #expect(error.code == .misuse)
        }
      }
    }
  }
}
