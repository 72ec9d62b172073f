import Conformance
import SQLiteCore
import Testing
import TestSupport

@Suite(.everyEngine) struct AsyncConvenienceTests {
  let fixture: Fixture

  init() throws { fixture = try Fixture(.file) }

  @Test func `a task creates, lists and drops tables and indexes`() async throws {
    let database = fixture.database
    try await database.write {
      try $0.createTable(
        "city", columns: [ColumnDefinition("name", .text)], isStrict: true)
    }
    try await database.write {
      try $0.createTable(
        "city", columns: [ColumnDefinition("name", .text)], ifNotExists: true)
    }
    #expect(try await database.read { try $0.existingTables() } == ["city"])
    try await database.write {
      try $0.createIndex("byName", on: "city", columns: ["name"], isUnique: true)
    }
    try await database.write {
      try $0.createIndex("byName", on: "city", columns: ["name"], ifNotExists: true)
    }
    #expect(
      try await database.read { try $0.existingIndexes(of: "city") }.map(\.name) == ["byName"])
    try await database.write { try $0.removeIndex("byName") }
    try await database.write { try $0.removeIndex("byName", ifExists: true) }
    #expect(try await database.read { try $0.existingIndexes() }.isEmpty)
    try await database.write { try $0.deleteTable("city") }
    try await database.write { try $0.deleteTable("city", ifExists: true) }
    #expect(try await database.read { try $0.existingTables() }.isEmpty)
  }

  @Test(.requires(.backup)) func `a task copies, serializes and checkpoints`() async throws {
    let database = fixture.database
    try await database.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    let bytes = try await database.serialized()
    let copy = try Database.memory(serialized: bytes)
    #expect(try await copy.rows("SELECT a FROM t", as: Int.self).first == 1)
    let path = fixture.folder.file("copy.sqlite")
    try await database.vacuum(into: path)
    let vacuumed = try Database.at(path)
    #expect(try await vacuumed.rows("SELECT a FROM t", as: Int.self).first == 1)
    let result = try await database.checkpoint(.truncate)
    #expect(result.logPages == 0)
  }

  @Test func `a task suspends, resumes and closes`() async throws {
    let database = fixture.database
    try await database.executeChange("CREATE TABLE t (a)")
    try await database.suspend()
    await #expect(throws: SQLiteError.self) { try await database.read { try $0.existingTables() } }
    database.resume()
    #expect(try await database.read { try $0.existingTables() } == ["t"])
    try await database.close()
    let error = await #expect(throws: SQLiteError.self) {
      try await database.read { try $0.existingTables() }
    }
    #expect(error?.code == .misuse)
  }
}
