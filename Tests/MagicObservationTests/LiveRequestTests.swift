import MagicData
import MagicObservation
import TestSupport
import Testing

private struct Harbor: MagicObject {
  static var traits: [PropertyTrait] { [.searched(\Self.$name)] }

  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var boats: [Boat] = []
  @MagicValue var wrecks: AsyncMagical<[Boat]> = AsyncMagical(value: [])

  init() {}

  init(_ name: String, _ boats: [Boat] = [], wrecks: [Boat] = []) {
    self.name = name
    self.boats = boats
    self.wrecks.set(wrecks)
  }
}

private struct Boat: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var tons: Int
  @OptionalMagicValue var owner: Owner?
  @ReverseMagicValue(\Harbor.$boats) var harbors: AsyncReverseMagicSet<Harbor>

  init() {}

  init(_ name: String, tons: Int, of owner: Owner? = nil) {
    self.name = name
    self.tons = tons
    self.owner = owner
  }
}

private struct Owner: MagicObject {
  @PrimaryMagicValue var name: String

  init() {}
  init(_ name: String) { self.name = name }
}

private struct BoatLine: Decodable, Equatable {
  var name: String
  var tons: Int
}

/// Each kind of request that the library has, with live results.
@MainActor @Suite(.timeLimit(.minutes(40))) struct LiveRequestTests {
  let magic: MagicData
  private let ann = Owner("Ann")

  init() throws {
    magic = try MagicData(type: .memory)
    let (fram, vasa) = (Boat("Fram", tons: 402, of: ann), Boat("Vasa", tons: 1_210))
    try magic.update([Harbor("Bergen", [fram, vasa], wrecks: [vasa]), Harbor("Oslo", [fram])])
  }

  private func harbor(_ name: String) async throws -> Harbor {
    try await magic.fetch(Harbor.where(\.$name == name).first) ?? Harbor(name)
  }

  private func rename(_ old: String, to new: String) async throws {
    let harbor = try await harbor(old)
    harbor.name = new
    try await magic.update(harbor)
  }

  @Test func `a search has live results`() async throws {
    let found = LiveResults(Harbor.all.search(.prefix("ber")), in: magic)
    let long = LiveResults(
      Harbor.where(\.$name != "Bergamo").limit(1).search(.any(of: "bergen berlin")), in: magic)
    try await wait { found.value.map(\.value.name) == ["Bergen"] && long.value.count == 1 }
    #expect(found.value[0].snippet.contains("Bergen"))
    try await magic.update(Harbor("Bergamo"))
    try await wait { found.value.count == 2 }
    try await rename("Bergen", to: "Kiel")
    try await wait { found.value.map(\.value.name) == ["Bergamo"] && long.value.isEmpty }
    try await rename("Kiel", to: "Berlin")
    try await wait { long.value.map(\.value.name) == ["Berlin"] && found.value.count == 2 }
    try await magic.removeAll(Harbor.where(\.$name == "Bergamo"))
    try await wait { found.value.map(\.value.name) == ["Berlin"] }
    found.request = Harbor.all.search(.prefix("os"))
    try await found.load()
    #expect(found.value.map(\.value.name) == ["Oslo"])
    #expect(found.change == nil)
  }

  @Test func `a search that is invalid is an error`() async throws {
    let unsearched = LiveResults(Boat.all.search(.prefix("a")), in: magic)
    await #expect(throws: MagicError.notSearched(type: "Boat")) { try await unsearched.load() }
    let sorted = LiveResults(
      Harbor.ordered(by: .ascending(\.$name)).search(.prefix("a")), in: magic)
    await #expect(throws: SQLiteError.self) { try await sorted.load() }
    sorted.request = Harbor.all.search(.prefix("osl"))
    try await sorted.load()
    #expect(sorted.value.count == 1)
  }

  @Test func `related objects are live`() async throws {
    let bergen = try await harbor("Bergen")
    let fram = try #require(bergen.boats.first)
    let boats = LiveResults(bergen.$boats.where(\.$tons > 100), pageSize: 1, in: magic)
    let wrecks = LiveResults(bergen.wrecks.all.count, initially: 0, in: magic)
    let harbors = LiveResults(fram.harbors.ordered(by: .ascending(\.$name)), in: magic)
    try await wait { boats.value.map(\.name) == ["Fram"] && boats.hasMore && wrecks.value == 1 }
    try await wait { harbors.value.map(\.name) == ["Bergen", "Oslo"] }
    boats.loadMore()
    try await boats.load()
    #expect(boats.value.map(\.name) == ["Fram", "Vasa"])
    let copy = try await harbor("Bergen")
    copy.boats.removeFirst()
    copy.wrecks.append(fram)
    try await magic.update(copy)
    try await wait { boats.value.map(\.name) == ["Vasa"] && wrecks.value == 2 }
    try await wait { harbors.value.map(\.name) == ["Oslo"] }
    let unsaved = LiveResults(Harbor("Kiel").$boats.all, in: magic)
    await #expect(throws: MagicError.notSaved(type: "object")) { try await unsaved.load() }
  }

  @Test func `values are live`() async throws {
    let boats = Boat.ordered(by: .ascending(\.$name))
    let pairs = LiveResults(boats.values(\.$name, \.$owner.$name), in: magic)
    let sums = LiveResults(boats.values(\.$tons + 1), in: magic)
    let counted = LiveResults(
      Harbor.ordered(by: .ascending(\.$name)).values(\.$name, and: (\Harbor.$boats).count),
      in: magic)
    let lines = LiveResults(boats.values(\.$name, \.$tons, as: BoatLine.self), in: magic)
    let tons = LiveResults(
      Boat.ordered(by: .ascending(\.$tons)).distinct().values(\.$tons), in: magic)
    try await wait { pairs.value.map { $0.0 + ($0.1 ?? "-") } == ["FramAnn", "Vasa-"] }
    try await wait { sums.value == [403, 1_211] && tons.value == [402, 1_210] }
    try await wait { counted.value.map { $0.1 ?? 0 } == [2, 1] && lines.value.count == 2 }
    let kiel = Harbor("Kiel", [Boat("Anna", tons: 402)])
    try await magic.update(kiel)
    try await wait { pairs.value.first?.0 == "Anna" && sums.value == [403, 403, 1_211] }
    try await wait { counted.value.map(\.0) == ["Bergen", "Kiel", "Oslo"] }
    try await wait { lines.value.first == BoatLine(name: "Anna", tons: 402) }
    #expect(tons.value == [402, 1_210])
  }

  @Test func `aggregates and groups are live`() async throws {
    let totals = LiveResults(
      Boat.all.aggregate(.count, .sum(\.$tons)), initially: (0, 0), in: magic)
    let owners = LiveResults(
      Boat.all.aggregate(.count, by: \.$owner.$name, orderedBy: [.descending(.count)], limit: 2),
      in: magic)
    let sizes = LiveResults(
      Boat.all.aggregate(.max(\.$tons), by: \.$tons / 1_000, having: .count > 1), in: magic)
    try await wait { totals.value == (2, 1_612) && owners.value.count == 2 }
    try await sizes.load()
    #expect(sizes.value.isEmpty)
    try await magic.update(Boat("Anna", tons: 9, of: ann))
    try await wait { totals.value == (3, 1_621) && owners.value.first?.value == 2 }
    try await wait { owners.value.first?.key == "Ann" && sizes.value.first?.value == 402 }
  }

  @Test func `pages after an object or a position are live`() async throws {
    let boats = Boat.ordered(by: .ascending(\.$name))
    let fram = try #require(await magic.fetch(boats.first))
    let first = try await magic.fetch(boats.page(limit: 1))
    let rest = LiveResults(boats.page(after: fram, limit: 5).map { $0.objects }, in: magic)
    let second = LiveResults(
      boats.page(after: first.end, limit: 5).map { $0.objects.map(\.name) }, in: magic)
    try await wait { rest.value.map(\.name) == ["Vasa"] && second.value == ["Vasa"] }
    try await magic.update([Boat("Anna", tons: 9), Boat("Gjøa", tons: 45)])
    try await wait { rest.value.count == 2 && second.value == ["Gjøa", "Vasa"] }
    try await magic.remove(fram)
    try await wait { rest.error as? MagicError != nil || rest.error is SQLiteError }
    #expect(rest.value.count == 2)
    #expect(second.error == nil)
  }

  @Test func `requests for records are live`() async throws {
    struct Buoy: Record {
      var id: Int
      var color: String
    }
    let database = magic.database
    try await database.write { try $0.insert(Buoy(id: 1, color: "red")) }
    let red = Buoy.where("color = \("red")").ordered(by: .column("id"))
    let first = LiveResults(red.first, in: database)
    let list = LiveResults(red.objects, in: database)
    let count = LiveResults(red.count, initially: 0, in: database)
    let colors = LiveResults(
      RecordQuery<String>.sql("SELECT DISTINCT color FROM Buoy ORDER BY color"), in: database)
    let limited = LiveResults(red.limit(1, offset: 1), in: database)
    try await wait { first.value?.id == 1 && list.value.count == 1 && count.value == 1 }
    try await wait { colors.value == ["red"] && !limited.isLoading }
    try await database.write {
      try $0.insert([Buoy(id: 0, color: "red"), Buoy(id: 2, color: "green")])
    }
    try await wait { first.value?.id == 0 && list.value.count == 2 && count.value == 2 }
    try await wait { colors.value == ["green", "red"] && limited.value.map(\.id) == [1] }
  }
}
