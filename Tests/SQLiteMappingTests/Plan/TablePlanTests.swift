import Conformance
import Foundation
import SQLiteCore
import SQLiteMapping
import Testing

@Suite(.everyEngine) struct TablePlanTests {
  private struct Refusal: Error, Equatable { let reason: String }

  private func plan(
    _ key: TablePlan.Key, _ kind: TablePlan.Kind = .objects, _ traits: [PropertyTrait] = []
  ) throws -> TablePlan {
    var plan = TablePlan("T", key: key, kind: kind)
    let properties: [TablePlan.Property] = [
      .init("id", ColumnDefinition("id", .integer, isOptional: true)),
      .init("a", ColumnDefinition("a", .text)),
      .init("owner", ColumnDefinition("owner", .integer, isOptional: true), isRelation: true),
      .init("all", nil, isRelation: true),
    ]
    try plan.setProperties(properties, traits) { Refusal(reason: $0) }
    return plan
  }

  @Test func `generated SQL quotes names and has one parameter per value`() throws {
    let plan = try plan(.given(["id"]))
    #expect(plan.selectByKey().text == #"SELECT * FROM "T" WHERE "id" = ?"#)
    #expect(plan.deleteByKey().text == #"DELETE FROM "T" WHERE "id" = ?"#)
    #expect(plan.select("count(*)", by: "a").text == #"SELECT count(*) FROM "T" WHERE "a" = ?"#)
    #expect(plan.insert([]).text == #"INSERT INTO "T" DEFAULT VALUES"#)
    #expect(
      plan.insert(["id", "a"], rows: 2).text
        == #"INSERT INTO "T" ("id", "a") VALUES (?, ?), (?, ?)"#)
    #expect(
      plan.insert(["id", "a"], .update(on: ["id"], changed: ["a"])).text
        == #"INSERT INTO "T" ("id", "a") VALUES (?, ?) ON CONFLICT ("id") DO UPDATE SET "a" = excluded."a""#
    )
    #expect(
      plan.insert(["id"], .update(on: ["id"], changed: [])).text
        == #"INSERT INTO "T" ("id") VALUES (?) ON CONFLICT ("id") DO NOTHING"#)
    #expect(plan.update(["a"]).text == #"UPDATE "T" SET "a" = ?1 WHERE "id" = ?2"#)
    #expect(
      plan.update(["a"], bound: ["id", "a"]).text == #"UPDATE "T" SET "a" = ?2 WHERE "id" = ?1"#)
    var limited = plan.select("*")
    limited.append(limit: -1, offset: 0)
    #expect(throws: SQLiteError.self) { try limited.checkedText }
  }

  @Test func `a name that can't be quoted produces no SQL`() {
    let plan = TablePlan("a\0b", key: .given(["id"]), kind: .records)
    #expect(throws: SQLiteError.self) { try plan.selectByKey().checkedText }
  }

  @Test func `traits become indexes, defaults, delete rules and references`() throws {
    let plan = try plan(
      .autoIncremented("z_index"), .objects,
      [
        .unique("a"), .indexed("a", "owner"), .default("a", "x"),
        PropertyTrait(.onDelete(.restrict), ["owner"]),
      ])
    #expect(plan.indexes.map(\.isUnique) == [true, false])
    #expect(plan.properties[1].column?.defaultValue == .text("x"))
    #expect(plan.properties[2].deleteRule == .restrict)
    let definition = plan.definition { slot in
      slot == 2 ? .init(table: "Owner", column: "z_index", onDelete: .restrict) : nil
    }
    #expect(definition.key == .autoIncrement("z_index"))
    #expect(definition.columns.map(\.name) == ["id", "a", "owner"])
    #expect(definition.columns[2].reference?.table == "Owner")
    #expect(definition.indexes.last?.columns == ["owner"])
  }

  @Test(
    arguments: [
      PropertyTrait(.onDelete(.cascade), ["a"]), PropertyTrait(.onDelete(.cascade), ["all"]),
      .unique("all"), .searched("id"), .searched("owner"), .indexed("missing"),
    ])
  func `a trait that doesn't suit its property throws`(trait: PropertyTrait) throws {
    #expect(throws: Refusal.self) { try plan(.autoIncremented("id"), .objects, [trait]) }
  }

  @Test func `a table lacks the new columns and indexes of its type until it is ensured`() throws {
    let plan = try plan(.given(["id"]), .records, [.unique("a")])
    try Database.fresh().write { connection in
      #expect(try connection.growth(of: plan.definition()).isMissing)
      try connection.executeChange("CREATE TABLE T (id INTEGER PRIMARY KEY, a TEXT)")
      let growth = try connection.growth(of: plan.definition())
      #expect(growth.columns.map(\.name) == ["owner"])
      #expect(growth.indexes.map(\.columns) == [["a"]])
      try connection.ensure(plan.definition())
      #expect(try connection.growth(of: plan.definition()).isEmpty)
      #expect(try connection.greatestKey(of: plan) == 0)
      try connection.executeChange("INSERT INTO T (id, a) VALUES (7, 'x')")
      #expect(try connection.greatestKey(of: plan) == 7)
    }
  }
}

@Suite(.everyEngine) struct StorageTests {
  private enum Mood: String, Codable { case good, bad }
  private struct Point: Codable, Equatable { var x = 1, y = 2 }
  private struct Holder<Source: Codable>: Codable { var value: Source }

  @Test func `a type has the matching column type and storage kind`() {
    func form(_ type: Any.Type) -> [String] {
      let storage = ColumnStorage(of: type)
      return [
        storage.columnType.rawValue, "\(storage.isOptional)", "\(storage.kind)",
      ]
    }
    #expect(form(String.self) == ["TEXT", "false", "text"])
    #expect(form(Int?.self) == ["INTEGER", "true", "integer"])
    #expect(form(Int64.self) == ["INTEGER", "false", "integer"])
    #expect(form(UInt8.self) == ["INTEGER", "false", "other"])
    #expect(form(Double.self) == ["REAL", "false", "real"])
    #expect(form(Bool?.self) == ["INTEGER", "true", "boolean"])
    #expect(form(Data.self) == ["BLOB", "false", "data"])
    #expect(form(Date?.self) == ["TEXT", "true", "other"])
    #expect(form(Mood?.self) == ["TEXT", "true", "other"])
    #expect(form(Point.self) == ["TEXT", "false", "other"])
    var strategies = MappingStrategies()
    strategies.data = .hex
    #expect(ColumnStorage(of: Data.self, strategies).kind == .other)
  }

  private func check<Source: Codable & Equatable>(
    _ value: Source, _ stored: Value, _ strategies: MappingStrategies = MappingStrategies()
  ) throws {
    #expect(try strategies.stored(value) == stored)
    #expect(try strategies.value(Source.self, of: stored) == value)
    let isSame = try Database.fresh().read { connection in
      var statement = try connection.statement("SELECT ? AS value")
      let binder = RowBinder(statement, columns: ["value"], strategies: strategies)
      try binder.bind(Holder(value: value))
      guard try statement.step() else { return false }
      let holder = Holder<Source>.self
      return try RowReader(statement, as: holder, strategies: strategies).row(as: holder).value
        == value
    }
    #expect(isSame)
  }

  @Test func `a value is stored, bound and read in the same form`() throws {
    try check("a", .text("a"))
    try check(Int8(-1), .integer(-1))
    try check(1.5, .real(1.5))
    try check(Float(0.5), .real(0.5))
    try check(true, .integer(1))
    try check(Data([1]), .blob([1]))
    try check([UInt8](), .blob([]))
    try check(Int?.none, .null)
    try check(Int?.some(3), .integer(3))
    try check(Mood.bad, .text("bad"))
    try check(Mood?.none, .null)
    try check(Point(), .text(#"{"x":1,"y":2}"#))
    try check(Date(timeIntervalSinceReferenceDate: 0), .text("2001-01-01 00:00:00"))
    var strategies = MappingStrategies()
    strategies.dates = .secondsSinceReferenceDate
    strategies.nested = .blob
    try check(Date(timeIntervalSinceReferenceDate: 2), .real(2), strategies)
    try check([1, 2], .blob(Array("[1,2]".utf8)), strategies)
  }

  @Test(arguments: [Value.null, .text("1"), .real(1.5), .integer(300)])
  func `a mismatched value throws an error that doesn't contain it`(stored: Value) {
    let error = #expect(throws: SQLiteError.self) {
      try MappingStrategies().value(Int8.self, of: stored)
    }
    #expect(error?.message.contains("300") == false)
    #expect(throws: SQLiteError.self) { try MappingStrategies().value(Bool.self, of: stored) }
  }
}
