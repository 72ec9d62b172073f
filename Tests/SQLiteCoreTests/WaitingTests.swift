import Conformance
import Dispatch
import Foundation
import SQLiteCore
import Synchronization
import TestSupport
import Testing

/// Many accesses that wait: none of them may look at all others. That these tests end at all shows it,
/// since a hundred thousand that each look at a hundred thousand take minutes.
@Suite(.serialized, .timeLimit(.minutes(40)), .everyEngine, .requires(.interruption))
struct WaitingTests {
  static let crowd = 100_000

  /// Numbers, in the order in which they came.
  private final class Order: Sendable {
    private let stored = Mutex<[Int]>([])
    var numbers: [Int] { stored.withLock { $0 } }
    func append(_ number: Int) { stored.withLock { $0.append(number) } }
  }

  /// Waits until exactly so many accesses wait.
  private func whenWaiting(_ count: Int, _ database: Database) async throws {
    try await waitUntil { database.waitingAccessCount == count }
  }

  @Test func `a hundred thousand wait with a deadline each, half give up, half are let in`()
    async throws
  {
    let database = try Database.fresh()
    let hold = await WriterHold(database)
    let day = ContinuousClock.now + .seconds(86_400)
    let tasks = (0..<Self.crowd).map { number in
      Task {
        // Not in the order of the deadlines.
        try await database.withoutTransaction(
          deadline: day + .seconds(number * 7_919 % Self.crowd)
        ) { _ in }
      }
    }
    try await whenWaiting(Self.crowd, database)
    #expect(database.pendingDeadlineCount == Self.crowd)
    for number in stride(from: Self.crowd - 1, to: 0, by: -2) { tasks[number].cancel() }
    try await whenWaiting(Self.crowd / 2, database)
    #expect(database.pendingDeadlineCount == Self.crowd / 2)
    hold.release()
    var (cancelled, letIn) = (0, 0)
    for task in tasks {
      do {
        try await task.value
        letIn += 1
      } catch is CancellationError {
        cancelled += 1
      }
    }
    #expect(cancelled == Self.crowd / 2)
    #expect(letIn == Self.crowd / 2)
    #expect(database.pendingDeadlineCount == 0)
    #expect(database.waitingAccessCount == 0)
  }

  @Test func `those whose deadlines pass give up, the others do not`() async throws {
    let database = try Database.fresh()
    let hold = await WriterHold(database)
    let early = ContinuousClock.now + .milliseconds(100), late = early + .seconds(3_600)
    let patient = (0..<500).map { _ in
      Task { try await database.withoutTransaction(deadline: late) { _ in } }
    }
    try await whenWaiting(500, database)
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
  func `writes are let in in the order in which they came, also if some give up`(
    kind: Kind
  ) async throws {
    let fixture = try Fixture(kind)
    let database = fixture.database, order = Order()
    let hold = await WriterHold(database)
    var tasks: [Task<Void, any Error>] = []
    for number in 0..<300 {
      tasks.append(Task { try await database.write { _ in order.append(number) } })
      try await whenWaiting(number + 1, database)
    }
    for (number, task) in tasks.enumerated() where number % 3 != 1 { task.cancel() }
    try await whenWaiting(100, database)
    for number in 300..<400 {
      tasks.append(Task { try await database.write { _ in order.append(number) } })
      try await whenWaiting(number - 199, database)
    }
    hold.release()
    for (number, task) in tasks.enumerated() where number % 3 == 1 || number >= 300 {
      try await task.value
    }
    #expect(order.numbers == (0..<300).filter { $0 % 3 == 1 } + Array(300..<400))
  }

  @Test func `reads and writes of a database in memory are let in in one order`() async throws {
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
      try await whenWaiting(number + 1, database)
    }
    hold.release()
    for task in tasks { try await task.value }
    #expect(order.numbers == Array(0..<40))
  }

  @Test func `writes do not wait for reads, nor reads for writes`() async throws {
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
    try await whenWaiting(1_000, database)
    try await database.write { _ in }
    let hold = await WriterHold(database)
    let writes = (0..<1_000).map { _ in Task { try await database.write { _ in } } }
    try await whenWaiting(2_000, database)
    leave.signal()
    for read in reads { try await read.value }
    #expect(database.waitingAccessCount == 1_000)
    hold.release()
    for write in writes { try await write.value }
  }

  @Test func `suspending tells all that wait, and lets others in later`() async throws {
    let database = try Database.fresh()
    let hold = await WriterHold(database)
    let far = ContinuousClock.now + .seconds(3_600)
    let tasks = (0..<1_000).map { number in
      Task { try await database.write(deadline: number % 2 == 0 ? nil : far) { _ in } }
    }
    try await whenWaiting(1_000, database)
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

  @Test func `a thousand who wait for the same reads are told once each`() async throws {
    let fixture = try Fixture(.file)
    let database = fixture.database, order = Order()
    let told = DispatchSemaphore(value: 0)
    try await database.read { _ in
      for number in 0..<1_000 {
        let isWaiting = database.afterPresentReads { _ in
          order.append(number)
          told.signal()
        }
        #expect(isWaiting)
      }
    }
    for _ in 0..<1_000 { await wait(for: told) }
    #expect(order.numbers.sorted() == Array(0..<1_000))
  }
}
