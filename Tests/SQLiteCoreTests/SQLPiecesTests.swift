import Conformance
import Foundation
import SQLiteCore
import TestSupport
import Testing

@Suite(.everyEngine) struct SQLPiecesTests {
  @Test func `SQL has the same text no matter how its pieces were joined`() {
    let text = "x"
    let optional: Int? = nil
    let unknown: any Bindable = 2.5
    var sql: SQL = "a \(1) b\(text)\(optional) \(identifier: "c\"") \(unknown)"
    #expect(sql.text == "a ? b?? \"c\"\"\" ?")
    sql.append(" d")
    sql.append("\(3)")
    #expect(sql.text == "a ? b?? \"c\"\"\" ? d?")
    let outer: SQL = "\(sql), \(4) (\(sql))"
    #expect(outer.text == "a ? b?? \"c\"\"\" ? d?, ? (a ? b?? \"c\"\"\" ? d?)")
    #expect(SQL(joining: [outer, "e"], separator: "; ").text == outer.text + "; e")
  }

  /// Cached statements are identified by the exact bytes of their SQL.
  @Test func `literals of the same length are distinguished by every byte`() throws {
    let database = try Database.fresh()
    let (first, second, digit) = ("a", "b", 1)
    let queries: [SQL] = [
      "SELECT \(first) || 'x'", "SELECT \(second) || 'y'", "SELECT \(first) || 'y'",
      "SELECT 'x' || \(first)",
      // A value's placeholder is as long as a digit.
      "SELECT 'z' || \(digit)", "SELECT 'z' || 1", "SELECT 'z' || 2",
    ]
    let found = try database.read { connection -> [String] in
      try (queries + queries).flatMap { try connection.rows($0, as: String.self) }
    }
    let expected = ["ax", "by", "ay", "xa", "z1", "z1", "z2"]
    #expect(found == expected + expected)
  }

  @Test(arguments: [
    "", "a\0b", "\0", "0123456789abcdef", "é𝄞", String(repeating: "ü", count: 70_000),
  ])
  func `a change stores text and bytes unchanged`(text: String) throws {
    let text = Engine.text(text)
    let database = try Database.fresh()
    try database.executeChange("CREATE TABLE t (a, b, c, d)")
    let bytes = Array(text.utf8)
    for _ in 0..<2 {
      try database.executeChange(
        "INSERT INTO t VALUES (\(text), \(bytes), \(text + "x"), upper(\(text)) IS NULL)")
    }
    let rows = try database.rows(
      "SELECT a, b, c, d FROM t", as: Value.self, Value.self, Value.self, Int.self)
    #expect(rows.count == 2)
    for row in rows { #expect(row == (.text(text), .blob(bytes), .text(text + "x"), 0)) }
  }

  /// Each borrowed value uses stack. A thread may have a small stack, and a literal can contain
  /// 32,766 values.
  @Test(arguments: [15, 16, 17, 200], [20, 600])
  func `a change binds many strings on a thread with a small stack`(count: Int, length: Int) throws
  {
    try insertOnSmallStack(count, length)
  }

  @Test(.requires(.manyParameters), arguments: [20, 600])
  func `a change binds thousands of strings on a thread with a small stack`(
    length: Int
  ) throws {
    try insertOnSmallStack(5_000, length)
  }

  private func insertOnSmallStack(_ count: Int, _ length: Int) throws {
    let database = try Database.fresh()
    let texts = (0..<count).map { "text number \($0) " + String(repeating: "x", count: length) }
    try onSmallStack {
      let values = SQL(joining: texts.map { "(\($0))" }, separator: ", ")
      try database.executeChange("CREATE TABLE t (a)")
      try database.executeChange("INSERT INTO t VALUES \(values)")
    }
    #expect(try database.rows("SELECT a FROM t ORDER BY rowid", as: String.self) == texts)
  }

  /// Short values are copied to memory of the statement while there is room. Long values are
  /// borrowed.
  @Test(arguments: [511, 512, 513, 4_096])
  func `short and long values of one change are stored unchanged in every run`(
    length: Int
  ) throws {
    let database = try Database.fresh()
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c, d, e)")
    try database.write { connection in
      for run in 0..<12 {
        let text = String(repeating: run % 2 == 0 ? "a" : "ü", count: length)
        let bytes = [UInt8](repeating: UInt8(run), count: length - run)
        let (short, none) = ("run \(run)", Int?.none)
        let values: [Value] = [
          .text(text), .blob(bytes), .text(short), .null, .text(text + short),
        ]
        try connection.executeChange(
          "INSERT INTO t VALUES (\(run), \(text), \(bytes), \(short), \(none), \(text + short))")
        let row = try connection.firstRow("SELECT a, b, c, d, e FROM t WHERE id = \(run)")
        #expect(row?.values == values)
      }
    }
  }

  @Test func `values of a literal aren't kept when its statement is bound again`() throws {
    let database = try Database.fresh()
    try database.executeChange("CREATE TABLE t (a, b, c)")
    try database.write { connection in
      for run in 0..<3 {
        let text = "private text of run \(run)"
        try connection.executeChange("INSERT INTO t VALUES (\(text), \(run), \(0.5))")
        var statement = try connection.statement("INSERT INTO t VALUES (?, ?, ?)")
        #expect(!statement.expandedSQL.contains("private"))
        try statement.bind(run, at: 2)
        try statement.run()
      }
    }
    let (texts, numbers) = (
      try database.rows("SELECT a FROM t ORDER BY rowid", as: String?.self),
      try database.rows("SELECT b FROM t ORDER BY rowid", as: Int.self)
    )
    #expect(
      texts == (0..<3).flatMap { ["private text of run \($0)", nil] as [String?] })
    #expect(numbers == [0, 0, 1, 1, 2, 2])
    #expect(
      try database.rows("SELECT c FROM t WHERE a IS NULL", as: Double?.self) == [nil, nil, nil])
  }

  @Test func `a literal runs again after one of its values was rejected`() throws {
    let database = try Database.fresh()
    try database.executeChange("CREATE TABLE t (a, b)")
    try database.write { connection in
      for number in [1, Double.nan, 2] {
        _ = try? connection.executeChange(
          "INSERT INTO t VALUES (\("\(number)"), \(Value.real(number)))")
      }
    }
    #expect(try database.rows("SELECT a FROM t ORDER BY rowid", as: String.self) == ["1.0", "2.0"])
    #expect(try database.rows("SELECT b FROM t ORDER BY rowid", as: Double.self) == [1, 2])
  }

  @Test func `a failed change leaves no values bound to its statement`() throws {
    let database = try Database.fresh()
    try database.executeChange("CREATE TABLE t (a TEXT UNIQUE, b)")
    try database.write { connection in
      let text = "a text that is longer than fifteen bytes"
      try connection.executeChange("INSERT INTO t VALUES (\(text), \(1))")
      let error = sqliteError {
        try connection.executeChange("INSERT INTO t VALUES (\(text), \(2))")
      }
      #expect(error?.code == .uniqueConstraint)
      var statement = try connection.statement("INSERT INTO t VALUES (?, ?)")
      #expect(!statement.expandedSQL.contains("longer"))
      try statement.run(text + "!", 3)
    }
    #expect(try database.rows("SELECT b FROM t ORDER BY b", as: Int.self) == [1, 3])
  }

  @Test func `an invalid value stops a change before it runs`() throws {
    let database = try Database.fresh()
    try database.executeChange("CREATE TABLE t (a, b)")
    let error = sqliteError {
      try database.executeChange("INSERT INTO t VALUES (\("x"), \(Double.nan))")
    }
    #expect(error?.code == .mismatch)
    #expect(error?.sql?.hasPrefix("INSERT") == true)
    #expect(try database.rows("SELECT count(*) FROM t", as: Int.self).first == 0)
  }
}
