import Conformance
import Foundation
import SQLiteCore
import Testing
import TestSupport

@Suite(.everyEngine, .requires(.collations)) struct DecimalOrderTests {
  /// Decimal texts in ascending order. The texts of one element are equal.
  private static let ladder: [[String]] = [
    [
      "-99999999999999999999999999999999999999999", "-099999999999999999999999999999999999999999.0",
    ],
    ["-10", "-10.0", "-010.00"],
    ["-9.5"],
    ["-9.49"],
    ["-0.001"],
    ["0", "-0", "0.0", "-0.000", "000"],
    ["0.0009"],
    ["0.001", "0.00100"],
    ["0.01"],
    ["1", "1.0", "01"],
    ["9"],
    ["10"],
    ["10.05"],
    ["10.5", "10.50"],
    ["170141183460469231731687303715884105727.5"],
    ["340282366920938463463374607431768211456"],
  ]

  private static let garbage = [
    "", "-", ".", "-.", "1.", ".5", "+1", "1e3", "1.2.3", "--1", " 1", "1 ", "１", "NaN", "\0",
    "1\0",
    "é", "e\u{301}", "\u{10FFFF}", "\u{E000}", "\u{D7FF}", "0x10",
  ]

  private func order(_ one: String, _ other: String) -> Int {
    DecimalOrder.compare(Array(one.utf8).span, Array(other.utf8).span).signum()
  }

  @Test func `decimals are ordered numerically, and superfluous zeros are ignored`() {
    for (index, texts) in Self.ladder.enumerated() {
      for text in texts {
        for (otherIndex, others) in Self.ladder.enumerated() {
          for other in others {
            #expect(order(text, other) == (index - otherIndex).signum(), "\(text) \(other)")
          }
        }
      }
    }
  }

  @Test func `text that isn't a number comes after all numbers, ordered by its bytes`() {
    for text in Self.garbage {
      for number in Self.ladder.joined() {
        #expect(order(text, number) == 1, "\(text.debugDescription) \(number)")
        #expect(order(number, text) == -1, "\(text.debugDescription) \(number)")
      }
      for other in Self.garbage {
        let expected =
          text.utf8.lexicographicallyPrecedes(other.utf8)
          ? -1 : text.utf8.elementsEqual(other.utf8) ? 0 : 1
        #expect(order(text, other) == expected)
      }
    }
  }

  @Test func `ten thousand decimals are ordered like Decimal`() throws {
    var random = SplitMix64(seed: 18)
    func number() throws -> Decimal {
      let digits = String(
        (0..<Int.random(in: 1...38, using: &random)).map { _ in
          Character("\(Int.random(in: 0...9, using: &random))")
        })
      let number = try #require(Decimal(string: digits))
      let scale = Int.random(in: 0...20, using: &random)
      return Decimal(
        sign: Bool.random(using: &random) ? .minus : .plus, exponent: -scale, significand: number)
    }
    for _ in 0..<10_000 {
      let (one, other) = (try number(), try number())
      let expected = one < other ? -1 : one == other ? 0 : 1
      #expect(order(one.description, other.description) == expected, "\(one) \(other)")
    }
  }

  @Test(arguments: Kind.allCases)
  func `every connection sorts and compares with the collation`(kind: Kind) throws {
    let fixture = try Fixture(kind)
    try fixture.database.executeChange("CREATE TABLE t (x TEXT)")
    for text in ["10", "9", "-1", "9.5", "x"] {
      try fixture.database.executeChange("INSERT INTO t VALUES (\(text))")
    }
    let sql: SQL =
      "SELECT x FROM t WHERE x COLLATE magicdata_decimal > '-2' ORDER BY x COLLATE MagicData_Decimal"
    let expected = ["-1", "9", "9.5", "10", "x"]
    #expect(try fixture.database.read { try $0.rows(sql, as: String.self) } == expected)
    #expect(try fixture.database.write { try $0.rows(sql, as: String.self) } == expected)
    let least = try fixture.database.rows(
      "SELECT min(x COLLATE magicdata_decimal) FROM t", as: String.self
    ).first
    #expect(least == "-1")
    #expect(
      sqliteError {
        _ = try fixture.database.executeQuery("SELECT x FROM t ORDER BY x COLLATE other")
      }
        != nil)
  }

  @Test func `databases that open the file later find and use an index in this order`()
    throws
  {
    let folder = try TestFolder()
    var table = TableDefinition(
      "t", key: .rowID("id"), columns: [ColumnDefinition("x", .text)],
      indexes: [IndexDefinition(["x"])])
    table.indexes[0].collations["x"] = DecimalOrder.collation
    let first = try Database.at(folder.file())
    try first.write { connection in
      // Creates the index like an older version of the library.
      try connection.createTable("t", columns: [ColumnDefinition("x", .text)])
      try connection.make(IndexDefinition(["x"]), on: "t")
      #expect(try connection.missingIndexes(of: table) == table.indexes)
      for text in ["10", "9", "2.5"] {
        try connection.executeChange("INSERT INTO t VALUES (\(text))")
      }
      try connection.make(table.indexes[0], on: "t")
      #expect(try connection.missingIndexes(of: table).isEmpty)
      #expect(try connection.existingIndexes(of: "t").map(\.collations) == [["magicdata_decimal"]])
    }
    try first.close()
    for mode in [Database.Options.Mode.readOnly, .readWriteCreate] {
      var options = Database.Options()
      options.mode = mode
      let database = try Database.at(folder.file(), options: options)
      let plan = try database.rows(
        "EXPLAIN QUERY PLAN SELECT x FROM t WHERE x COLLATE magicdata_decimal > '3' ORDER BY x COLLATE magicdata_decimal",
        as: Int.self, Int.self, Int.self, String.self
      ).map(\.3).joined(separator: "\n")
      #expect(plan.contains("USING COVERING INDEX"), "\(plan)")
      #expect(!plan.contains("TEMP B-TREE"), "\(plan)")
      #expect(
        try database.rows(
          "SELECT x FROM t WHERE x COLLATE magicdata_decimal > '3' ORDER BY x COLLATE magicdata_decimal",
          as: String.self) == ["9", "10"])
      #expect(try database.rows("PRAGMA integrity_check", as: String.self).first == "ok")
      try database.close()
    }
  }

  @Test(.needsShell)
  func `the sqlite3 shell reads a table with such an index, and can't insert into it`()
    throws
  {
    let folder = try TestFolder()
    let database = try Database.at(folder.file())
    try database.executeMultipleChanges(
      """
      CREATE TABLE t (x TEXT);
      CREATE INDEX i ON t (x COLLATE magicdata_decimal);
      INSERT INTO t VALUES ('10'), ('9');
      """)
    try database.close()
    func shell(_ sql: String) throws -> String {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
      process.arguments = [folder.file(), sql]
      let output = Pipe()
      process.standardOutput = output
      process.standardError = output
      try process.run()
      let bytes = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return String(decoding: bytes, as: UTF8.self)
    }
    #expect(
      try shell("SELECT x FROM t WHERE x = '9'; SELECT max(x), count(*) FROM t") == "9\n9|2\n")
    #expect(try shell(".dump").contains("COLLATE magicdata_decimal"))
    #expect(try shell("INSERT INTO t VALUES ('1')").contains("no such collation sequence"))
    let again = try Database.at(folder.file())
    #expect(try again.rows("SELECT count(*) FROM t", as: Int.self).first == 2)
    #expect(try again.rows("PRAGMA integrity_check", as: String.self).first == "ok")
  }
}
