import Conformance
import Dispatch
import SQLiteObjects
import Synchronization
import Testing
import TestSupport

private struct TramStop: MagicObject {
  @PrimaryMagicValue var name: String
  @ReverseMagicValue(\TramRoute.$stops) var routes: AsyncReverseMagicSet<TramRoute>

  init() {}

  init(_ name: String) {
    self.init()
    self.name = name
  }
}

private struct TramRoute: MagicObject {
  @PrimaryMagicValue var number: Int
  @MagicValue var stops: [TramStop] = []
}

/// Runs its jobs on one thread, in order.
private final class QueueExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "QueueExecutor")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}

private actor Caller {
  private let executor = QueueExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  /// Calls `query`. Signals `began` before the call, and `free` when it has suspended or returned.
  func call<Result: Sendable>(
    _ began: DispatchSemaphore, _ free: DispatchSemaphore,
    _ query: nonisolated(nonsending) @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    // Both tasks run on this actor, in order. A call that blocks the thread makes the second one
    // wait.
    let calling = Task {
      began.signal()
      return try await isolated(query)
    }
    let signalling = Task { await isolated { _ = free.signal() } }
    await signalling.value
    return try await calling.value
  }

  private func isolated<Result: Sendable>(
    _ body: nonisolated(nonsending) @Sendable () async throws -> Result
  ) async rethrows -> Result {
    try await body()
  }
}

@Suite(.everyEngine) struct UnknownTablesTests {
  let folder: TestFolder

  init() throws {
    folder = try TestFolder()
    let stops = ["North", "South"].map { TramStop($0) }
    let route = TramRoute()
    route.stops = stops
    try MagicData.at(folder.path).update(route)
    try MagicData.at(folder.path).update(TramStop("Nowhere"))
  }

  /// Runs a query on a store that has used no type yet, while its only connection is busy until the
  /// task's thread is free. Returns nil if the query blocked the thread.
  private func resultUnlessBlocking<Result: Sendable>(
    _ query: nonisolated(nonsending) @escaping @Sendable (MagicData) async throws -> Result
  ) async throws -> Result? {
    var options = Database.Options()
    options.maximumReaderCount = 0
    let store = try await MagicData.at(folder.path, options: options)
    let held = DispatchSemaphore(value: 0)
    let (began, free) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let wasFreed = Mutex(false)
    DispatchQueue(label: "holder").async {
      try? store.database.write { _ in
        held.signal()
        began.wait()
        // Only a call that blocks its thread reaches this timeout, so it can be long.
        let wasFreedInTime = free.wait(timeout: .now() + 60) == .success
        wasFreed.withLock { $0 = wasFreedInTime }
      }
    }
    await Task.detached { Self.wait(held) }.value
    let result = try await Caller().call(began, free) { try await query(store) }
    return wasFreed.withLock { $0 } ? result : nil
  }

  private static func wait(_ semaphore: DispatchSemaphore) { semaphore.wait() }

  @Test func `a count by a reverse relation doesn't block the task`() async throws {
    let count = try await resultUnlessBlocking {
      try await $0.count(of: TramStop.self, where: (\TramStop.$routes).isEmpty)
    }
    #expect(count == 1)
  }

  @Test func `a fetch by a reverse relation doesn't block the task`() async throws {
    let names = try await resultUnlessBlocking {
      try await $0.objects(of: TramStop.self, where: (\TramStop.$routes).count == 1).map(\.name)
    }
    #expect(names.map { Set($0) } == ["North", "South"])
  }

  @Test func `sorting values by a count of related objects doesn't block the task`() async throws {
    let names = try await resultUnlessBlocking {
      try await $0.fetch(
        TramStop.ordered(by: .ascending((\TramStop.$routes).count), .ascending(\.$name)).values(
          \.$name))
    }
    #expect(names == ["Nowhere", "North", "South"])
  }

  @Test func `a removal by a filter doesn't block the task`() async throws {
    let count = try await resultUnlessBlocking {
      try await $0.removeAll(TramStop.where((\TramStop.$routes).isEmpty))
    }
    #expect(count == 1)
  }

  @Test func `relations without tables are empty`() async throws {
    let other = try TestFolder()
    try await MagicData.at(other.path).update(TramStop("Nowhere"))
    let store = try await MagicData.at(other.path)
    #expect(try await store.count(of: TramStop.self, where: (\TramStop.$routes).isEmpty) == 1)
  }
}
