import Conformance
import Foundation
import MagicData
import Testing

private struct Metropolis: MagicObject {
  static let tableName = "RequestCity"
  static let traits: [PropertyTrait] = [.searched(\Metropolis.$name)]

  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var population: Int
  @MagicValue var twins: [Metropolis]
  @MagicValue var visited: AsyncMagical<[Metropolis]>
  @ReverseMagicValue(\Metropolis.$twins) var twinnedBy: AsyncReverseMagicSet<Metropolis>

  init() {}

  init(_ id: Int, _ name: String, _ population: Int) {
    self.id = id
    self.name = name
    self.population = population
    twins = []
    visited = AsyncMagical(value: [])
  }
}

extension Query<Metropolis> {
  fileprivate var large: Query { `where`(\.$population > 1_000) }
}

/// Queries as values that can be composed, passed, named and fetched from any store.
@Suite(.everyEngine) struct RequestTests {
  let magic: MagicData
  private let cities: [Metropolis]

  init() throws {
    magic = try MagicData.fresh()
    cities = (1...9).map { Metropolis($0, "city \($0)", $0 * 300) }
    // The array contains an object twice and isn't in the order of the keys.
    cities[0].twins = [cities[6], cities[2], cities[6], cities[4]]
    cities[0].visited = AsyncMagical(value: [cities[8], cities[1], cities[8]])
    try magic.update(cities)
  }

  private func count(_ query: Query<Metropolis>) throws -> Int { try magic.fetch(query.count) }

  @Test func `a query can be built from optional search fields`() throws {
    for (name, least) in [(nil, nil), ("city 5", nil), (nil, 2_000), ("city 9", 2_000)]
      as [(String?, Int?)]
    {
      var query = Metropolis.all
      if let name { query = query.where(\.$name == name) }
      if let least { query = query.where(\.$population >= least) }
      let wanted = cities.filter { (name ?? $0.name) == $0.name && $0.population >= least ?? 0 }
      #expect(try magic.fetch(query).map(\.id) == wanted.map(\.id))
    }
  }

  @Test func `a query can be named and passed to a function`() throws {
    #expect(try count(Metropolis.all.large) == 6)
    #expect(try count(Metropolis.where(\.$population < 2_000).large) == 3)
    let names = try magic.fetch(
      Metropolis.all.large.ordered(by: .descending(\.$id)).limit(2).values(\.$name))
    #expect(names == ["city 9", "city 8"])
  }

  @Test func `the order of the calls doesn't matter`() throws {
    let one = Metropolis.all.limit(2).ordered(by: .descending(\.$id)).where(\.$population < 2_000)
    let other = Metropolis.where(\.$population < 2_000).ordered(by: .descending(\.$id)).limit(2)
    #expect(try magic.fetch(one).map(\.id) == [6, 5])
    #expect(try magic.fetch(other).map(\.id) == [6, 5])
  }

  @Test func `limit and offset apply to every kind of request`() throws {
    let query = Metropolis.ordered(by: .descending(\.$id)).limit(3, offset: 1)
    #expect(try magic.fetch(query).map(\.id) == [8, 7, 6])
    #expect(try magic.fetch(query.count) == 3)
    #expect(try magic.fetch(query.first)?.id == 8)
    #expect(try magic.fetch(query.isEmpty) == false)
    #expect(try magic.fetch(query.values(\.$id)) == [8, 7, 6])
    #expect(try magic.fetch(query.aggregate(.sum(\.$id))) == 21)
    let (number, least) = try magic.fetch(query.aggregate(.count, .min(\.$id)))
    #expect(number == 3 && least == 6)
    #expect(try magic.fetch(query.page(limit: 2)).objects.map(\.id) == [8, 7])
    #expect(try magic.fetch(query.page(limit: 5)).objects.map(\.id) == [8, 7, 6])
    #expect(try magic.fetch(Metropolis.all.limit(0).isEmpty))
    #expect(try magic.fetch(Metropolis.all.limit(0).first)?.id == nil)
    #expect(try magic.fetch(Metropolis.all.limit(nil, offset: 7).count) == 2)
    #expect(try magic.updateAll(query, set: [.set(\.$name, to: "x")]) == 3)
    #expect(try magic.fetch(Metropolis.where(\.$name == "x").values(\.$id)) == [6, 7, 8])
    #expect(
      try magic.removeAll(
        Metropolis.where(\.$id == 8 || \.$id == 9).ordered(by: .descending(\.$id)).limit(1)) == 1)
    #expect(try magic.fetch(Metropolis.where(\.$id > 6).values(\.$id)) == [7, 8])
  }

  @Test func `a query of a relation returns each object once, in array order`() async throws {
    let first = try await magic.object(of: Metropolis.self, primary: 1)
    let twins = first.$twins
    #expect(try await magic.fetch(twins.all).map(\.id) == [7, 3, 5])
    #expect(try await magic.fetch(twins.all.limit(1, offset: 1)).map(\.id) == [3])
    #expect(try await magic.fetch(twins.where(\.$population > 1_200).values(\.$id)) == [7, 5])
    #expect(try await magic.fetch(twins.all.aggregate(.sum(\.$population))) == 4_500)
    #expect(try await magic.fetch(twins.all.page(limit: 2)).objects.map(\.id) == [7, 3])
    #expect(try await magic.fetch(twins.ordered(by: .ascending(\.$id)).first)?.id == 3)
    #expect(try await magic.fetch(first.visited.all).map(\.id) == [9, 2])
    #expect(try await magic.fetch(cities[6].twinnedBy.all.count) == 1)
    #expect(try await magic.fetch(cities[6].twinnedBy.where(\.$id > 1).isEmpty))
    #expect(try await magic.updateAll(twins.where(\.$id < 6), set: [\.$population += 1]) == 2)
  }

  @Test func `a query of a relation requires a saved object of the same store`() throws {
    let new = Metropolis(20, "new", 1)
    for query in [new.$twins.all, new.twinnedBy.all] {
      #expect(throws: MagicError.notSaved(type: "object")) { try magic.fetch(query) }
      #expect(throws: MagicError.notSaved(type: "object")) { try magic.fetch(query.count) }
    }
    #expect(throws: MagicError.unsavedChanges(type: "Array<Metropolis>")) {
      try magic.fetch(new.visited.all)
    }
    let other = try MagicData.fresh()
    let first = try magic.object(of: Metropolis.self, primary: 1)
    for query in [first.$twins.all, first.visited.all, first.twinnedBy.all] {
      #expect(throws: MagicError.notSaved(type: "Metropolis")) { try other.fetch(query) }
    }
    // One query can be fetched from several stores.
    #expect(try other.fetch(Metropolis.all.large.count) == 0)
    first.visited.append(cities[3])
    #expect(throws: MagicError.unsavedChanges(type: "Array<Metropolis>")) {
      try magic.fetch(first.visited.all.count)
    }
  }

  @Test func `a request can be mapped`() async throws {
    let request = Metropolis.all.large.values(\.$id).map { Set($0) }
    #expect(try await magic.fetch(request) == [4, 5, 6, 7, 8, 9])
  }

  @Test func `each request can be observed`() async throws {
    var first = magic.observe(Metropolis.all.large.first.map { $0?.id }).makeAsyncIterator()
    var names = magic.observe(cities[0].$twins.all.values(\.$name)).makeAsyncIterator()
    var page = magic.observe(Metropolis.ordered(by: .descending(\.$id)).page(limit: 1))
      .makeAsyncIterator()
    #expect(try await first.next() == 4)
    #expect(try await names.next() == ["city 7", "city 3", "city 5"])
    #expect(try await page.next()?.objects.map(\.id) == [9])
    try await magic.updateAll(
      Metropolis.where(\.$id == 3), set: [.set(\.$name, to: "new"), .set(\.$population, to: 5_000)])
    #expect(try await first.next() == 3)
    #expect(try await names.next() == ["city 7", "new", "city 5"])
    try await magic.update(Metropolis(10, "ten", 1))
    #expect(try await page.next()?.objects.map(\.id) == [10])
  }

  @Test func `differences are available only for a query's unmapped objects`() async throws {
    let objects = Metropolis.all.limit(2).objects
    var differences = magic.observe(objects).differences().makeAsyncIterator()
    #expect(try await differences.next()?.identities == [1, 2])
    var mapped = magic.observe(objects.map { Array($0.dropFirst()) }).differences()
      .makeAsyncIterator()
    await #expect(throws: SQLiteError.self) { try await mapped.next() }
  }

  @Test func `forEach visits objects and values one by one`() throws {
    var ids: [Int] = []
    let blocking = {
      try magic.forEach(Metropolis.ordered(by: .descending(\.$id)), batch: 2) { ids.append($0.id) }
      try magic.forEach(Metropolis.all.limit(2).values(\.$id, \.$name)) { id, name in
        ids.append(id)
        #expect(name == "city \(id)")
      }
      try magic.forEach(Metropolis.all.limit(1).objects) { ids.append($0.id) }
    }
    try blocking()
    #expect(ids == [9, 8, 7, 6, 5, 4, 3, 2, 1, 1, 2, 1])
    struct Stop: Error {}
    #expect(throws: Stop.self) { try magic.forEach(Metropolis.all) { _ in throw Stop() } }
  }

  @Test(.requires(.functions))
  func `a search accepts the filter and limit of a query, but no order`() throws {
    #expect(
      try magic.fetch(Metropolis.where(\.$id > 3).limit(2).search(.all(of: "city"))).map(\.value.id)
        == [
          4, 5,
        ])
    #expect(throws: SQLiteError.self) {
      try magic.fetch(Metropolis.ordered(by: .ascending(\.$id)).search(.all(of: "city")))
    }
  }
}
