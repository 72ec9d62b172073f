import Conformance
import SQLiteCore
import SQLiteSchema
import Testing

@Suite(.everyEngine) struct SchemaModelTests {
  let database: Database

  init() throws {
    database = try Database.fresh()
    try database.executeMultipleChanges(
      """
      CREATE TABLE a (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        b TEXT COLLATE NOCASE CONSTRAINT must NOT NULL ON CONFLICT IGNORE CHECK (b <> ''),
        c AS (b || '!') STORED, d INTEGER REFERENCES a (id) ON DELETE SET NULL,
        CONSTRAINT one UNIQUE (b, d) ON CONFLICT REPLACE
      );
      CREATE UNIQUE INDEX part ON a (lower(b), d DESC) WHERE d > 3;
      CREATE VIEW v (x) AS SELECT b FROM a;
      CREATE TRIGGER t AFTER UPDATE OF b ON a WHEN new.b = 'x' BEGIN DELETE FROM a; END;
      CREATE VIRTUAL TABLE f USING fts5(b, tokenize = 'porter ascii', content=a);
      """)
  }

  @Test func `the model contains everything that PRAGMAs don't report`() throws {
    let schema = try database.schemaModel()
    #expect(schema.unread.isEmpty)
    let table = try #require(schema.table("A"))
    #expect(table.checks.map(\.description) == ["b <> ''"])
    #expect(table.columns[1].collation?.text == "NOCASE")
    #expect(table.columns[1].constraints.compactMap(\.name?.text) == ["must"])
    #expect(table.columns[2].generated?.isStored == true)
    #expect(
      table.constraints.map(\.description) == ["CONSTRAINT one UNIQUE (b, d) ON CONFLICT REPLACE"])
    #expect(table.references.first?.reference.clauses == [.onDelete(.setNull)])
    let index = try #require(schema.indexes(on: "a").first)
    #expect(index.where?.description == "d > 3")
    #expect(index.columns.map(\.expression.description) == ["lower(b)", "d"])
    #expect(schema.views.first?.columns.map(\.text) == ["x"])
    #expect(schema.triggers(on: "a").first?.event == .update(of: ["b"]))
    #expect(
      schema.virtualTables.first?.arguments == ["b", "tokenize = 'porter ascii'", "content=a"])
  }

  @Test func `the model contains changes of the open transaction`() throws {
    try database.write { connection in
      try connection.executeChange("CREATE TABLE n (x)")
      #expect(try connection.schemaModel().table("n") != nil)
      try connection.executeChange("CREATE TEMP TABLE hidden (x)")
      #expect(try connection.schemaModel().table("hidden") == nil)
    }
  }

  @Test func `a schema is compared with another one`() throws {
    let other = try Database.fresh()
    try other.executeChange("CREATE TABLE a (id INTEGER PRIMARY KEY, b TEXT)")
    let changes = try other.schemaChanges(to: try database.schemaModel())
    #expect(changes.contains { $0.kind == .changeColumn("id") })
    #expect(changes.contains { $0.kind == .create && $0.name == "part" })
    #expect(try database.schemaChanges(to: database.schemaModel()).isEmpty)
  }

  @Test func `an unparsable statement is reported and doesn't stop the parser`() throws {
    var options = Database.Options()
    options.allowsSchemaDamage = true
    let damaged = try Database.memory(options: options)
    try damaged.executeChange("CREATE TABLE a (x)")
    try damaged.withoutTransaction { connection in
      try connection.executeMultipleChanges(
        """
        PRAGMA writable_schema = ON;
        INSERT INTO sqlite_schema VALUES ('view', 'odd', 'odd', 0, 'CREATE VIEW odd AS SELECT FROM');
        INSERT INTO sqlite_schema VALUES ('view', CAST(x'ff' AS TEXT), 'x', 0, 'create nothing');
        """)
      let schema = try connection.schemaModel()
      #expect(schema.unread.map(\.sql) == ["CREATE VIEW odd AS SELECT FROM", "create nothing"])
      #expect(schema.table("a") != nil)
    }
  }
}
