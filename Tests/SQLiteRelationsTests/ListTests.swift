import Conformance
import SQLiteCore
import SQLiteRelations
import Testing
import TestSupport

@Suite(.everyEngine) struct ListTests {
  @Test func `a list keeps its order and its duplicates`() throws {
    let fixture = try LinkFixture(.list)
    _ = try fixture.setList(of: 1, to: [3, 1, 3, 2])
    #expect(try fixture.targets(of: 1) == [3, 1, 3, 2])
  }

  @Test func `setting an equal list writes nothing`() throws {
    let fixture = try LinkFixture(.list)
    _ = try fixture.setList(of: 1, to: [3, 1, 3, 2])
    let cost = try fixture.setList(of: 1, to: [3, 1, 3, 2])
    #expect(cost.rows == 0)
    #expect(cost.statements == 1)
  }

  @Test func `inserting one element anywhere writes one row`() throws {
    let fixture = try LinkFixture(.list)
    var list = Array(1...20).map { Int64($0) }
    _ = try fixture.setList(of: 1, to: list)
    for place in [0, 10, 22] {
      list.insert(50, at: place)
      #expect(try fixture.setList(of: 1, to: list).rows == 1)
      #expect(try fixture.targets(of: 1) == list)
    }
  }

  @Test func `moving one element writes two rows`() throws {
    let fixture = try LinkFixture(.list)
    var list = Array(1...50).map { Int64($0) }
    _ = try fixture.setList(of: 1, to: list)
    list.append(list.removeFirst())
    #expect(try fixture.setList(of: 1, to: list).rows == 2)
    list.swapAt(10, 40)
    #expect(try fixture.setList(of: 1, to: list).rows == 4)
    #expect(try fixture.targets(of: 1) == list)
  }

  @Test(arguments: [UInt64(1), 2, 3, 4, 5, 6, 7, 8])
  func `random edits produce the same lists as a model`(seed: UInt64) throws {
    let fixture = try LinkFixture(.list)
    var random = SplitMix64(seed: seed)
    var models: [Int64: [Int64]] = [:]
    for _ in 0..<150 {
      let owner = Int64.random(in: 1...3, using: &random)
      var list = models[owner, default: []]
      switch Int.random(in: 0..<6, using: &random) {
      case 0: list.shuffle(using: &random)
      case 1: list.removeAll { $0 % 3 == 0 }
      case 2: list = (0..<10).map { _ in Int64.random(in: 1...50, using: &random) }
      case 3 where !list.isEmpty: list.remove(at: Int.random(in: 0..<list.count, using: &random))
      default:
        let place = Int.random(in: 0...list.count, using: &random)
        list.insert(Int64.random(in: 1...50, using: &random), at: place)
      }
      models[owner] = list
      _ = try fixture.setList(of: owner, to: list)
      for owner in Int64(1)...3 {
        #expect(try fixture.targets(of: owner) == models[owner, default: []])
      }
    }
    #expect(try fixture.violations() == 0)
  }

  @Test(arguments: [0.0, 0.5, 1.0])
  func `repeated insertions at the same index move few other rows`(where fraction: Double) throws {
    let fixture = try LinkFixture(.list)
    var list = Array(repeating: Int64(1), count: 100)
    _ = try fixture.setList(of: 1, to: list)
    var rows = 0
    for number in 0..<1000 {
      // An insertion in the middle is always at the same index, which uses up positions fastest.
      let place = fraction == 0.5 ? 50 : Int(Double(list.count) * fraction)
      list.insert(Int64(number % 49) + 2, at: place)
      rows += try fixture.setList(of: 1, to: list).rows
    }
    #expect(try fixture.targets(of: 1) == list)
    #expect(rows < 10_000)
  }

  @Test func `a gap that is used up is widened locally`() throws {
    let fixture = try LinkFixture(.list)
    _ = try fixture.setList(of: 1, to: Array(repeating: 1, count: 1000))
    try fixture.database.executeChange(
      "UPDATE links SET position = (SELECT position FROM links ORDER BY position LIMIT 1 OFFSET 499) + 1 WHERE position = (SELECT position FROM links ORDER BY position LIMIT 1 OFFSET 500)"
    )
    var list = Array(repeating: Int64(1), count: 1000)
    list.insert(2, at: 500)
    let cost = try fixture.setList(of: 1, to: list)
    #expect(cost.rows <= 5)
    #expect(try fixture.targets(of: 1) == list)
  }

  @Test(arguments: [(Int64.min, Int64.max), (.min, .min + 1), (.max - 1, .max)])
  func `positions at the limits of Int64 leave room for insertions`(
    first: Int64, second: Int64
  ) throws {
    let fixture = try LinkFixture(.list)
    try fixture.database.write { connection in
      try connection.executeChange("INSERT INTO links VALUES (1, \(first), 1), (1, \(second), 2)")
    }
    let list: [Int64] = [3, 1, 4, 2, 5]
    _ = try fixture.setList(of: 1, to: list)
    #expect(try fixture.targets(of: 1) == list)
  }

  @Test func `inserting before 100,000 elements writes one row`() throws {
    let fixture = try LinkFixture(.list, targets: 100_001)
    var list = (1...100_000).map { Int64($0) }
    _ = try fixture.setList(of: 1, to: list)
    list.insert(100_001, at: 0)
    let clock = ContinuousClock()
    var cost = (rows: 0, statements: 0)
    let time = try clock.measure { cost = try fixture.setList(of: 1, to: list) }
    #expect(cost.rows == 1)
    #expect(cost.statements == 2)
    #expect(time < .seconds(5))
  }
}
