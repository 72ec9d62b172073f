import Conformance
import Foundation
import SQLiteCore
import SQLiteMapping
import Testing

@Suite(.everyEngine) struct RowDecodingErrorTests {
  struct Row: Decodable {
    struct Inner: Decodable { var deep: [Int] }
    enum Color: String, Decodable { case red }
    var number: Int8?
    var name: String?
    var flag: Bool?
    var real: Float?
    var when: Date?
    var color: Color?
    var inner: Inner?
  }

  struct Strict: Decodable { var number: Int }

  static let all = "number, name, flag, real, [when], color, [inner]"

  @Test(
    arguments: [
      ("300", "number", "INTEGER"), ("'x'", "number", "TEXT"), ("1.5", "number", "REAL"),
      ("x'00'", "number", "BLOB"), ("1", "name", "INTEGER"), ("2", "flag", "INTEGER"),
      ("0.1", "real", "REAL"), ("'soon'", "when", "TEXT"), ("1", "when", "INTEGER"),
      ("'blue'", "color", "TEXT"), ("1", "inner", "INTEGER"), ("'{'", "inner", "TEXT"),
      ("'{}'", "inner", "TEXT"), ("CAST(x'ff' AS TEXT)", "name", "TEXT"),
    ])
  func `a value of the wrong kind throws an error that names type, column and SQL`(
    stored: String, column: String, storageClass: String
  ) throws {
    let others = ["number", "name", "flag", "real", "when", "color", "inner"]
      .map { $0 == column ? "\(stored) AS [\($0)]" : "NULL AS [\($0)]" }
    let sql = "SELECT \(others.joined(separator: ", "))"
    let error = #expect(throws: RowDecodingError.self) {
      try Database.fresh().read { try $0.fetch(.sql(SQL(unchecked: sql), as: Row.self)) }
    }
    #expect(error?.type == "Row")
    #expect(error?.column == column)
    #expect(error?.codingPath.first == column)
    #expect(error?.storageClass == storageClass)
    #expect(error?.sql == sql)
  }

  @Test func `NULL in a property that isn't optional throws`() throws {
    let error = #expect(throws: RowDecodingError.self) {
      try Database.fresh().read { try $0.fetch(.sql("SELECT NULL AS number", as: Strict.self)) }
    }
    #expect(error?.storageClass == "NULL")
    #expect(error?.column == "number")
  }

  @Test func `a missing column throws, even for an optional`() throws {
    struct Loose: Decodable { var number: Int? }
    let error = #expect(throws: RowDecodingError.self) {
      try Database.fresh().read { try $0.fetch(.sql("SELECT 1 AS other", as: Loose.self)) }
    }
    #expect(error?.codingPath == ["number"])
    #expect(error?.column == nil)
  }

  @Test func `the error contains the path into a nested value`() throws {
    struct Outer: Decodable {
      struct Inner: Decodable { var list: [Int] }
      var inner: Inner
    }
    let error = #expect(throws: RowDecodingError.self) {
      try Database.fresh().read {
        try $0.fetch(.sql(#"SELECT '{"list":[1,"x"]}' AS inner"#, as: Outer.self))
      }
    }
    #expect(error?.codingPath.prefix(2) == ["inner", "list"])
    #expect(error?.column == "inner")
  }

  @Test func `column names are compared like in SQLite`() throws {
    let rows = try Database.fresh().read {
      try $0.fetch(.sql("SELECT 1 AS NUMBER", as: Strict.self))
    }
    #expect(rows.first?.number == 1)
    struct Umlaut: Decodable { var ä: Int }
    #expect(throws: RowDecodingError.self) {
      try Database.fresh().read { try $0.fetch(.sql("SELECT 1 AS Ä", as: Umlaut.self)) }
    }
  }

  @Test func `the error description doesn't contain the stored value`() throws {
    let error = #expect(throws: RowDecodingError.self) {
      try Database.fresh().read {
        try $0.fetch(.sql("SELECT \("a secret") AS number", as: Strict.self))
      }
    }
    #expect(error?.description.contains("secret") == false)
    #expect(error?.description.contains("number") == true)
  }
}
