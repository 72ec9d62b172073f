import Conformance
import Foundation
import MagicData
import Testing
import TestSupport

private struct Counter: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var owner: Int
  @MagicValue var a: Int = 0
  @MagicValue var b: Int = 0

  init() {}
  init(owner: Int) { self.owner = owner }
}

/// A class that isn't `Sendable` and has a property that isn't stored.
private final class Draft: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var text: String
  @OptionalMagicValue var next: Draft?
  var selection = 0

  private enum CodingKeys: String, CodingKey { case id, text, next }

  init() {}
  init(_ text: String) { self.text = text }
}

private struct Wide: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var flag: Bool
  @MagicValue var small: Int8
  @MagicValue var long: Int64
  @MagicValue var unsigned: UInt32
  @MagicValue var real: Double
  @MagicValue var float: Float
  @MagicValue var text: String
  @MagicValue var bytes: [UInt8]
  @MagicValue var data: Data
  @MagicValue var date: Date
  @MagicValue var uuid: UUID
  @MagicValue var url: URL
  @MagicValue var price: Decimal
  @MagicValue var level: Level
  @MagicValue var list: [String]
  @MagicValue var map: [String: Int]
  @OptionalMagicValue var maybe: Level?

  init() {}

  init(_ number: Int, _ random: inout SplitMix64) throws {
    flag = number % 2 == 0
    small = Int8(truncatingIfNeeded: number)
    long = .random(in: .min ... .max, using: &random)
    unsigned = .random(in: .min ... .max, using: &random)
    real = .random(in: -1e9...1e9, using: &random)
    float = .random(in: -1...1, using: &random)
    text = Engine.text("text \(number)\0é")
    bytes = [UInt8(truncatingIfNeeded: number), 0]
    data = Data(repeating: 7, count: number % 5)
    date = Date(timeIntervalSinceReferenceDate: .random(in: -1e9...1e9, using: &random))
    uuid = UUID()
    url = try #require(URL(string: "https://example.com/\(number)?q=%20"))
    price = Decimal(number) / 100
    level = .high
    list = ["a", "\(number)"]
    map = ["x": number]
    maybe = number % 3 == 0 ? .low : nil
  }

  var description: String {
    "\(flag) \(small) \(long) \(unsigned) \(real) \(float) \(text) \(bytes) \(data.count) "
      + "\(date.timeIntervalSinceReferenceDate) \(uuid) \(url) \(price) \(level) \(list) \(map) "
      + "\(maybe.map { "\($0)" } ?? "-")"
  }
}

@Suite(.everyEngine) struct ConcurrencyTests {
  let magic: MagicData

  init() async throws { magic = try await MagicData.fresh(.temporary) }

  @Test func `concurrent updates by eight tasks are never lost`() async throws {
    let magic = magic
    let last = Engine.current == .cluster ? 100 : 1_000
    let counters = (0..<8).map { Counter(owner: $0) }
    try await magic.update(counters)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for owner in 0..<8 {
        group.addTask {
          for number in 1...last {
            // Tasks 2n and 2n + 1 change different properties of the same object.
            let fetched = try await magic.object(of: Counter.self, primary: owner / 2 * 2 + 1)
            if owner % 2 == 0 { fetched.a = number } else { fetched.b = number }
            try await magic.update(fetched)
          }
        }
      }
      try await group.waitForAll()
    }
    let found = try await magic.objects(of: Counter.self, where: \.$a > 0)
    #expect(found.map(\.id) == [1, 3, 5, 7])
    #expect(found.allSatisfy { $0.a == last && $0.b == last })
  }

  @Test func `many tasks can set a shared object's property at the same time`() async throws {
    let counter = Counter(owner: 1)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask { for number in 0..<1_000 { counter.a = number } }
      }
    }
    #expect(counter.a == 999)
  }

  @Test func `class objects keep their identity and their plain properties`() async throws {
    let draft = Draft("a")
    draft.selection = 3
    draft.next = draft
    try await magic.update(draft)
    #expect(draft.selection == 3)
    let found = try await magic.object(of: Draft.self, primary: draft.id)
    #expect(found.next === found)
    found.text = "b"
    try await magic.update(found)
    #expect(try await magic.object(of: Draft.self).map(\.text) == ["b"])
  }

  @Test func `thousands of objects of all types are fetched as they were saved`() async throws {
    var random = SplitMix64(seed: 5)
    var objects: [Wide] = []
    let count = Engine.current == .cluster ? 1_000 : 10_000
    for number in 0..<count { objects.append(try Wide(number, &random)) }
    try await magic.update(objects)
    let found = try await magic.object(of: Wide.self)
    #expect(found.map(\.description) == objects.map(\.description))
    #expect(found.map(\.id) == Array(1...count))
  }
}
