import Conformance
import SQLiteCore
import SQLiteMapping
import Testing

@Suite(.everyEngine, .timeLimit(.minutes(40))) struct RecordRequestTests {
  struct Town: Record, Equatable {
    static let traits: [PropertyTrait] = [.searched("notes")]
    var id: Int
    var name: String
    var population: Int
    var notes = ""
  }

  struct Size: Decodable, Equatable {
    var name: String
    var size: Int
  }

  let database: Database

  init() throws {
    database = try Database.fresh()
  }

  private func fill() throws {
    try database.write {
      try $0.insert(contentsOf: [
        Town(id: 1, name: "Toronto", population: 30, notes: "lake shore"),
        Town(id: 2, name: "Bern", population: 10, notes: "old town, lake"),
        Town(id: 3, name: "Oslo", population: 20, notes: "fjord"),
      ])
    }
  }

  @Test func `record queries compose`() throws {
    try fill()
    let query = Town.where("population >= 20 -- a comment").where("name <> \("x")")
    #expect(
      try database.fetch(query.ordered(by: .column("name"))).map(\.name) == ["Oslo", "Toronto"])
    #expect(
      try database.fetch(query.ordered(by: .column("id")).ordered(by: .column("name")).first)?.id
        == 3)
    #expect(try database.fetch(query.count) == 2)
    #expect(try database.fetch(query.limit(1).count) == 1)
    #expect(try database.fetch(Town.all.limit(5, offset: 2).count) == 1)
    #expect(
      try database.fetch(Town.all.limit(nil, offset: 1).ordered(by: .column("id"))).map(\.id) == [
        2, 3,
      ])
    #expect(try database.fetch(Town.all.limit(0).first) == nil)
    #expect(try database.fetch(Town.where("id > 9").first) == nil)
  }

  @Test func `the rows of a SELECT are a query too`() async throws {
    try fill()
    let sizes = RecordQuery.sql("SELECT name, population AS size FROM Town -- all", as: Size.self)
    #expect(try await database.fetch(sizes.count) == 3)
    #expect(
      try await database.fetch(sizes.where("size < 30").ordered(by: .column("size")).first)
        == Size(name: "Bern", size: 10))
    #expect(
      try await database.fetch(sizes.ordered(by: .column("size", descending: true)).limit(2)).map(
        \.size) == [30, 20])
    #expect(try await database.fetch(sizes.where("size < 30").count) == 2)
  }

  @Test func `a RETURNING statement writes all rows even if only the first is fetched`() throws {
    try fill()
    let moved = RecordQuery.sql("UPDATE Town SET id = id + 10 RETURNING id", as: Int.self)
    let first = try database.write { try $0.fetch(moved.first) }
    #expect(first == 11 || first == 12 || first == 13)
    #expect(try database.fetch(Town.where("id > 10").count) == 3)
  }

  @Test func `a type without a table has no records`() throws {
    #expect(try database.fetch(Town.all).isEmpty)
    #expect(try database.fetch(Town.all.first) == nil)
    #expect(try database.fetch(Town.where("id = 1").count) == 0)
    #expect(try database.fetch(Town.all.limit(3).count) == 0)
    #expect(try database.fetch(Town.all.search(.all(of: "lake"))).isEmpty)
  }

  @Test func `errors in a request are thrown when it is fetched`() throws {
    try fill()
    #expect(throws: SQLiteError.self) { try database.fetch(Town.all.limit(-1)) }
    #expect(throws: SQLiteError.self) { try database.fetch(Town.all.limit(-1).count) }
    #expect(throws: SQLiteError.self) { try database.fetch(Town.where("no_column = 1")) }
    #expect(throws: SQLiteError.self) {
      try database.fetch(Town.where("id = (SELECT x FROM missing)"))
    }
    #expect(throws: SQLiteError.self) {
      try database.fetch(Town.ordered(by: .column("name")).search(.all(of: "lake")))
    }
    #expect(throws: SQLiteError.self) {
      try database.fetch(
        RecordQuery.sql("SELECT * FROM Town", as: Town.self).search(.all(of: "lake")))
    }
  }

  @Test func `a query can be searched`() throws {
    try fill()
    let found = try database.fetch(Town.where("population > 10").search(.all(of: "lake")))
    #expect(found.map(\.value.name) == ["Toronto"])
    #expect(try database.fetch(Town.all.limit(1).search(.all(of: "lake"))).count == 1)
  }

  @Test func `every kind of request can be observed`() async throws {
    try fill()
    var names = database.observe(Town.where("population < 100").ordered(by: .column("id")))
      .makeAsyncIterator()
    var count = database.observe(Town.where("population < 15").count).makeAsyncIterator()
    var first = database.observe(Town.ordered(by: .column("population", descending: true)).first)
      .makeAsyncIterator()
    var found = database.observe(Town.all.search(.all(of: "lake"))).makeAsyncIterator()
    var sizes = database.observe(
      .sql("SELECT name, population AS size FROM Town WHERE id = 3", as: Size.self)
    )
    .makeAsyncIterator()
    #expect(try await names.next()?.map(\.name) == ["Toronto", "Bern", "Oslo"])
    #expect(try await count.next() == 1)
    #expect(try await first.next()??.name == "Toronto")
    #expect(try await found.next()?.count == 2)
    #expect(try await sizes.next() == [Size(name: "Oslo", size: 20)])

    try await database.write { connection in
      try connection.update(Town(id: 3, name: "Bergen", population: 5, notes: "fjord"))
      try connection.update(Town(id: 4, name: "Paris", population: 90, notes: "no lake"))
    }
    #expect(try await names.next()?.map(\.name) == ["Toronto", "Bern", "Bergen", "Paris"])
    #expect(try await count.next() == 2)
    #expect(try await first.next()??.name == "Paris")
    #expect(try await found.next()?.count == 3)
    #expect(try await sizes.next() == [Size(name: "Bergen", size: 5)])
  }

  @Test func `an unchanged result isn't reported again`() async throws {
    try fill()
    var small = database.observe(Town.where("population < 15")).makeAsyncIterator()
    #expect(try await small.next()?.map(\.id) == [2])
    try await database.write { _ = try $0.update(Town(id: 1, name: "Toronto", population: 40)) }
    try await database.executeChange("CREATE TABLE other (x)")
    try await database.write { _ = try $0.update(Town(id: 2, name: "Bern", population: 11)) }
    #expect(try await small.next()?.map(\.population) == [11])
  }

  @Test func `an observation starts before its table is created`() async throws {
    var all = database.observe(Town.all).makeAsyncIterator()
    #expect(try await all.next() == [])
    try fill()
    #expect(try await all.next()?.count == 3)
  }

  @Test func `an observation ends with its task and throws when the database closes`()
    async throws
  {
    try fill()
    let (database, began) = (database, AsyncStream.makeStream(of: Void.self))
    let task = Task {
      for try await _ in database.observe(Town.all) { began.continuation.yield() }
    }
    for await _ in began.stream { break }
    task.cancel()
    try await task.value

    var towns = database.observe(Town.all).makeAsyncIterator()
    _ = try await towns.next()
    try await database.close()
    await #expect(throws: SQLiteError.self) { _ = try await towns.next() }
  }
}
