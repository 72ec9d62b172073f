import SQLiteObjects
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
