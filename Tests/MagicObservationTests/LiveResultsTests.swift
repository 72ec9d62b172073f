import Foundation
import MagicData
import MagicObservation
import Synchronization
import Testing
import TestSupport

@MainActor @Suite(.timeLimit(.minutes(40))) struct LiveResultsTests {
  let magic: MagicData

  init() throws {
    magic = try MagicData(type: .memory)
    try magic.update([Ship("Vasa", in: "Stockholm", tons: 1_210), Ship("Gjøa", tons: 45)])
  }

  private func save(_ ships: Ship...) async throws {
    let ships = ships
    try await magic.update(ships)
  }

  @Test func `each kind of request has live results`() async throws {
    let heavy = LiveResults(Ship.where(\.$tons > 100), in: magic)
    let first = LiveResults(Ship.ordered(by: .ascending(\.$name)).first, in: magic)
    let count = LiveResults(Ship.all.count, initially: 0, in: magic)
    let names = LiveResults(Ship.ordered(by: .ascending(\.$name)).values(\.$name), in: magic)
    let tons = LiveResults(Ship.all.aggregate(.sum(\.$tons)), initially: 0, in: magic)
    let page = LiveResults(Ship.all.page(limit: 1).map { $0 }, initially: nil, in: magic)
    let several = LiveResults(
      LiveFetch {
        [try $0.count(of: Ship.self), try $0.count(of: Ship.self, where: \.$tons < 50)]
      },
      in: magic)
    #expect(heavy.value.isEmpty)
    #expect(first.value == nil)
    #expect(count.value == 0)
    #expect(names.value == [])
    #expect(tons.value == 0)
    #expect(page.value == nil)
    #expect(several.value == [])
    try await wait { heavy.value.count == 1 && first.value?.name == "Gjøa" && count.value == 2 }
    try await wait { names.value == ["Gjøa", "Vasa"] && tons.value == 1_255 }
    try await wait { page.value?.hasMore == true && several.value == [2, 1] }
    try await save(Ship("Fram", tons: 402))
    try await wait { heavy.value.map(\.name) == ["Vasa", "Fram"] && first.value?.name == "Fram" }
    try await wait { count.value == 3 && names.value.count == 3 && tons.value == 1_657 }
    try await wait { several.value == [3, 1] }
  }

  @Test func `records have live results`() async throws {
    let database = magic.database
    struct Port: Record {
      var id: Int
      var name: String
    }
    try await database.write { try $0.insert(Port(id: 1, name: "Oslo")) }
    let ports = LiveResults(Port.ordered(by: .column("name")), in: database)
    let paged = LiveResults(Port.ordered(by: .column("name")), pageSize: 1, in: database)
    let count = LiveResults(Port.all.count, initially: 0, in: database)
    let sums = LiveResults(
      RecordQuery<Int>.sql("SELECT sum(id) FROM \(identifier: Port.tableName)"), in: database)
    try await wait { ports.value.map(\.name) == ["Oslo"] && count.value == 1 && sums.value == [1] }
    try await wait { paged.value.count == 1 && !paged.hasMore }
    try await database.write { try $0.insert(Port(id: 2, name: "Bodø")) }
    try await wait { ports.value.map(\.name) == ["Bodø", "Oslo"] && count.value == 2 }
    try await wait { paged.value.map(\.name) == ["Bodø"] && paged.hasMore && sums.value == [3] }
    paged.loadMore()
    try await wait { paged.value.count == 2 && !paged.hasMore }
    #expect(ports.change == nil)
  }

  @Test func `objects that aren't Sendable are shown on the main actor`() async throws {
    let crates = LiveResults(Crate.all, in: magic)
    try await magic.update(Crate("tea"))
    try await wait { crates.value.map(\.content) == ["tea"] }
    crates.value[0].content = "coffee"
    #expect(crates.value[0].content == "coffee")
  }

  @Test func `a property notifies when it changes, and only then`() async throws {
    let ships = LiveResults(Ship.where(\.$tons > 100), pageSize: 2, in: magic)
    try await ships.load()
    let value = ChangeCounter { _ = ships.value }
    let error = ChangeCounter { _ = ships.error }
    let isLoading = ChangeCounter { _ = ships.isLoading }
    let change = ChangeCounter { _ = ships.change }
    let hasMore = ChangeCounter { _ = ships.hasMore }
    let request = ChangeCounter { _ = ships.request }
    func counts() -> [Int] {
      [value, error, isLoading, change, hasMore, request].map(\.count)
    }
    #expect(counts() == [0, 0, 0, 0, 0, 0])
    try await save(Ship("Fram", tons: 402))
    try await wait { ships.value.count == 2 }
    #expect(counts() == [1, 0, 0, 1, 0, 0])
    // The first one doesn't change the result, and the second one only adds the element after
    // the limit.
    try await save(Ship("Kon-Tiki", tons: 9))
    try await save(Ship("Titanic", tons: 46_328))
    try await wait { ships.hasMore }
    #expect(counts() == [2, 0, 0, 2, 1, 0])
    ships.loadMore()
    #expect(counts() == [2, 0, 1, 2, 1, 0])
    await Task.yield()
    try await ships.load()
    #expect(counts() == [3, 0, 2, 3, 2, 0])
    await Task.yield()
    ships.request = Ship.where(Filter(sql: "no_such_column"))
    #expect(counts() == [3, 0, 3, 3, 2, 1])
    await Task.yield()
    await #expect(throws: SQLiteError.self) { try await ships.load() }
    #expect(counts() == [3, 1, 4, 3, 2, 1])
    #expect(ships.value.count == 3)
  }

  @Test func `equal results don't notify`() async throws {
    let folder = try TestFolder()
    let statements = StatementCounter()
    let magic = try await MagicData(path: folder.path, options: statements.options)
    try await magic.update([Ship("Fram", tons: 402), Ship("Vasa", tons: 1_210)])
    // A closure runs again after each commit to its table.
    let count = LiveResults(
      LiveFetch { try $0.count(of: Ship.self, where: \.$name != "unequal") }, initially: 0,
      in: magic)
    let ships = LiveResults(
      Ship.where(\.$name != "none").ordered(by: .ascending(\.$name)).limit(1), in: magic)
    try await count.load()
    try await ships.load()
    let counters = [ChangeCounter { _ = count.value }, ChangeCounter { _ = ships.value }]
    for number in 1...5 {
      let before = (statements.count(of: "unequal"), statements.count(of: "'none'"))
      try await magic.updateAll(Ship.where(\.$name == "Vasa"), set: [.set(\.$tons, to: number)])
      // Both have run their queries again.
      try await waitUntil {
        statements.count(of: "unequal") > before.0 && statements.count(of: "'none'") > before.1
      }
    }
    #expect(counters.map(\.count) == [0, 0])
    try await magic.update(Ship("Astrid"))
    try await wait { count.value == 3 && ships.value.first?.name == "Astrid" }
    #expect(counters.map(\.count) == [1, 1])
  }

  @Test func `nothing is queried before the first read`() async throws {
    let folder = try TestFolder()
    let statements = StatementCounter()
    let magic = try await MagicData(path: folder.path, options: statements.options)
    try await magic.update(Ship("Fram"))
    let read = LiveResults(Ship.where(\.$name != "read").count, initially: 0, in: magic)
    let unread = LiveResults(Ship.where(\.$name != "unread").count, initially: 0, in: magic)
    unread.request = Ship.where(\.$name != "unread").limit(7).count
    try await wait { read.value == 1 }
    try await magic.update(Ship("Gjøa"))
    try await wait { read.value == 2 }
    #expect(statements.count(of: "'unread'") == 0)
    #expect(statements.count(of: "'read'") > 0)
    try await wait { unread.value == 2 }
    #expect(statements.count(of: "'unread'") > 0)
  }

  @Test(arguments: ["value", "error", "isLoading", "change", "hasMore", "sections", "load"])
  func `reading a property starts the first fetch`(property: String) async throws {
    let ships = LiveResults(Ship.ordered(by: .ascending(\.$name)), pageSize: 1, in: magic)
    switch property {
    case "value": #expect(ships.value.isEmpty)
    case "error": #expect(ships.error == nil)
    case "isLoading": #expect(ships.isLoading)
    case "change": #expect(ships.change == nil)
    case "hasMore": #expect(!ships.hasMore)
    case "sections": #expect(ships.sections(by: \.port).isEmpty)
    default: try await ships.load()
    }
    // A second read at the same time changes nothing.
    #expect(property == "load" || ships.isLoading)
    try await wait { !ships.isLoading }
    #expect(ships.value.map(\.name) == ["Gjøa"])
    #expect(ships.hasMore)
  }

  @Test func `a released object stops`() async throws {
    let folder = try TestFolder()
    let statements = StatementCounter()
    let magic = try await MagicData(path: folder.path, options: statements.options)
    try await magic.update(Ship("0"))
    var released: LiveResults<Request<Int>>? = LiveResults(
      Ship.where(\.$name != "released").count, initially: 0, in: magic)
    let held = LiveResults(Ship.where(\.$name != "held").count, initially: -1, in: magic)
    try await released?.load()
    try await held.load()
    #expect(released?.value == 1)
    weak let weakly = released
    released = nil
    #expect(weakly == nil)
    let before = statements.count(of: "'released'")
    #expect(before > 0)
    for number in 1...20 {
      try await magic.update(Ship("\(number)"))
      try await wait { held.value == number + 1 }
    }
    #expect(statements.count(of: "'released'") == before)
  }

  @Test func `a release during the first fetch stops it`() async throws {
    let gate = Gate()
    var results: LiveResults<LiveFetch<Int>>? = LiveResults(
      LiveFetch { magic in
        gate.pass()
        return try magic.count(of: Ship.self)
      }, initially: 0, in: magic)
    #expect(results?.value == 0)
    try await waitUntil { gate.arrivals == 1 }
    weak let weakly = results
    results = nil
    #expect(weakly == nil)
    gate.open()
    // Its loop has ended, so commits cause no more fetches.
    let count = LiveResults(Ship.all.count, initially: 0, in: magic)
    for number in 3...10 {
      try await save(Ship("\(number)"))
      try await wait { count.value == number }
    }
    #expect(gate.arrivals == 1)
  }

  @Test func `a fetch doesn't block the main actor`() async throws {
    let gate = Gate()
    let results = LiveResults(
      LiveFetch { magic in
        gate.pass()
        return try magic.count(of: Ship.self)
      }, initially: 0, in: magic)
    #expect(results.value == 0)
    try await waitUntil { gate.arrivals == 1 }
    // The fetch waits until the main actor opens the gate.
    #expect(results.isLoading)
    gate.open()
    try await wait { results.value == 2 }
  }

  @Test func `results are created on any actor`() async throws {
    let magic = magic
    let ships = await Task.detached {
      LiveResults(Ship.where(\.$tons > 100), in: magic)
    }.value
    let crates = await Task.detached {
      LiveResults(Crate.all.first, initially: Crate("x"), in: magic)
    }
    .value
    try await wait { ships.value.count == 1 && crates.value == nil }
  }

  @Test func `a first read in a transaction doesn't join it`() async throws {
    let ships = LiveResults(Ship.all.count, initially: 0, in: magic)
    func readInTransaction() throws {
      try magic.transaction {
        try magic.update(Ship("Fram"))
        #expect(ships.value == 0)
      }
    }
    try readInTransaction()
    try await wait { ships.value == 3 }
  }

  @Test func `the results retain their store`() async throws {
    var store: MagicData? = try await MagicData(type: .temporary)
    try await store?.update(Ship("Fram"))
    weak let weakly = store
    var results = store.map { LiveResults(Ship.all.count, initially: 0, in: $0) }
    store = nil
    #expect(weakly != nil)
    try await wait { results?.value == 1 }
    results = nil
    try await waitUntil { weakly == nil }
  }

  @Test func `thousands of results observe one store`() async throws {
    let results = (0..<3_000).map {
      LiveResults(Ship.where(\.$tons >= $0).count, initially: -1, in: magic)
    }
    for result in results { #expect(result.value == -1) }
    for result in results { try await result.load() }
    #expect(results.map(\.value) == (0..<3_000).map { ($0 <= 45 ? 1 : 0) + ($0 <= 1_210 ? 1 : 0) })
    try await save(Ship("Titanic", tons: 46_328))
    for (number, result) in results.enumerated() {
      let expected = (number <= 45 ? 1 : 0) + (number <= 1_210 ? 1 : 0) + 1
      try await wait { result.value == expected }
    }
  }

  @Test func `load includes everything that was committed before`() async throws {
    let ships = LiveResults(Ship.all, in: magic)
    let count = LiveResults(Ship.all.count, initially: 0, in: magic)
    for number in 1...50 {
      try await save(Ship("\(number)", tons: number))
      async let counted: Void = count.load()
      try await ships.load()
      try await counted
      #expect(ships.value.count == number + 2 && count.value == number + 2)
    }
  }

  @Test func `load ends when its task is cancelled`() async throws {
    let gate = Gate()
    let results = LiveResults(
      LiveFetch { _ in
        gate.pass()
        return 1
      }, initially: 0, in: magic)
    let loading = Task { try await results.load() }
    try await waitUntil { gate.arrivals == 1 }
    loading.cancel()
    await #expect(throws: CancellationError.self) { try await loading.value }
    gate.open()
    try await results.load()
    #expect(results.value == 1)
  }
}

/// An object that isn't Sendable.
final class Crate: MagicObject {
  @MagicValue var content: String
  var tag = 0
  init() { content = "" }
  init(_ content: String) { self.content = content }

  enum CodingKeys: CodingKey { case content }
}

/// A gate that fetches wait for.
final class Gate: Sendable {
  private let isOpen = Flag()
  private let arrived = Atomic(0)

  var arrivals: Int { arrived.load(ordering: .acquiring) }

  func pass() {
    arrived.add(1, ordering: .acquiringAndReleasing)
    while !isOpen.isSet { Thread.sleep(forTimeInterval: 0.001) }
  }

  func open() { isOpen.set() }
}
