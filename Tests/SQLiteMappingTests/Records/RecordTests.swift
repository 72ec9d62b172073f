import Conformance
import Foundation
import SQLiteCore
import SQLiteMapping
import Testing

struct City: Record, Equatable, Sendable {
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  var id: Int?
  var name: String
  var population: Int
  var founded: Date?
  var tags: [String] = []
}

@Suite(.everyEngine) struct RecordTests {
  let database: Database

  init() throws { database = try Database.fresh() }

  @Test func `update returns a new record with its assigned key`() throws {
    let toronto = try database.write { try $0.update(City(name: "Toronto", population: 2_615_060)) }
    #expect(toronto == City(id: 1, name: "Toronto", population: 2_615_060))
    let stored = try database.read { try $0.object(of: City.self, ifPresent: 1) }
    #expect(stored == toronto)
  }

  @Test func `updating a record changes only its row`() throws {
    let one = try database.write { try $0.update(City(name: "One", population: 1)) }
    var two = try database.write { try $0.update(City(name: "Two", population: 2)) }
    two.name = "Zwei"
    two.tags = ["a", "b"]
    try database.write { try $0.update(two) }
    let all = try database.read { try $0.objects(of: City.self, orderedBy: .column("id")) }
    #expect(all == [one, two])
  }

  @Test func `queries find nothing before the table exists`() throws {
    #expect(try database.read { try $0.objects(of: City.self) }.isEmpty)
    #expect(try database.read { try $0.object(of: City.self, ifPresent: 1) } == nil)
    #expect(try database.read { try $0.count(of: City.self) } == 0)
    #expect(try !database.read { try $0.has(of: City.self, primary: 1) })
    #expect(try database.write { try $0.remove(City(id: 1, name: "", population: 0)) } == false)
    #expect(try database.write { try $0.removeAll(of: City.self) } == 0)
  }

  @Test func `another missing table still throws`() throws {
    try database.write { try $0.update(City(name: "a", population: 1)) }
    #expect(throws: SQLiteError.self) {
      try database.read { try $0.objects(of: City.self, where: "id IN (SELECT id FROM missing)") }
    }
  }

  @Test func `conditions, order, limit and offset select records`() throws {
    let cities = (1...10).map { City(name: "c\($0)", population: $0 * 100) }
    try database.write { try $0.insert(contentsOf: cities) }
    let found = try database.read {
      try $0.objects(
        of: City.self, where: "population > \(300) -- and no more",
        orderedBy: .column("population", descending: true), limit: 3, offset: 1)
    }
    #expect(found.map(\.population) == [900, 800, 700])
    #expect(try database.read { try $0.count(of: City.self, where: "population <= \(300)") } == 3)
    #expect(throws: SQLiteError.self) {
      try database.read { try $0.objects(of: City.self, limit: -1) }
    }
  }

  @Test func `inserting an existing key throws`() throws {
    let city = try database.write { try $0.insert(City(id: 7, name: "a", population: 1)) }
    let error = #expect(throws: SQLiteError.self) { try database.write { try $0.insert(city) } }
    #expect(error.map { ResultCode.constraint ~= $0.code } == true)
  }

  @Test func `updating a missing row throws`() throws {
    try database.write { try $0.update(City(id: 1, name: "a", population: 1)) }
    try database.write { try $0.updateExisting(City(id: 1, name: "b", population: 2)) }
    #expect(try database.read { try $0.object(of: City.self, ifPresent: 1) }?.name == "b")
    let error = #expect(throws: SQLiteError.self) {
      try database.write { try $0.updateExisting(City(id: 2, name: "c", population: 3)) }
    }
    #expect(error?.code == .notFound)
    #expect(try database.read { try $0.count(of: City.self) } == 1)
  }

  @Test func `a bulk insert is atomic`() throws {
    try database.write { try $0.update(City(id: 5, name: "five", population: 5)) }
    #expect(throws: SQLiteError.self) {
      let cities = [4, 5, 6].map { City(id: $0, name: "x", population: 0) }
      try database.write { try $0.insert(contentsOf: cities) }
    }
    #expect(try database.read { try $0.objects(of: City.self) }.map(\.name) == ["five"])
  }

  @Test func `a bulk insert doesn't reuse values of the previous row`() throws {
    let day = Date(timeIntervalSinceReferenceDate: 1)
    try database.write {
      try $0.insert(contentsOf: [
        City(name: "a", population: 1, founded: day), City(name: "b", population: 2),
        City(name: "c", population: 3, founded: day),
      ])
    }
    let founded = try database.read { try $0.objects(of: City.self, orderedBy: .column("id")) }.map(
      \.founded)
    #expect(founded == [day, nil, day])
  }

  @Test func `auto-incremented keys aren't reused after removal`() throws {
    let first = try database.write { try $0.update(City(name: "a", population: 1)) }
    #expect(try database.write { try $0.remove(first) })
    #expect(try database.write { try $0.remove(first) } == false)
    #expect(try database.read { try $0.makeKey(for: City.self) } == .integer(2))
    #expect(try database.write { try $0.update(City(name: "b", population: 2)) }.id == 2)
  }

  @Test func `a table whose creation was rolled back is created again`() throws {
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try database.write { connection in
        try connection.update(City(name: "a", population: 1))
        throw Stop()
      }
    }
    #expect(try database.write { try $0.update(City(name: "b", population: 2)) }.id == 1)
    #expect(try database.read { try $0.objects(of: City.self) }.map(\.name) == ["b"])
  }

  @Test func `records can be fetched and saved while others of their type are streamed`() throws {
    let cities = (1...3).map { City(name: "\($0)", population: $0) }
    try database.write { try $0.insert(contentsOf: cities) }
    var seen: [String] = []
    try database.write { connection in
      try connection.forEach(City.ordered(by: .column("id"))) { city in
        let same = try connection.object(of: City.self, ifPresent: city.id ?? 0)
        #expect(same == city)
        let next = try connection.objects(of: City.self, where: "id > \(city.id ?? 0)").first
        seen.append(city.name + (next?.name ?? ""))
        try connection.update(City(id: city.id, name: "x", population: 0))
      }
    }
    #expect(seen == ["12", "23", "3"])
    #expect(try database.read { try $0.count(of: City.self, where: "name = 'x'") } == 3)
  }

  @Test func `a missing key throws, or returns nil with ifPresent`() async throws {
    for tableExists in [false, true] {
      if tableExists { try await database.write { try $0.prepare(City.self) } }
      let blocking = { [database] in try database.read { try $0.object(of: City.self, primary: 7) }
      }
      let error = #expect(throws: SQLiteError.self) { try blocking() }
      #expect(error?.code == .notFound)
      let other = await #expect(throws: SQLiteError.self) {
        try await database.readBriefly { try $0.object(of: City.self, primary: 7) }
      }
      #expect(other?.code == .notFound)
      #expect(try await database.readBriefly { try $0.object(of: City.self, ifPresent: 7) } == nil)
    }
    let city = try await database.write { try $0.update(City(name: "a", population: 1)) }
    #expect(try await database.readBriefly { try $0.object(of: City.self, primary: 1) } == city)
  }

  @Test func `calls that suspend save, fetch and remove records`() async throws {
    let city = try await database.write { try $0.update(City(name: "a", population: 1)) }
    #expect(city.id == 1)
    #expect(try await database.readBriefly { try $0.object(of: City.self, ifPresent: 1) } == city)
    #expect(try await database.readBriefly { try $0.has(city) })
    #expect(try await database.write { try $0.remove(city) })
    #expect(try await database.readBriefly { try $0.objects(of: City.self) }.isEmpty)
  }

  @Test func `any query can be decoded as any type`() throws {
    struct Summary: Decodable, Equatable {
      var name: String
      var n: Int
    }
    let cities = ["a", "b", "a"].map { City(name: $0, population: 1) }
    try database.write { try $0.insert(contentsOf: cities) }
    let summaries = try database.read {
      try $0.fetch(
        .sql("SELECT name, count(*) AS N FROM City GROUP BY name ORDER BY name", as: Summary.self))
    }
    #expect(summaries == [Summary(name: "a", n: 2), Summary(name: "b", n: 1)])
  }

  @Test func `a query with one column is decoded as single values`() throws {
    #expect(
      try database.read { try $0.fetch(.sql("VALUES ('x'), ('y')", as: String.self)) } == [
        "x", "y",
      ])
    #expect(
      try database.read { try $0.fetch(.sql("SELECT '[1,2]'", as: [Int].self)) } == [[1, 2]])
    #expect(try database.read { try $0.fetch(.sql("SELECT NULL", as: Int?.self)) } == [nil])
    let day = Date(timeIntervalSinceReferenceDate: 0.25)
    #expect(try database.read { try $0.fetch(.sql("SELECT \(day)", as: Date.self)) } == [day])
    #expect(throws: RowDecodingError.self) {
      try database.read { try $0.fetch(.sql("SELECT 1, 2", as: Int.self)) }
    }
  }

  @Test func `prefixed columns of joined rows are decoded into nested values`() throws {
    struct Country: Decodable, Equatable { var code: String; var name: String }
    struct Place: Decodable, Equatable { var name: String; var country: Country? }
    let places = try database.read {
      try $0.fetch(
        .sql(
          """
          SELECT 'Oslo' AS name, 'NO' AS "country.code", 'Norway' AS "country.name"
          UNION ALL SELECT 'Atlantis', NULL, NULL
          """, as: Place.self))
    }
    #expect(places[0] == Place(name: "Oslo", country: Country(code: "NO", name: "Norway")))
    #expect(places[1] == Place(name: "Atlantis", country: nil))
  }
}
