import SQLSyntax
import SyntaxOracle
import Testing

/// Tests models of schemas that SQLite stored.
@Suite struct SchemaTests {
  let oracle: Oracle

  init() throws { oracle = try Oracle(runsPragmas: true) }

  /// Runs statements and returns a model of the schema that they create.
  private func schema(_ statements: [String]) -> SQLSchema {
    for sql in statements { #expect(oracle.run(sql), "\(sql)") }
    return stored()
  }

  private func stored() -> SQLSchema {
    let rows = oracle.rows("SELECT name || char(1) || sql FROM sqlite_schema WHERE sql IS NOT NULL")
    return SQLSchema(
      (rows ?? []).map { row in
        let parts = row.dropFirst().split(separator: "\u{1}", maxSplits: 1)
        return (String(parts[0]), String(parts[1]))
      })
  }

  static let library = [
    "CREATE TABLE author (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT COLLATE nocase NOT NULL)",
    """
    CREATE TABLE book (
      isbn TEXT, -- the key
      title TEXT DEFAULT ('un' || 'named') CHECK (length(title) > 0),
      author INTEGER REFERENCES author ON DELETE CASCADE,
      short AS (substr(title, 1, 9)) STORED,
      CONSTRAINT key PRIMARY KEY (isbn) ON CONFLICT REPLACE,
      CONSTRAINT one UNIQUE (title, author),
      CHECK (isbn <> '')
    ) WITHOUT ROWID
    """,
    "CREATE INDEX book_title ON book (title COLLATE nocase DESC, length(title)) WHERE author > 0",
    "CREATE VIEW authors AS SELECT name FROM author",
    "CREATE TRIGGER gone AFTER DELETE ON book BEGIN DELETE FROM author WHERE id = old.author; END",
    "CREATE VIRTUAL TABLE words USING fts5(word, tokenize = 'porter ascii')",
  ]

  @Test func `a schema model contains everything that its texts declare`() throws {
    let schema = schema(Self.library)
    #expect(schema.unread.isEmpty)
    #expect(schema.views.map(\.name.name.text) == ["authors"])
    #expect(schema.virtualTables.first?.arguments?.last == "tokenize = 'porter ascii'")
    let book = try #require(schema.table("BOOK"))
    #expect(book.checks.map(\.description) == ["length(title) > 0", "isbn <> ''"])
    #expect(book.primaryKey == ["isbn"])
    #expect(book.isWithoutRowID && !book.isStrict)
    #expect(book.constraints.map(\.name?.text) == ["key", "one", nil])
    #expect(book.references.map(\.columns) == [["author"]])
    #expect(book.references.first?.reference.clauses == [.onDelete(.cascade)])
    #expect(book.columns.map { $0.generated?.isStored } == [nil, nil, nil, true])
    #expect(book.columns[1].defaultValue?.description == "('un' || 'named')")
    let author = try #require(schema.table("author"))
    #expect(author.columns[1].collation == "nocase")
    #expect(author.columns.map(\.isNotNull) == [false, true])
    #expect(author.primaryKey == ["id"])
    let index = try #require(schema.indexes(on: "Book").first)
    #expect(index.where?.description == "author > 0")
    #expect(index.columns.map(\.direction) == [.descending, nil])
    #expect(schema.triggers(on: "book").map(\.event) == [.delete])
  }

  @Test func `SQLite's own tables and unparsable texts are kept separate`() {
    let schema = SQLSchema([
      ("sqlite_sequence", "CREATE TABLE sqlite_sequence(name,seq)"),
      ("a", "CREATE TABLE a (x"), ("b", "DROP TABLE b"), ("v", "CREATE VIEW v(a DESC) AS SELECT 1"),
    ])
    #expect(schema.tables.isEmpty)
    #expect(schema.unread.map(\.name) == ["a", "b"])
    #expect(schema.unread.map(\.error?.kind) == [.incomplete, nil])
    #expect(schema.views.count == 1)
  }

  @Test func `texts with the same meaning are no change`() {
    let one = SQLSchema([
      ("t", "CREATE TABLE t (a INTEGER PRIMARY KEY, \"b\" TEXT not null) STRICT, WITHOUT ROWID"),
      ("i", "CREATE INDEX i ON t (b)"),
    ])
    let other = SQLSchema([
      (
        "t",
        "create table [T]\n(A integer primary key, -- the key\n b TEXT NOT NULL) WITHOUT rowid, strict"
      ),
      ("i", "create index `i` on \"t\"(B)"),
    ])
    #expect(one.changes(to: other) == [])
    #expect(one.changes(to: one) == [])
  }

  @Test func `each change of a table is reported, with a statement if one exists`() throws {
    let old = SQLSchema([
      ("t", "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c, d CHECK (d > 0), UNIQUE (b))"),
      ("gone", "CREATE TABLE gone (x)"), ("i", "CREATE INDEX i ON t (b)"),
    ])
    let new = SQLSchema([
      (
        "t",
        "CREATE TABLE t (a INTEGER PRIMARY KEY, d CHECK (d >= 0), b TEXT, e DEFAULT 1, f UNIQUE, CHECK (b <> ''))"
      ), ("fresh", "CREATE TABLE fresh (x)"), ("i", "CREATE INDEX i ON t (b DESC)"),
    ])
    let changes = old.changes(to: new)
    #expect(
      changes.map(\.kind) == [
        .drop, .drop, .dropConstraint, .addConstraint, .dropColumn("c"), .changeColumn("d"),
        .addColumn("e"), .addColumn("f"), .reorder, .create, .create,
      ])
    #expect(
      changes.map { $0.statement?.printed() } == [
        "DROP INDEX i", "DROP TABLE gone", nil, nil, "ALTER TABLE t DROP COLUMN c", nil,
        "ALTER TABLE t ADD COLUMN e DEFAULT 1", nil, nil, "CREATE TABLE fresh (x)",
        "CREATE INDEX i ON t (b DESC)",
      ])
    #expect(changes[5].description == "column d of t becomes d CHECK (d >= 0)")
    #expect(changes[8].description == "the columns of t get the order a, d, b, e, f")
  }

  /// Runs each change's statement and checks that the change then doesn't remain.
  @Test func `running the statements of all changes applies the changes`() throws {
    var ran = 0
    for seed in 0..<300 {
      var source = TreeSource(seed: UInt64(seed))
      oracle.run("BEGIN")
      defer { oracle.run("ROLLBACK") }
      var from: [(String, String)] = []
      var to: [(String, String)] = []
      for number in 0..<4 {
        var old = source.createTable()
        guard case .definition(var definition) = old.body else { continue }
        let name = SQLName("t\(number)")
        old.name = SQLQualifiedName(name)
        old.isTemporary = false
        old.ifNotExists = false
        var new = old
        // Adds or removes a column, and omits some tables on one side.
        if source.once(in: 2) {
          definition.columns.append(SQLColumnDefinition("extra", SQLTypeName("TEXT")))
        } else if source.once(in: 2) {
          definition.columns.remove(at: 2)
        }
        new.body = .definition(definition)
        let (oldText, newText) = (
          SQLStatement.createTable(old).printed(), SQLStatement.createTable(new).printed(.indented)
        )
        if !source.once(in: 4), oracle.run(oldText) { from.append((name.text, oldText)) }
        if !source.once(in: 4) { to.append((name.text, newText)) }
      }
      let wanted = SQLSchema(to)
      let changes = SQLSchema(from).changes(to: wanted)
      for change in changes {
        guard let sql = change.statement?.printed() else { continue }
        // SQLite may reject a table or a column because the generator's constraints are random.
        if oracle.run(sql) {
          ran += 1
          #expect(!stored().changes(to: wanted).contains(change), "\(change)")
        }
      }
    }
    #expect(ran > 200, "\(ran)")
  }
}
