import Conformance
import SQLiteCore
import Testing

@Suite(.everyEngine) struct SchemaTests {
  let database: Database

  init() throws { database = try .memory() }

  @Test func `a table is created from column definitions and described back`() throws {
    try database.write {
      try $0.createTable(
        "city",
        columns: [
          ColumnDefinition("id", .integer, isPrimaryKey: true),
          ColumnDefinition("na\"me", .text, isUnique: true),
          ColumnDefinition("size", .real, isOptional: true, defaultValue: .real(-1.5)),
          ColumnDefinition("note", .text, isOptional: true, defaultValue: .text("it's")),
          ColumnDefinition("founded", .date, isOptional: true),
        ])
    }
    #expect(try database.read { try $0.existingTables() } == ["city"])
    try database.executeChange("INSERT INTO city (\(identifier: "na\"me")) VALUES ('a')")
    let row = try database.executeQuery("SELECT * FROM city").first
    #expect(row?.values == [.integer(1), .text("a"), .real(-1.5), .text("it's"), .null])
    let columns = try database.read { try $0.columns(of: "city") }
    #expect(columns.map(\.name) == ["id", "na\"me", "size", "note", "founded"])
    #expect(columns.map(\.primaryKeyPosition) == [1, 0, 0, 0, 0])
    #expect(columns[1].isNotNull)
    #expect(columns[2].declaredType == "REAL")
    #expect(columns[2].defaultSQL == "-1.5")
    #expect(try database.read { try $0.columns(of: "none") }.isEmpty)
    try database.write {
      try $0.createTable(
        "city", columns: [ColumnDefinition("x", .any, isOptional: true)], ifNotExists: true)
    }
    #expect(
      sqliteError { try database.write { try $0.createTable("city", columns: [.init("x", .any)]) } }
        != nil)
    try database.write { try $0.deleteTable("city") }
    #expect(try database.read { try $0.existingTables() }.isEmpty)
    #expect(sqliteError { try database.write { try $0.deleteTable("city") } }?.code == .error)
  }

  @Test func `a strict table can have a composite primary key`() throws {
    try database.write { connection in
      try connection.createTable(
        "t",
        columns: [
          .init("a", .integer, isPrimaryKey: true), .init("b", .text, isPrimaryKey: true),
          .init("c", .any),
        ], isStrict: true)
      try connection.executeChange("INSERT INTO t VALUES (1, 'x', 1), (1, 'y', 'any')")
    }
    #expect(
      sqliteError { try database.executeChange("INSERT INTO t VALUES ('a', 'x', 1)") }?.code
        == .dataTypeConstraint)
    #expect(
      sqliteError { try database.executeChange("INSERT INTO t VALUES (1, 'x', 1)") }?.code
        == .primaryKeyConstraint)
    #expect(try database.read { try $0.columns(of: "t") }.map(\.primaryKeyPosition) == [1, 2, 0])
  }

  @Test(arguments: ColumnType.allCases)
  func `every column type can be declared`(type: ColumnType) throws {
    try database.write { try $0.createTable("t", columns: [.init("a", type, isOptional: true)]) }
    try database.executeChange("INSERT INTO t VALUES ('2024-01-01'), (1), (2.5), (x'00'), (NULL)")
    #expect(try database.rows("SELECT a FROM t", as: Value.self).count == 5)
    if type == .date {
      #expect(try database.rows("SELECT typeof(a) FROM t", as: String.self).first == "text")
    }
  }

  @Test func `indexes are created, listed and dropped`() throws {
    try database.executeMultipleChanges(
      "CREATE TABLE t (a, b UNIQUE); CREATE TABLE u (a PRIMARY KEY, c)")
    try database.write { try $0.createIndex("t a", on: "t", columns: ["a", "b"], isUnique: true) }
    try database.executeChange("CREATE INDEX part ON u (c, lower(c)) WHERE c > 0")
    let mine = try #require(
      try database.read { try $0.existingIndexes(of: "t") }.first { $0.isExplicit })
    #expect(mine.name == "t a")
    #expect(mine.table == "t")
    #expect(mine.columns == ["a", "b"])
    #expect(mine.isUnique)
    #expect(!mine.isPartial)
    let all = try database.read { try $0.existingIndexes() }
    #expect(all.count == 4)
    #expect(all.first { $0.name == "part" }?.isPartial == true)
    #expect(all.first { $0.name == "part" }?.columns == ["c", nil])
    try database.write { try $0.removeIndex("t a") }
    #expect(try database.read { try $0.existingIndexes(of: "t") }.count == 1)
    #expect(sqliteError { try database.write { try $0.removeIndex("t a") } } != nil)
    #expect(
      sqliteError { try database.write { try $0.createIndex("x", on: "t", columns: []) } } != nil)
  }

  @Test func `foreign keys are listed with all their columns`() throws {
    try database.executeMultipleChanges(
      """
      CREATE TABLE p (a, b, PRIMARY KEY (a, b)); CREATE TABLE q (id INTEGER PRIMARY KEY);
      CREATE TABLE c (x REFERENCES q ON DELETE CASCADE, y, z,
        FOREIGN KEY (y, z) REFERENCES p (a, b) ON UPDATE SET NULL);
      """)
    let keys = try database.read { try $0.foreignKeys(of: "c") }
    #expect(keys.map(\.columns) == [["x"], ["y", "z"]])
    #expect(keys.map(\.referencedTable) == ["q", "p"])
    #expect(keys.map(\.referencedColumns) == [[], ["a", "b"]])
    #expect(keys.map(\.onDelete) == ["CASCADE", "NO ACTION"])
    #expect(keys.map(\.onUpdate) == ["NO ACTION", "SET NULL"])
  }

  @Test func `generated columns are distinguished by their kind`() throws {
    try database.executeChange(
      "CREATE TABLE t (a, b AS (a + 1) VIRTUAL, c AS (a + 2) STORED)")
    let kinds = try database.read { try $0.columns(of: "t") }.map(\.kind)
    #expect(kinds == [.ordinary, .virtuallyGenerated, .storedGenerated])
  }

  @Test(arguments: [0, 1, -1, Int32.max, Int32.min])
  func `the user version and the application ID are stored`(number: Int32) throws {
    try database.write { connection in
      try connection.setUserVersion(number)
      try connection.setApplicationID(number)
    }
    #expect(try database.read { try $0.userVersion() } == number)
    #expect(try database.read { try $0.applicationID() } == number)
  }

  @Test func `the library doesn't change the user version`() throws {
    let fixture = try Fixture(.file)
    try fixture.database.executeChange("CREATE TABLE t (a)")
    #expect(try fixture.database.read { try $0.userVersion() } == 0)
  }

  @Test func `a table is created from a definition with indexes and an auto-incremented key`()
    async throws
  {
    let table = TableDefinition(
      "city", key: .autoIncrement("id"), columns: [ColumnDefinition("name", .text)],
      indexes: [IndexDefinition(["name"], isUnique: true)])
    try await database.write { try $0.createTable(table) }
    try await database.write { try $0.createTable(table, ifNotExists: true) }
    #expect(try await database.read { try $0.tableExists("City") })
    #expect(try await !database.read { try $0.tableExists("cities") })
    #expect(
      try await database.read { try $0.existingIndexes(of: "city") }.map(\.columns) == [["name"]])
    try await database.executeChange("INSERT INTO city (name) VALUES ('a')")
    try await database.executeChange("DELETE FROM city")
    let change = try await database.executeChange("INSERT INTO city (name) VALUES ('b')")
    #expect(change.lastInsertedRowID == 2)
    let again = { [database] in try database.write { try $0.createTable(table) } }
    #expect(sqliteError(again) != nil)
  }

  @Test func `a definition that fails halfway creates nothing`() throws {
    let table = TableDefinition(
      "city", key: .rowID("id"), columns: [ColumnDefinition("name", .text)],
      indexes: [IndexDefinition(["nowhere"])])
    #expect(sqliteError { try database.write { try $0.createTable(table) } } != nil)
    #expect(try !database.read { try $0.tableExists("city") })
    try database.executeChange("CREATE VIEW city AS SELECT 1")
    #expect(try !database.read { try $0.tableExists("city") })
  }

  @Test func `an array of statements is executed atomically`() async throws {
    try await database.write {
      try $0.executeMultipleChanges(["CREATE TABLE t (a)", "INSERT INTO t VALUES (\(1))"])
    }
    let failing: [SQL] = ["INSERT INTO t VALUES (2)", "INSERT INTO nowhere VALUES (3)"]
    let blocking = { [database] in
      try database.write { try $0.executeMultipleChanges(failing) }
    }
    #expect(sqliteError(blocking)?.message.hasPrefix("statement 1:") == true)
    #expect(try await database.rows("SELECT a FROM t", as: Int.self) == [1])
  }

  @Test func `a nested write that returns rollback is undone alone`() throws {
    try database.write { connection in
      try connection.executeChange("CREATE TABLE t (a)")
      try database.write { inner in
        try inner.executeChange("INSERT INTO t VALUES (1)")
        return TransactionOutcome.rollback
      }
      try database.write { try $0.executeChange("INSERT INTO t VALUES (2)") }
    }
    #expect(try database.rows("SELECT a FROM t", as: Int.self) == [2])
  }

  @Test func `result codes have messages`() {
    #expect(Database.errorMessage(for: .constraint) == "constraint failed")
    #expect(Database.errorMessage(for: ResultCode(rawValue: 99)) == "unknown error")
  }

  @Test(arguments: SQLTests.hostile)
  func `an escaped value is read back unchanged`(text: String) throws {
    let sql = try SQL(unchecked: "SELECT 5 -" + SQL.escapeValue(-3) + ", " + SQL.escapeValue(text))
    #expect(try database.executeQuery(sql).first?.values == [.integer(8), .text(text)])
  }

  @Test func `every kind of value can be escaped`() throws {
    let values: [Value] = [
      .null, .integer(.min), .integer(.max), .real(-0.5), .real(1e300), .real(.infinity),
      .real(-.infinity), .blob([]), .blob([0, 255, 16]), .text(""), .text(Engine.text("a\0b")),
    ]
    for value in values {
      let sql = SQL(unchecked: "SELECT \(try SQL.escapeValue(value))")
      #expect(try database.executeQuery(sql).first?.values == [value])
    }
    #expect(try SQL.escapeValue(nil) == "NULL")
    #expect(try SQL.escapeValue(true) == "1")
    #expect(sqliteError { _ = try SQL.escapeValue(Double.nan) }?.code == .mismatch)
  }

  @Test(arguments: SQLTests.hostile.filter { !$0.isEmpty && !$0.utf8.contains(0) })
  func `an escaped identifier is read back unchanged`(name: String) throws {
    let escaped = try SQL.escapeIdentifier(name)
    let row = try database.executeQuery(SQL(unchecked: "SELECT 1 AS \(escaped)")).first
    #expect(row?.columnNames.first.map { Array($0.utf8) } == Array(name.utf8))
  }
}
