import Foundation
import SQLiteCore
import Testing
import TestSupport

/// Compiles and runs the code of the article “The low-level API”.
@Suite struct ReadmeCoreTests {
  @Test func `the low-level API opens, reads, writes and copies databases`() throws {
    let folder = try TestFolder()
    let path = folder.file()
    let name = "Toronto"

    // Opening
    let database = try Database(path: path)
    let scratch = try Database.memory()
    try database.write {
      try $0.createTable(
        "city",
        columns: [ColumnDefinition("name", .text), ColumnDefinition("population", .integer)])
    }
    let archive = try Database(path: path, options: .readOnly)
    let download = try Database(path: path, options: .untrusted)
    #expect(
      try archive.read { try $0.existingTables() }
        == (try download.read { try $0.existingTables() }))

    // Reading and writing
    try database.write { connection in
      try connection.executeChange(
        "INSERT INTO city (name, population) VALUES (\(name), \(2_615_060))")
    }
    let rows = try database.executeQuery("SELECT * FROM city WHERE name = \(name)")
    let population = rows.first?["population"]?.asInt()
    #expect(population == 2_615_060)
    try database.executeChange(
      "UPDATE city SET i? = ? WHERE name = ?", withArgs: ["population", 2_731_571, name])
    for (name, population) in try database.rows(
      "SELECT name, population FROM city", as: String.self, Int?.self)
    {
      print(name, population ?? 0)
    }
    #expect(
      try database.executeQuery("SELECT population FROM city").first?[0]?.asInt() == 2_731_571)

    // Statements
    let list = [("Oslo", 709_037), ("Rome", 2_873_000)]
    try database.write { connection in
      var insert = try connection.statement("INSERT INTO city (name, population) VALUES (?1, ?2)")
      for (name, population) in list { try insert.run(name, population) }
    }

    // The schema
    try database.write { connection in
      try connection.createTable(
        "person",
        columns: [
          ColumnDefinition("id", .integer, isPrimaryKey: true),
          ColumnDefinition("name", .text),
        ])
      try connection.createIndex("person name", on: "person", columns: ["name"], isUnique: true)
    }
    let tables = try database.read { try $0.existingTables() }
    let columns = try database.read { try $0.columns(of: "person") }
    #expect(tables == ["city", "person"])
    #expect(columns.map(\.name) == ["id", "name"])

    // Copies
    try database.executeMultipleChanges(
      "CREATE TABLE file (content); INSERT INTO file VALUES (zeroblob(10000))")
    try database.backup(to: scratch) { progress in print(progress.remainingPages) }
    try database.vacuum(into: folder.file("copy"))
    let bytes = try database.serialized()
    let copy = try Database.memory(serialized: bytes)
    #expect(
      try copy.read { try $0.existingTables() } == (try scratch.read { try $0.existingTables() }))
    try database.write { connection in
      try connection.withBlob(table: "file", column: "content", rowID: 1, isWritable: true) {
        blob in
        try blob.write([1, 2, 3], at: 4_096)
      }
    }

    // Errors
    try database.executeChange("INSERT INTO person (name) VALUES (\(name))")
    do {
      try database.executeChange("INSERT INTO person (name) VALUES (\(name))")
    } catch let error as SQLiteError where error.code == .uniqueConstraint {
      print(error.constraint?.columns ?? [])
    }
    let error = #expect(throws: SQLiteError.self) {
      try database.executeChange("INSERT INTO person (name) VALUES (\(name))")
    }
    #expect(error?.constraint?.columns == ["name"])
  }

  @Test func `a read has a deadline`() async throws {
    let database = try Database.memory()
    try await database.executeMultipleChanges(
      "CREATE TABLE city (name); INSERT INTO city VALUES ('Toronto')")
    let names = try await database.read(deadline: .now + .seconds(20)) { connection in
      var names: [String] = []
      try connection.forEachRow("SELECT name FROM city") { row in
        names.append(try row.text(at: 0))
      }
      return names
    }
    #expect(names == ["Toronto"])
    let sizes = try await database.rows("SELECT name, 1 FROM city", as: String.self, Int.self)
    #expect(sizes.map { $0.1 } == [1])
    #expect(try await database.executeQuery("SELECT ?", withArgs: [5]).first?[0]?.asInt() == 5)
    #expect(try await database.executeQuery("SELECT 5").first?.values == [.integer(5)])
    let inserted = try await database.executeChange("INSERT INTO city VALUES (?)", withArgs: ["x"])
    #expect(inserted.rows == 1)
  }

  @Test func `SQL functions are written in Swift`() throws {
    var options = Database.Options()
    options.prepareConnection = { connection in
      try connection.addFunction("initials") { (name: String) in
        name.split(separator: " ").map { $0.prefix(1) }.joined()
      }
      try connection.addAggregate("product", initial: { 1.0 }) {
        (state: inout Double, factor: Double) in
        state *= factor
      } result: {
        $0
      }
      try connection.addCollation("byLength") { $0.utf8.count - $1.utf8.count }
    }
    let database = try Database.memory(options: options)
    let row = try database.executeQuery(
      "SELECT initials('Ada King'), (SELECT product(value) FROM json_each('[1.5,2.0,4.0]'))"
    ).first
    #expect(row?.values == [.text("AK"), .real(12)])
  }
}
