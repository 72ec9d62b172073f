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

  /// Calls `query`, signals before it, and again after it has suspended or ended.
  func call<Result: Sendable>(
    _ began: DispatchSemaphore, _ free: DispatchSemaphore,
    _ query: nonisolated(nonsending) @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    // On this actor, one behind the other: a call that blocks the thread lets the second one wait.
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

  /// Runs a query of a store that has met no type, while somebody uses the only connection until the task's
  /// thread is free; returns nil for a query that has blocked it.
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
        // A call that blocks its thread is told by this alone, so it may be long.
        let wasFreedInTime = free.wait(timeout: .now() + 60) == .success
        wasFreed.withLock { $0 = wasFreedInTime }
      }
    }
    await Task.detached { Self.wait(held) }.value
    let result = try await Caller().call(began, free) { try await query(store) }
    return wasFreed.withLock { $0 } ? result : nil
  }

  private static func wait(_ semaphore: DispatchSemaphore) { semaphore.wait() }

  @Test func `a count by the objects that lead to each does not block the task`() async throws {
    let count = try await resultUnlessBlocking {
      try await $0.count(of: TramStop.self, where: (\TramStop.$routes).isEmpty)
    }
    #expect(count == 1)
  }

  @Test func `a fetch by the objects that each leads to does not block the task`() async throws {
    let names = try await resultUnlessBlocking {
      try await $0.objects(of: TramStop.self, where: (\TramStop.$routes).count == 1).map(\.name)
    }
    #expect(names.map { Set($0) } == ["North", "South"])
  }

  @Test func `values sorted by the number of objects do not block the task`() async throws {
    let names = try await resultUnlessBlocking {
      try await $0.fetch(
        TramStop.ordered(by: .ascending((\TramStop.$routes).count), .ascending(\.$name)).values(
          \.$name))
    }
    #expect(names == ["Nowhere", "North", "South"])
  }

  @Test func `a change of many objects does not block the task`() async throws {
    let count = try await resultUnlessBlocking {
      try await $0.removeAll(TramStop.where((\TramStop.$routes).isEmpty))
    }
    #expect(count == 1)
  }

  @Test func `relations without tables lead nowhere, asked without blocking the task`() async throws
  {
    let other = try TestFolder()
    try await MagicData.at(other.path).update(TramStop("Nowhere"))
    let store = try await MagicData.at(other.path)
    #expect(try await store.count(of: TramStop.self, where: (\TramStop.$routes).isEmpty) == 1)
  }
}
