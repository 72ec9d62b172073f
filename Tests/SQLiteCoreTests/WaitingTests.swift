import Conformance
import Dispatch
import Foundation
import SQLiteCore
import Synchronization
import TestSupport
import Testing

/// Tests with many waiting accesses. They take seconds only if no access inspects all others. If
/// each of a hundred thousand did, they would take minutes.
@Suite(.serialized, .timeLimit(.minutes(40)), .everyEngine, .requires(.interruption))
struct WaitingTests {
  static let accessCount = 100_000

  /// Collects numbers in the order in which they are appended.
  private final class Order: Sendable {
    private let stored = Mutex<[Int]>([])
    var numbers: [Int] { stored.withLock { $0 } }
    func append(_ number: Int) { stored.withLock { $0.append(number) } }
  }

  /// Waits until exactly `count` accesses wait.
  private func waitForWaitingAccesses(_ count: Int, _ database: Database) async throws {
    try await waitUntil { database.waitingAccessCount == count }
  }

  @Test func `of a hundred thousand waiting accesses, half are cancelled and half run`()
    async throws
  {
    let database = try Database.fresh()
    let hold = await WriterHold(database)
    let day = ContinuousClock.now + .seconds(86_400)
    let tasks = (0..<Self.accessCount).map { number in
      Task {
        // The deadlines are not in the order of the queue.
        try await database.withoutTransaction(
          deadline: day + .seconds(number * 7_919 % Self.accessCount)
        ) { _ in }
      }
    }
    try await waitForWaitingAccesses(Self.accessCount, database)
    #expect(database.pendingDeadlineCount == Self.accessCount)
    for number in stride(from: Self.accessCount - 1, to: 0, by: -2) { tasks[number].cancel() }
    try await waitForWaitingAccesses(Self.accessCount / 2, database)
    #expect(database.pendingDeadlineCount == Self.accessCount / 2)
    hold.release()
    var (cancelled, completed) = (0, 0)
    for task in tasks {
      do {
        try await task.value
        completed += 1
      } catch is CancellationError {
        cancelled += 1
      }
    }
    #expect(cancelled == Self.accessCount / 2)
    #expect(completed == Self.accessCount / 2)
    #expect(database.pendingDeadlineCount == 0)
    #expect(database.waitingAccessCount == 0)
  }

  @Test func `accesses whose deadlines pass throw, and the others run`() async throws {
    let database = try Database.fresh()
    let hold = await WriterHold(database)
    let early = ContinuousClock.now + .milliseconds(100), late = early + .seconds(3_600)
    let patient = (0..<500).map { _ in
      Task { try await database.withoutTransaction(deadline: late) { _ in } }
    }
    try await waitForWaitingAccesses(500, database)
    let hasty = (0..<500).map { number in
      Task {
        try await database.withoutTransaction(deadline: early - .milliseconds(number % 3)) { _ in }
      }
    }
    for task in hasty {
      let error = await #expect(throws: SQLiteError.self) { try await task.value }
      #expect(error?.code == .interrupt)
    }
    #expect(database.waitingAccessCount == 500)
    #expect(database.pendingDeadlineCount == 500)
    hold.release()
    for task in patient { try await task.value }
  }

  @Test(arguments: [Kind.memory, .file])
  func `writes run in the order of their requests even if some are cancelled`(
    kind: Kind
  ) async throws {
    let fixture = try Fixture(kind)
    let database = fixture.database, order = Order()
    let hold = await WriterHold(database)
    var tasks: [Task<Void, any Error>] = []
    for number in 0..<300 {
      tasks.append(Task { try await database.write { _ in order.append(number) } })
      try await waitForWaitingAccesses(number + 1, database)
    }
    for (number, task) in tasks.enumerated() where number % 3 != 1 { task.cancel() }
    try await waitForWaitingAccesses(100, database)
    for number in 300..<400 {
      tasks.append(Task { try await database.write { _ in order.append(number) } })
      try await waitForWaitingAccesses(number - 199, database)
    }
    hold.release()
    for (number, task) in tasks.enumerated() where number % 3 == 1 || number >= 300 {
      try await task.value
    }
    #expect(order.numbers == (0..<300).filter { $0 % 3 == 1 } + Array(300..<400))
  }

  @Test func `reads and writes of a database in memory run in one order`() async throws {
    let database = try Database.fresh()
    let order = Order()
    let hold = await WriterHold(database)
    var tasks: [Task<Void, any Error>] = []
    for number in 0..<40 {
      tasks.append(
        Task {
          if number % 2 == 0 {
            try await database.read { _ in order.append(number) }
          } else {
            try await database.writeInGroup { _ in order.append(number) }
          }
        })
      try await waitForWaitingAccesses(number + 1, database)
    }
    hold.release()
    for task in tasks { try await task.value }
    #expect(order.numbers == Array(0..<40))
  }

  @Test func `writes don't wait for reads, and reads don't wait for writes`() async throws {
    var options = Database.Options()
    options.maximumReaderCount = 1
    let fixture = try Fixture(.file, options)
    let database = fixture.database
    let entered = DispatchSemaphore(value: 0), leave = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      _ = sqliteError {
        try database.read { _ in
          entered.signal()
          leave.wait()
        }
      }
    }
    await wait(for: entered)
    let reads = (0..<1_000).map { _ in Task { try await database.read { _ in } } }
    try await waitForWaitingAccesses(1_000, database)
    try await database.write { _ in }
    let hold = await WriterHold(database)
    let writes = (0..<1_000).map { _ in Task { try await database.write { _ in } } }
    try await waitForWaitingAccesses(2_000, database)
    leave.signal()
    for read in reads { try await read.value }
    #expect(database.waitingAccessCount == 1_000)
    hold.release()
    for write in writes { try await write.value }
  }

  @Test func `suspending rejects all waiting accesses, and resuming allows new ones`() async throws
  {
    let database = try Database.fresh()
    let hold = await WriterHold(database)
    let far = ContinuousClock.now + .seconds(3_600)
    let tasks = (0..<1_000).map { number in
      Task { try await database.write(deadline: number % 2 == 0 ? nil : far) { _ in } }
    }
    try await waitForWaitingAccesses(1_000, database)
    let suspension = Task { try await database.suspend() }
    for task in tasks {
      let error = await #expect(throws: SQLiteError.self) { try await task.value }
      #expect(error?.code == .abort)
    }
    #expect(database.pendingDeadlineCount == 0)
    hold.release()
    try await suspension.value
    database.resume()
    try await database.write { _ in }
  }

  @Test func `a thousand actions that wait for the same reads run once each`() async throws {
    let fixture = try Fixture(.file)
    let database = fixture.database, order = Order()
    let ran = DispatchSemaphore(value: 0)
    try await database.read { _ in
      for number in 0..<1_000 {
        let isWaiting = database.afterCurrentReads { _ in
          order.append(number)
          ran.signal()
        }
        #expect(isWaiting)
      }
    }
    for _ in 0..<1_000 { await wait(for: ran) }
    #expect(order.numbers.sorted() == Array(0..<1_000))
  }
}
