import Conformance
import Foundation
import MagicCluster
import MagicData
import SQLiteHistory
import SQLitePortable
import SQLiteSchema
import Testing

private final class Town: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var name: String
  @OptionalMagicValue var founded: Int?
  @MagicValue var inhabitants: [Inhabitant]
  @MagicValue var map: MagicAsset<String>

  static var traits: [PropertyTrait] { [.searched(\Town.$name)] }

  init() {
    inhabitants = []
    map = MagicAsset()
  }

  init(_ id: String, _ name: String, founded: Int? = nil) {
    self.id = id
    self.name = name
    self.founded = founded
    inhabitants = []
    map = MagicAsset()
  }
}

private final class Inhabitant: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @ReverseMagicValue(\Town.$inhabitants) var towns: AsyncReverseMagicSet<Town>

  init() {}
  init(_ id: Int, _ name: String) {
    self.id = id
    self.name = name
  }
}

private final class Ware: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var price: Decimal

  static var traits: [PropertyTrait] { [.indexed(\Ware.$price)] }

  init() {}
  init(_ id: Int, _ price: Decimal) {
    self.id = id
    self.price = price
  }
}

private struct Reading: Record, Codable, Equatable {
  var id: Int?
  var place: String
  var value: Double
}

@Suite(.enabled(if: TestCluster.isAvailable, Comment(rawValue: TestCluster.reason)))
struct ClusterStoreTests {
  private func store(_ name: String = #function) throws -> MagicData {
    try MagicData(cluster: try TestCluster.shared.get().addresses, name: name)
  }

  @Test func `objects with relations and assets are saved, found and removed`() async throws {
    let magic = try store()
    let town = Town("z", "Zürich", founded: 15)
    town.inhabitants = [Inhabitant(1, "Anna"), Inhabitant(2, "Beat")]
    town.map = MagicAsset(value: "<svg/>", pathExtension: "svg")
    try await magic.update(town)
    try await magic.update(Town("b", "Bern", founded: 1191))

    let other = try store()
    let found = try await other.object(of: Town.self, primary: "z")
    #expect(found.inhabitants.map(\.name) == ["Anna", "Beat"])
    #expect(try await found.map.get() == "<svg/>")
    let old = try await other.objects(of: Town.self, where: \.$founded < 1_000)
    #expect(old.map(\.name) == ["Zürich"])
    let names = try await other.objects(of: Town.self, orderedBy: [.descending(\.$name)]).map(
      \.name)
    #expect(names == ["Zürich", "Bern"])
    #expect(try await other.fetch(Town.all.search(.all(of: "zürich"))).count == 1)
    try await other.remove(found)
    #expect(try await magic.objects(of: Town.self).map(\.name) == ["Bern"])
    #expect(try await magic.assets.verify().isEmpty)
  }

  @Test func `records and transactions work`() throws {
    let database = try TestCluster.shared.get().database()
    let readings = (1...500).map { Reading(id: $0, place: "p\($0 % 7)", value: Double($0) / 3) }
    try database.write { try $0.insert(contentsOf: readings) }
    #expect(try database.read { try $0.objects(of: Reading.self) }.count == 500)
    #expect(try database.read { try $0.object(of: Reading.self, primary: 7) }.value == 7.0 / 3)
    #expect(throws: CancellationError.self) {
      try database.write { connection in
        try connection.executeChange("DELETE FROM Reading")
        throw CancellationError()
      }
    }
    #expect(try database.read { try $0.count(of: Reading.self) } == 500)
  }

  @Test func `an observer is notified of other clients' commits`() async throws {
    let magic = try store()
    try await magic.update(Town("a", "Aarau"))
    let other = try store()
    var counts: [Int] = []
    for try await towns in magic.observe(Town.all) {
      counts.append(towns.count)
      if counts.count == 1 { try await other.update(Town("b", "Bern")) }
      if counts.count == 2 { break }
    }
    #expect(counts == [1, 2])
  }

  @Test func `clients that concurrently open a new store create its tables once`() async throws {
    try await withThrowingTaskGroup { group in
      for writer in 0..<6 {
        group.addTask {
          let magic = try self.store("at once")
          for number in 0..<4 {
            let town = Town("\(writer)-\(number)", "Town")
            town.inhabitants = [Inhabitant(writer * 10 + number, "Anna")]
            try await magic.update(town)
          }
        }
      }
      try await group.waitForAll()
    }
    let magic = try store("at once")
    #expect(try await magic.count(of: Town.self) == 24)
    let whole = try await magic.count(of: Town.self, where: (\Town.$inhabitants).count == 1)
    #expect(whole == 24)
    #expect(try await magic.database.executeQuery("PRAGMA foreign_key_check").isEmpty)
  }

  @Test func `of several concurrent clients, only one runs and reports each migration`()
    async throws
  {
    let magic = try store("migrations")
    try await magic.update((0..<10).map { Town("\($0)", "Town") })
    let stores = try (0..<5).map { _ in try store("migrations") }
    let made = try await withThrowingTaskGroup(of: [String].self) { group in
      for store in stores {
        group.addTask {
          try await store.migrate([
            Migration("names are titles", .renameProperty("name", to: "title", of: "Town")),
            Migration("no more years", .dropProperty("founded", of: "Town")),
          ])
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(made.sorted() == ["names are titles", "no more years"])
    let titles = try await magic.database.rows("SELECT title FROM Town", as: String.self)
    #expect(titles.count == 10)
  }

  @Test func `updateAll computes new numbers, and an overflow throws`()
    async throws
  {
    let magic = try store()
    try await magic.update((1...5).map { (id: Int) in Town("\(id)", "Town", founded: id) })
    let changed = try await magic.updateAll(Town.where(\.$founded > 2), set: [\.$founded += 10])
    #expect(changed == 3)
    let years = try await magic.fetch(Town.ordered(by: .ascending(\Town.$id)).values(\.$founded))
    #expect(years == [1, 2, 13, 14, 15])
    let error = await #expect(throws: SQLiteError.self) {
      try await magic.updateAll(Town.all, set: [\.$founded += Int.max - 5])
    }
    #expect(error?.code == .range)
    #expect(try await magic.count(of: Town.self, where: \.$founded < 20) == 5)
  }

  @Test func `using a feature that clusters don't support throws`() throws {
    let database = try TestCluster.shared.get().database()
    #expect(Database.Feature.allCases.allSatisfy { !database.has($0) })
    let memory = try Database.memory()
    #expect(Database.Feature.allCases.allSatisfy { memory.has($0) })
    for work: (Connection) throws -> Void in [
      { try $0.addFunction("f") { (number: Int) in number } },
      { try $0.addCollation("c") { _, _ in 0 } },
      { try $0.setAuthorizer { _ in .allow } },
      { try $0.trace { _ in } },
      { try $0.withBlob(table: "t", column: "c", rowID: 1) { _ in } },
    ] {
      let error = #expect(throws: SQLiteError.self) { try database.withoutTransaction(work) }
      #expect(error?.code == .authorization)
    }
    #expect(throws: SQLiteError.self) { try database.backup(to: memory) }
    #expect(throws: SQLiteError.self) { try memory.backup(to: database) }
    #expect(throws: SQLiteError.self) { try database.serialized() }
    #expect(throws: SQLiteError.self) { try database.checkpoint() }
    #expect(throws: SQLiteError.self) { try database.vacuum(into: "/tmp/never") }
  }

  @Test func `a query that needs a library function throws an error that names it`()
    throws
  {
    let magic = try store()
    try magic.update(Town("z", "Zürich"))
    let error = #expect(throws: SQLiteError.self) {
      try magic.objects(of: Town.self, where: (\Town.$name).prefix(2) == "Zü")
    }
    #expect(error?.code == .authorization)
    #expect(
      error?.message.hasSuffix(
        "does not support custom functions, such as this library's magicdata_text_prefix") == true)
    // A typo throws SQLite's own error.
    let slip = #expect(throws: SQLiteError.self) {
      try magic.database.executeQuery("SELECT uper(name) FROM Town")
    }
    #expect(slip?.code == .error)
    #expect(try magic.objects(of: Town.self, where: \Town.$name == "Zürich").count == 1)
  }

  @Test func `decimals are looked up by index, and comparing their order throws`() throws {
    let magic = try store()
    try magic.update([Ware(1, 2.5), Ware(2, 10), Ware(3, 2.5)])
    #expect(try magic.objects(of: Ware.self, where: \.$price == 2.5).map(\.id) == [1, 3])
    #expect(try magic.objects(of: Ware.self, where: (\Ware.$price).isIn([10, 7])).map(\.id) == [2])
    let plan = try magic.database.executeQuery(
      "EXPLAIN QUERY PLAN SELECT * FROM Ware WHERE price = '2.5'")
    #expect("\(plan.map(\.values))".contains("INDEX"))
    let error = #expect(throws: SQLiteError.self) {
      try magic.objects(of: Ware.self, where: \.$price > 5)
    }
    #expect(error?.code == .authorization)
    #expect(
      error?.message.hasSuffix(
        "does not support custom collations, such as this library's magicdata_decimal") == true)
    // Another client finds nothing to change in the schema.
    let other = try store()
    #expect(try other.check(of: Ware.self).isEmpty)
    try other.update(Ware(4, 1))
    #expect(try other.database.read { try $0.existingIndexes(of: "Ware").count } == 1)
  }

  @Test func `a file with decimals moves to a cluster and back`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "magicdata-wares-\(UUID().uuidString)"
    ).path(percentEncoded: false)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let source = try MagicData(path: folder)
    try source.update([Ware(1, 2.5), Ware(2, 10)])
    try source.database.dump(to: .spon(path: folder + "/out.spon"))
    let magic = try store()
    try magic.database.write { connection in
      try connection.executeMultipleChanges(
        connection.existingTables().map { "DROP TABLE \(identifier: $0)" })
    }
    try magic.database.restore(from: .spon(path: folder + "/out.spon"))
    let moved = try store()
    #expect(try moved.objects(of: Ware.self, where: \.$price == 10).map(\.id) == [2])
    #expect(try moved.check(of: Ware.self).isEmpty)
    try moved.database.dump(to: .spon(path: folder + "/back.spon"))
    try source.database.restore(from: .spon(path: folder + "/back.spon"))
    // The first use recreates the index with the decimal collation.
    #expect(try source.objects(of: Ware.self, where: \.$price > 5).map(\.id) == [2])
    try source.update(Ware(3, 1))
    #expect(try source.check(of: Ware.self).isEmpty)
  }

  @Test func `a migration that recreates a table doesn't delete the referencing rows`() throws {
    let database = try TestCluster.shared.get().database()
    try database.executeMultipleChanges(
      """
      CREATE TABLE city (id INTEGER PRIMARY KEY, size TEXT);
      CREATE TABLE person (id INTEGER PRIMARY KEY, city INTEGER REFERENCES city ON DELETE CASCADE);
      INSERT INTO city VALUES (1, '12');
      INSERT INTO person VALUES (1, 1);
      """)
    try database.migrate([
      Migration("sizes are numbers", .changeType("size", to: "REAL", in: "city"))
    ])
    #expect(try database.rows("SELECT size FROM city", as: Value.self) == [.real(12)])
    #expect(try database.executeQuery("SELECT * FROM person").count == 1)
    try database.executeChange("DELETE FROM city")
    #expect(try database.executeQuery("SELECT * FROM person").isEmpty)
  }

  @Test func `journals and patches, which need the old values of changed rows, throw`()
    throws
  {
    let database = try TestCluster.shared.get().database()
    #expect(throws: SQLiteError.self) { try database.journal() }
    #expect(throws: SQLiteError.self) {
      try database.patch { try $0.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY)") }
    }
  }
}
