import Foundation
import SQLiteObjects
import Synchronization
import TestSupport
import Testing

/// One object that several tasks use, as in the article on transactions.
@Suite struct SharedObjectTests {
  private struct Counter: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var count: Int = 0
    @MagicValue var text: String = ""

    init() {}
  }

  @Test func `increments of a shared object inside transactions are never lost`() async throws {
    let magic = try await MagicData(type: .memory)
    let counter = Counter()
    try await magic.update(counter)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<100 {
            try await magic.transaction {
              counter.count += 1
              try magic.update(counter)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(counter.count == 400)
    let stored = try await magic.object(of: Counter.self, primary: counter.id)
    #expect(stored.count == 400)
  }

  @Test func `a property that several tasks set always has one of their values`() async throws {
    let counter = Counter()
    let texts = (0..<4).map { String(repeating: "\($0)", count: 100) }
    counter.text = texts[0]
    await withTaskGroup(of: Bool.self) { group in
      for text in texts {
        group.addTask {
          (0..<1_000).allSatisfy { _ in
            counter.text = text
            return texts.contains(counter.text)
          }
        }
      }
      for await isWhole in group { #expect(isWhole) }
    }
  }

  /// A class that promises to be shared by several tasks.
  private final class Bond: MagicObject, @unchecked Sendable {
    @PrimaryMagicValue var id: Int
    @OptionalMagicValue var next: Bond?

    /// The number of threads that must create an instance before any of them continues.
    static let threads = Mutex(0)

    init() {
      guard Bond.threads.withLock({ $0 }) > 0 else { return }
      Bond.threads.withLock { $0 -= 1 }
      while Bond.threads.withLock({ $0 }) > 0 { sched_yield() }
    }
  }

  @Test func `tasks that read a relation to a class at the same time get the same instance`()
    async throws
  {
    let magic = try await MagicData(type: .memory)
    let first = Bond()
    first.next = Bond()
    try await magic.update(first)
    let fetched = try await magic.object(of: Bond.self, primary: 1)
    Bond.threads.withLock { $0 = 2 }
    let found = Mutex<[Bond?]>([])
    let threads = (0..<2).map { _ in
      Thread {
        let next = fetched.next
        found.withLock { $0.append(next) }
      }
    }
    for thread in threads { thread.start() }
    try await waitUntil { threads.allSatisfy(\.isFinished) }
    let instances = found.withLock { $0 }
    #expect(instances[0] != nil)
    #expect(instances[0] === instances[1])
    #expect(fetched.next === instances[0])
  }

  @Test func `an object fetched by a background task can be used on the main actor`() async throws {
    let magic = try await MagicData(type: .memory)
    let counter = Counter()
    counter.text = "shown"
    try await magic.update(counter)
    let id = counter.id
    let fetched = try await Task.detached { try await magic.object(of: Counter.self, primary: id) }
      .value
    let text = await MainActor.run { fetched.text }
    #expect(text == "shown")
  }
}
