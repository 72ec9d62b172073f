import Conformance
import SQLiteCore
import SQLiteMapping
import Testing

@Suite(.everyEngine) struct MigrationTests {
  struct Stop: Error {}

  let database: Database

  init() throws {
    database = try Database.fresh()
    try database.executeMultipleChanges(
      """
      CREATE TABLE City (id INTEGER PRIMARY KEY, mayor TEXT, waste TEXT);
      CREATE TABLE Street (id INTEGER PRIMARY KEY, city INTEGER REFERENCES City (id));
      INSERT INTO City VALUES (1, ' Ann ', 'x'), (2, 'Bob', 'y');
      INSERT INTO Street VALUES (1, 1);
      """)
  }

  static let all = [
    Migration(
      "leaders", .renameColumn("mayor", to: "leader", in: "City"), .dropColumn("waste", in: "City")
    ),
    Migration(
      "shout",
      .transform("City") { row in ["leader": try row.get("leader", as: String.self).uppercased()] },
      .addColumn(ColumnDefinition("size", .integer, defaultValue: .integer(3)), in: "City")),
    Migration("roads", .renameTable("Street", to: "Road")),
  ]

  private func dump() throws -> [String] {
    try database.rows(
      "SELECT sql FROM sqlite_schema WHERE tbl_name NOT LIKE 'magic%'", as: String.self)
      + database.executeQuery("SELECT * FROM City").map { "\($0.values)" }
  }

  @Test func `a migration without a name throws`() throws {
    let database = try Database.memory()
    let error = #expect(throws: SQLiteError.self) {
      try database.migrate([Migration("first", .sql("CREATE TABLE a (b)")), Migration("")])
    }
    #expect(error?.message == "a migration has no name; give it one")
    #expect(try !database.read { try $0.tableExists("a") })
  }

  @Test func `a database without tables skips the changes of tables that don't exist`() throws {
    let all =
      Self.all + [
        Migration("a table", .sql("CREATE TABLE Town (name TEXT NOT NULL)")),
        Migration(
          "towns have a size", .sql("INSERT INTO Town VALUES ('Bern')"),
          .addColumn(ColumnDefinition("size", .integer, defaultValue: .integer(1)), in: "Town"),
          .sql("UPDATE City SET size = 2"), .dropTable("City")),
      ]
    let database = try Database.fresh()
    #expect(try database.migrationPlan(of: all).count == 15)
    #expect(try database.migrate(all) == all.map(\.name))
    #expect(try database.read { try $0.existingTables() } == ["Town", "magicdata_meta"])
    #expect(try database.rows("SELECT size FROM Town", as: Int.self) == [1])
    #expect(try database.migrate(all).isEmpty)
    // Once migrations have run, a missing table is an error.
    let error = #expect(throws: SQLiteError.self) {
      try database.migrate(all + [Migration("typo", .renameTable("Twon", to: "Village"))])
    }
    #expect(error?.message.contains("no such table: Twon") == true)
  }

  @Test func `an error in a database without tables rolls back all migrations`() throws {
    let all = [
      Migration("a table", .sql("CREATE TABLE Town (name TEXT NOT NULL)")),
      Migration("wrong", .renameColumn("mayor", to: "leader", in: "Town")),
    ]
    let database = try Database.fresh()
    #expect(throws: SQLiteError.self) { try database.migrate(all) }
    #expect(try database.appliedMigrations().isEmpty)
    #expect(try !database.read { try $0.tableExists("Town") })
  }

  @Test func `a missing table is an error if other tables exist`() throws {
    let error = #expect(throws: SQLiteError.self) {
      try database.migrate([Migration("typo", .renameTable("Twon", to: "Village"))])
    }
    #expect(error?.message.contains("no such table: Twon") == true)
  }

  @Test func `steps run in order, and each migration runs once`() throws {
    #expect(try database.migrate(Self.all) == ["leaders", "shout", "roads"])
    #expect(try database.migrate(Self.all).isEmpty)
    let leaders = try database.rows(
      "SELECT leader, size FROM City ORDER BY id", as: String.self, Int.self)
    #expect(leaders.map(\.0) == [" ANN ", "BOB"])
    #expect(leaders.map(\.1) == [3, 3])
    #expect(try database.read { try $0.existingTables() }.contains("Road"))
  }

  @Test func `a migration plan lists all steps and changes nothing`() throws {
    let before = try dump()
    let plan = try database.migrationPlan(of: Self.all)
    #expect(plan.filter { $0.hasSuffix(":") } == ["leaders:", "shout:", "roads:"])
    #expect(plan.contains { $0.contains("RENAME COLUMN") })
    #expect(try dump() == before)
    #expect(try database.migrate(Self.all).count == 3)
  }

  @Test func `an async migration plan is the same as a blocking one`() async throws {
    let before = try dump()
    let blocking = try { try database.migrationPlan(of: Self.all) }()
    let plan = try await database.migrationPlan(of: Self.all)
    #expect(plan == blocking)
    #expect(try dump() == before)
  }

  @Test(arguments: 0...4) func `a migration that fails at any step changes nothing`(
    position: Int
  ) throws {
    let before = try dump()
    let fail = Migration.Step.transform("City") { _ in throw Stop() }
    let steps: [Migration.Step] = [
      .renameColumn("mayor", to: "leader", in: "City"), .dropColumn("waste", in: "City"),
      .transform("City") { _ in ["leader": "z"] }, .renameTable("Street", to: "Road"),
    ]
    var withFailure = steps
    withFailure.insert(fail, at: position)
    #expect(throws: Stop.self) { try database.migrate([Migration("broken", withFailure)]) }
    #expect(try dump() == before)
    #expect(try database.migrate([Migration("broken", steps)]) == ["broken"])
  }

  @Test func `a migration that violates a foreign key is rolled back`() throws {
    let before = try dump()
    let error = #expect(throws: SQLiteError.self) {
      try database.migrate([Migration("break", .sql("DELETE FROM City"))])
    }
    #expect(error.map { ResultCode.constraint ~= $0.code } == true)
    #expect(try dump() == before)
  }

  @Test func `the migrations that ran are returned, oldest first`() throws {
    #expect(try database.appliedMigrations() == [])
    try database.migrate(Array(Self.all.prefix(2)))
    #expect(try database.appliedMigrations() == ["leaders", "shout"])
    try database.executeChange("UPDATE magicdata_meta SET value = 99 WHERE key = 'format'")
    #expect(throws: SQLiteError.self) { try database.appliedMigrations() }
  }

  @Test func `an async call returns the migrations that ran`() async throws {
    try await database.migrate(Self.all)
    #expect(try await database.appliedMigrations() == ["leaders", "shout", "roads"])
  }

  @Test func `a database that a newer program migrated throws`() throws {
    try database.migrate(Self.all)
    let error = #expect(throws: SQLiteError.self) {
      try database.migrate(Array(Self.all.prefix(2)))
    }
    #expect(error?.code == .schema)
    #expect(error?.message.contains("roads") == true)
  }

  @Test func `migrations in another order or with equal names throw`() throws {
    try database.migrate(Array(Self.all.prefix(2)))
    #expect(throws: SQLiteError.self) {
      try database.migrate([Self.all[1], Self.all[0], Self.all[2]])
    }
    #expect(throws: SQLiteError.self) { try database.migrate([Self.all[0], Self.all[0]]) }
  }

  @Test func `a transform works if a column is called rowid`() throws {
    try database.executeMultipleChanges(
      "CREATE TABLE odd (rowid, _rowid_); INSERT INTO odd VALUES (7, 1), (7, 2)")
    let double = Migration.Step.transform("odd") { row in
      ["_rowid_": try row.get("_rowid_", as: Int.self) * 2]
    }
    try database.migrate([Migration("double", double)])
    #expect(try database.rows("SELECT _rowid_ FROM odd", as: Int.self) == [2, 4])
    try database.executeChange("ALTER TABLE odd ADD COLUMN oid")
    #expect(throws: SQLiteError.self) { try database.migrate([Migration("again", double)]) }
  }
}
