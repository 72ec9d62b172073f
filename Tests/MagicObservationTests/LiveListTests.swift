import MagicData
import MagicObservation
import Testing
import TestSupport

@MainActor @Suite(.timeLimit(.minutes(40))) struct LiveListTests {
  let magic: MagicData

  init() throws { magic = try MagicData(type: .temporary) }

  private var byName: Query<Ship> { Ship.ordered(by: .ascending(\.$name)) }

  @Test(arguments: seeds(0..<4))
  func `after random commits, the value equals a fresh fetch`(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    try await magic.update((0..<20).map { Ship("s\($0)", in: "p\($0 % 4)", tons: $0) })
    var minimum = 3
    func query() -> Query<Ship> {
      Ship.where(\.$tons > minimum).ordered(by: .ascending(\.$port), .ascending(\.$name))
    }
    let pageSize = seed % 2 == 0 ? 5 : 1_000
    let ships = LiveResults(query(), pageSize: pageSize, in: magic)
    let sections = LiveResults(query().objects.map { $0.sections(by: \.port) }, in: magic)
    try await ships.load()
    var shown = ships.change?.identities ?? []
    var shownNames = Dictionary(uniqueKeysWithValues: ships.value.map { ($0.id, $0.name) })
    var limit = pageSize
    for round in 0..<60 {
      switch Int.random(in: 0..<8, using: &random) {
      case 0: try await magic.removeAll(Ship.where(\.$id == Int.random(in: 1...40, using: &random)))
      case 1:
        try await magic.updateAll(
          Ship.where(\.$port == "p\(Int.random(in: 0..<4, using: &random))"),
          set: [.set(\.$port, to: "p\(Int.random(in: 0..<4, using: &random))")])
      case 2 where ships.hasMore:
        limit += pageSize
        ships.loadMore()
        // The pages stay live while the next one is loaded.
        try await magic.update(Ship("more\(round)", in: "p1", tons: 9))
      case 3:
        minimum = Int.random(in: 0..<10, using: &random)
        ships.request = query()
        sections.request = query().objects.map { $0.sections(by: \.port) }
        limit = pageSize
      case 4:
        try await magic.updateAll(
          Ship.where(\.$id == Int.random(in: 1...40, using: &random)),
          set: [.set(\.$name, to: "n\(round)")])
      default:
        try await magic.update(
          Ship(
            "r\(Int.random(in: 0..<1_000, using: &random))",
            in: "p\(Int.random(in: 0..<4, using: &random))",
            tons: Int.random(in: 0..<30, using: &random)))
      }
      let fresh = try await magic.fetch(query()).map { Row($0) }
      try await wait {
        !ships.isLoading && ships.value.map { Row($0) } == Array(fresh.prefix(limit))
          && ships.hasMore == (fresh.count > limit)
      }
      try await wait { sections.value.flatMap { $0.elements.map { Row($0) } } == fresh }
      #expect(sections.value.map(\.key) == Set(fresh.map(\.port)).sorted())
      for section in sections.value {
        #expect(section.elements.allSatisfy { $0.port == section.key })
      }
      #expect(ships.sections(by: \.port).flatMap(\.elements).map(\.id) == ships.value.map(\.id))
      let change = try #require(ships.change)
      #expect(change.identities == ships.value.map(\.id))
      shown = try #require(shown.applying(change.difference(from: shown)))
      #expect(shown == change.identities)
      for (place, ship) in ships.value.enumerated() where change.updated.contains(place) {
        #expect(shownNames[ship.id] != nil)
      }
      shownNames = Dictionary(uniqueKeysWithValues: ships.value.map { ($0.id, $0.name) })
    }
  }

  @Test func `each difference, applied to the previous list, gives the new one`() async throws {
    let ships = LiveResults(byName, pageSize: 4, in: magic)
    try await ships.load()
    var last = try #require(ships.change)
    var shown: [Int] = []
    var (limit, longest) = (4, 0)
    for round in 0..<36 {
      var tons = ships.value.first?.tons
      switch round % 6 {
      case 0: try await magic.update(Ship("a\(round)"))
      case 1: try await magic.update([Ship("b\(round)"), Ship("c\(round)")])
      case 2:
        if ships.hasMore { limit += 4 }
        ships.loadMore()
      case 3:
        let first = try #require(ships.value.first?.id)
        try await magic.updateAll(Ship.where(\.$id == first), set: [.set(\.$tons, to: round)])
        tons = round
      case 4:
        let end = try #require(ships.value.last?.id)
        try await magic.updateAll(Ship.where(\.$id == end), set: [.set(\.$name, to: "b\(round)")])
      default:
        let kept = ships.value.map(\.id)
        ships.request = Ship.ordered(
          by: round % 12 == 5 ? .descending(\.$name) : .ascending(\.$name))
        limit = 4
        // The old value stays until the new one arrives.
        #expect(ships.value.map(\.id) == kept)
        #expect(ships.isLoading)
      }
      let fresh = try await magic.fetch(ships.request.values(\.$id)).prefix(limit)
      try await wait {
        !ships.isLoading && ships.value.map(\.id) == Array(fresh)
          && (round % 6 != 3 || ships.value.first?.tons == tons)
      }
      let change = try #require(ships.change)
      if change != last { shown = try #require(shown.applying(change.difference)) }
      #expect(shown == change.identities, "round \(round)")
      #expect(shown == ships.value.map(\.id), "round \(round)")
      if round % 6 == 3 { #expect(change.updated == [0]) }
      last = change
      longest = max(longest, shown.count)
    }
    #expect(longest > 4)
  }

  @Test func `pages are added on demand and stay live`() async throws {
    try await magic.update((10..<35).map { Ship("s\($0)") })
    let ships = LiveResults(byName, pageSize: 10, in: magic)
    // Nothing follows a list that hasn't been fetched.
    ships.loadMore()
    try await ships.load()
    #expect(ships.value.count == 10)
    #expect(ships.hasMore)
    ships.loadMore()
    ships.loadMore()
    #expect(ships.isLoading)
    #expect(ships.value.count == 10)
    try await ships.load()
    #expect(ships.value.map(\.name) == (10..<30).map { "s\($0)" })
    #expect(ships.change?.difference.insertions.count == 10)
    #expect(ships.change?.difference.removals.isEmpty == true)
    ships.loadMore()
    try await ships.load()
    #expect(ships.value.count == 25)
    #expect(!ships.hasMore)
    ships.loadMore()
    #expect(!ships.isLoading)
    try await magic.update(Ship("s00"))
    try await wait { ships.value.first?.name == "s00" && ships.value.count == 26 }
    ships.request = byName.where(\.$name > "s20")
    try await ships.load()
    #expect(ships.value.count == 10)
  }

  @Test func `a limit and an offset of the query apply to all pages`() async throws {
    try await magic.update((10..<35).map { Ship("s\($0)") })
    let ships = LiveResults(byName.limit(7, offset: 2), pageSize: 5, in: magic)
    try await ships.load()
    #expect(ships.value.map(\.name) == (12..<17).map { "s\($0)" })
    #expect(ships.hasMore)
    ships.loadMore()
    try await ships.load()
    #expect(ships.value.map(\.name) == (12..<19).map { "s\($0)" })
    #expect(!ships.hasMore)
  }

  @Test(arguments: [0, -1, Int.min])
  func `a page without elements is an error`(pageSize: Int) async throws {
    let ships = LiveResults(byName, pageSize: pageSize, in: magic)
    let error = await #expect(throws: SQLiteError.self) { try await ships.load() }
    #expect(error?.code == .range)
    ships.loadMore()
    ships.reload()
    await #expect(throws: SQLiteError.self) { try await ships.load() }
  }

  @Test func `the largest page shows the whole list`() async throws {
    try await magic.update([Ship("a"), Ship("b")])
    let ships = LiveResults(byName, pageSize: .max, in: magic)
    try await ships.load()
    #expect(ships.value.count == 2)
    #expect(!ships.hasMore)
  }

  @Test func `sections keep the order of the elements`() {
    let words = ["apple", "bean", "avocado", "beet", "cherry", "banana"]
    let sections = words.sections { $0.prefix(1) }
    #expect(sections.map(\.key) == ["a", "b", "c"])
    #expect(
      sections.map(\.elements) == [
        ["apple", "avocado"], ["bean", "beet", "banana"], ["cherry"],
      ])
    #expect(sections.map(\.id) == sections.map(\.key))
    #expect([Int]().sections(by: \.self).isEmpty)
    struct Failure: Error {}
    #expect(throws: Failure.self) {
      try words.sections { _ throws -> Int in throw Failure() }
    }
  }

  private struct Row: Equatable {
    let id: Int
    let name: String
    let port: String
    let tons: Int

    init(_ ship: Ship) {
      id = ship.id
      name = ship.name
      port = ship.port
      tons = ship.tons
    }
  }
}
