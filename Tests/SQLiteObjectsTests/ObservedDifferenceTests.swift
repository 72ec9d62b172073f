import Conformance
import Foundation
import MagicData
import Synchronization
import Testing
import TestSupport

private struct Town: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var size: Int
  @MagicValue var height: Double
  @OptionalMagicValue var mayor: String?
  init() {
    name = ""
    size = 1
    height = 0
  }
  init(_ name: String, _ size: Int) {
    self.init()
    self.name = name
    self.size = size
  }
}

private struct Street: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var length: Int
  @OptionalMagicValue var next: Street?
  @MagicValue var houses: [House]
  @OptionalMagicValue var map: MagicAsset<Data>?
  init() {
    name = ""
    length = 0
    houses = []
  }
  init(_ name: String, _ length: Int) {
    self.init()
    self.name = name
    self.length = length
  }
}

private struct House: MagicObject, Equatable, Sendable {
  @MagicValue var number: Int
  init() { number = 0 }
  init(_ number: Int) { self.number = number }
  static func == (left: House, right: House) -> Bool { left.number == right.number }
}

@Suite(.everyEngine, .timeLimit(.minutes(40))) struct ObservedDifferenceTests {
  @Test func `applying each difference to a list reproduces the query's result`() async throws {
    let magic = try await MagicData.fresh(.temporary)
    var random = SplitMix64(seed: 20_261_122)
    try await magic.update((0..<20).map { Town("t\($0)", $0) })
    var changes = magic.observe(Town.where(\.$size > 3).ordered(by: .ascending(\.$name)).limit(300))
      .differences().makeAsyncIterator()
    var shown: [Int] = []
    var (shownNames, moves, updates) = ([Int: String](), 0, 0)
    for round in 0..<200 {
      let change = try #require(try await changes.next())
      #expect(change.objects.map(\.id) == change.identities)
      let before = shown
      shown = try #require(shown.applying(change.difference), "round \(round)")
      try #require(shown == change.identities, "round \(round)")
      let updated = Set(change.updated.map { change.identities[$0] })
      for town in change.objects {
        let isUpdate = before.contains(town.id) && shownNames[town.id] != town.name
        #expect(updated.contains(town.id) == isUpdate)
        shownNames[town.id] = town.name
      }
      moves += change.difference.insertions.count { insertion in
        if case .insert(_, _, let partner) = insertion { partner != nil } else { false }
      }
      updates += updated.count
      // Every choice changes the result.
      let magic = magic
      let choice = Int.random(in: 0..<4, using: &random)
      let name = "t\(Int.random(in: 0..<1_000_000, using: &random))"
      let place = Int.random(in: 0..<100, using: &random)
      try await magic.transaction {
        let towns = try magic.objects(
          of: Town.self, where: \.$size > 3, orderedBy: [.ascending(\.$name)], limit: 300)
        let town = towns[place % towns.count]
        switch choice {
        case 0 where towns.count > 5: try magic.remove(town)
        case 1: try magic.update(Town("a\(name)", 50))
        default:
          town.name = name
          try magic.update(town)
          try magic.update(Town("b\(name)", 60))
        }
      }
    }
    #expect(moves > 10)
    #expect(updates > 10)
  }

  @Test func `reversing 20,000 objects yields a difference that keeps one of them`() async throws {
    let magic = try await MagicData.fresh()
    let count = 20_000
    try await magic.update((0..<count).map { Town("", $0) })
    var changes = magic.observe(Town.ordered(by: .ascending(\.$height), .ascending(\.$size)))
      .differences().makeAsyncIterator()
    #expect(try await changes.next()?.difference.insertions.count == count)
    try await magic.database.executeChange("UPDATE Town SET height = -size")
    let change = try #require(try await changes.next())
    #expect(change.difference.insertions.count == count - 1)
    #expect(change.difference.removals.count == count - 1)
    #expect(change.updated.count == count - 1)
  }

  // Without the hook, SQLite doesn't report changes of links, because their tables have no rowids.
  @Test(.needsPreupdateHook)
  func `changed links, targets and assets mark an object as updated`() async throws {
    let magic = try await MagicData.fresh(.temporary)
    let (long, short) = (Street("long", 9), Street("short", 1))
    short.next = long
    long.houses = [House(1), House(2)]
    try await magic.update([long, short, Street("other", 3)])
    var changes = magic.observe(Street.ordered(by: .ascending(\.$length))).differences()
      .makeAsyncIterator()
    #expect(try await changes.next()?.updated == [])
    long.houses[1].number = 3
    try await magic.update(long.houses[1])
    // `short` references `long`, so it is updated, too.
    #expect(try await changes.next()?.updated == [0, 2])
    long.houses.removeLast()
    try await magic.update(long)
    #expect(try await changes.next()?.updated == [0, 2])
    short.map = MagicAsset(value: Data([1]))
    try await magic.update(short)
    #expect(try await changes.next()?.updated == [0])
    short.map?.set(Data([2]))
    try await magic.update(short)
    let last = try #require(try await changes.next())
    #expect(last.updated == [0])
    #expect(last.difference.isEmpty)
  }

  @Test func `differences are available only for queries of objects`() async throws {
    let magic = try await MagicData.fresh()
    try await magic.update(House(1))
    let houses = magic.observe { try $0.objects(of: House.self) }
    var others = houses.differences().makeAsyncIterator()
    await #expect(throws: SQLiteError.self) { try await others.next() }
    var towns = magic.observe(Town.all).differences().makeAsyncIterator()
    #expect(try await towns.next()?.objects.isEmpty == true)
  }

  @Test(.requires(.tracing), .needsPreupdateHook)
  func `commits that can't match run no query, whatever the result size`() async throws {
    for size in [10, 1_000] {
      let (queries, results) = (Counter(), Counter())
      var options = Database.Options()
      options.prepareConnection = { connection in
        try connection.trace { event in
          if case .begins(let sql) = event, sql.contains("FROM \"Town\"") { queries.increase() }
        }
      }
      let folder = try TestFolder()
      let magic = try await MagicData.at(folder.path, options: options)
      try await magic.update((0..<size).map { Town("t\($0)", 100 + $0) })
      let loops = [
        Task {
          try await Self.count(
            results, of: magic.observe(Town.where(\.$size >= 100 && \.$name != "end")))
        },
        Task { try await Self.count(results, of: magic.observe(Town.where(\.$size >= 100).count)) },
        Task {
          try await Self.count(
            results, of: magic.observe(Town.where(!(\.$size < 100)).aggregate(.sum(\.$size))))
        },
        Task {
          try await Self.count(
            results, of: magic.observe(Town.where(\.$mayor == nil && \.$size > 99).values(\.$name)))
        },
      ]
      // Each town of this size changes all results, so each loop runs one query for it. The start can cause another
      // query: repeat until none is left.
      var rounds = 1
      func runsOneQueryPerLoop() async throws -> Bool {
        let before = queries.value
        try await magic.update(Town("large \(rounds)", 100))
        rounds += 1
        try await waitUntil { results.value >= rounds * loops.count }
        return queries.value == before + loops.count
      }
      try await waitUntil { results.value >= loops.count }
      while try await !runsOneQueryPerLoop() {}
      let before = queries.value
      for number in 0..<100 {
        try await magic.database.executeChange(
          "INSERT INTO Town (name, size, height) VALUES ('small', \(number % 90), 0.5)")
        try await magic.database.executeChange("UPDATE Town SET size = 0 WHERE size < 50")
      }
      try await magic.database.executeChange("DELETE FROM Town WHERE size < 90")
      // When all results include the next town, the loops have also processed the commits before it.
      _ = try await runsOneQueryPerLoop()
      // The raw SQL above doesn't quote the table name, so its statements aren't counted.
      #expect(queries.value == before + loops.count)
      for loop in loops { loop.cancel() }
      for loop in loops { #expect(try await loop.value >= 1) }
    }
  }

  private static func count<Result>(
    _ counter: Counter, of results: ObservedResults<Result>
  ) async throws -> Int {
    var count = 0
    for try await _ in results {
      count += 1
      counter.increase()
    }
    return count
  }

  @Test func `the observed result is current after each of 1,000 random commits`() async throws {
    let magic = try await MagicData.fresh(.temporary)
    try await magic.update((0..<10).map { Town("t\($0)", $0) })
    let filters: [Filter<Town>] = [
      \.$size > 3, \.$name == "t1" || \.$name == "t2", !(\.$size >= 5) && \.$height < 1,
      \.$mayor == nil, \.$mayor != "x", (\Town.$name).hasPrefix("t1"),
      (\Town.$size).isIn([1, 2, 3]), \.$id > 8, \.$height > 0.5, !(\.$mayor == "x" || \.$size == 2),
    ]
    var random = SplitMix64(seed: 7)
    for (number, filter) in filters.enumerated() {
      var found = magic.observe(Town.where(filter).limit(7, offset: number % 2).values(\.$id))
        .makeAsyncIterator()
      var last: [Int]?
      for round in 0..<100 {
        let present = try await magic.fetch(
          Town.where(filter).limit(7, offset: number % 2).values(\.$id))
        if present != last {
          try #require(try await found.next() == present, "filter \(number), round \(round)")
          last = present
        }
        let name = "t\(Int.random(in: 0..<4, using: &random))"
        let mayor = Bool.random(using: &random) ? "x" : nil
        let size = Int.random(in: 0..<8, using: &random)
        let id = Int.random(in: 1..<16, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: try await magic.database.executeChange("DELETE FROM Town WHERE id = \(id)")
        case 1:
          try await magic.database.executeChange(
            "INSERT OR REPLACE INTO Town (id, name, size, height, mayor) VALUES (\(id), \(name), \(size), \(size), \(mayor))"
          )
        case 2:
          try await magic.database.executeChange(
            "UPDATE Town SET mayor = \(mayor) WHERE size = \(size)")
        case 3:
          try await magic.database.executeChange(
            "UPDATE Town SET height = \(Double(size) / 2), size = \(size) WHERE id = \(id)")
        case 4:
          try await magic.database.executeChange(
            "UPDATE OR IGNORE Town SET id = \(id) WHERE id = \(id + 1)")
        default:
          try await magic.update(Town(name, size))
          if size == 0 { try await magic.database.executeChange("DELETE FROM Town") }
        }
      }
    }
  }

  @Test func `rows from before a column was added are matched by its default`() async throws {
    let magic = try await MagicData.fresh(.temporary)
    try await magic.update(Town("a", 1))
    try await magic.database.executeChange("ALTER TABLE Town DROP COLUMN size")
    try await magic.update(Town("b", 5))
    var count = magic.observe(Town.where(\.$size == 1).count).makeAsyncIterator()
    #expect(try await count.next() == 1)
    try await magic.database.executeChange("DELETE FROM Town WHERE name = 'a'")
    #expect(try await count.next() == 0)
  }
}

/// A thread-safe counter.
private final class Counter: Sendable {
  private let count = Atomic(0)
  var value: Int { count.load(ordering: .relaxed) }
  func increase() { count.add(1, ordering: .relaxed) }
}
