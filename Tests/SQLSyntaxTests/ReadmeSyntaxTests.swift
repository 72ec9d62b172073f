import SQLSyntax
import Testing

/// The examples of the documentation and the README, which must compile and have the documented
/// results.
@Suite struct ReadmeSyntaxTests {
  @Test func `the statement of the overview is rewritten`() throws {
    var statement = try SQLStatement(parsing: "SELECT title FROM note WHERE stars > 3")
    statement.rewrite { part in
      guard case .expression(let value) = part, case .literal = value.node else { return }
      part = .expression(SQLExpression(.parameter("?")))
    }
    print(statement)  // SELECT title FROM note WHERE stars > ?
    #expect(statement.printed() == "SELECT title FROM note WHERE stars > ?")
  }

  @Test func `an expression is read from a query`() throws {
    let statement = try SQLStatement(parsing: "SELECT a + 2 * b FROM t")
    guard case .select(let query) = statement, case .select(let core) = query.body,
      case .expression(let sum) = core.columns[0].kind
    else { return }
    #expect(sum == (try SQLExpression(parsing: "a+2*b")))
  }

  @Test func `an error has a message and an offset`() {
    do {
      _ = try SQLStatement(parsing: "SELECT * FORM note")
    } catch {
      print(error.message, error.offset)  // near "FORM": syntax error 9
    }
    #expect {
      try SQLStatement(parsing: "SELECT * FORM note")
    } throws: {
      ($0 as? SQLSyntaxError)?.description == "near \"FORM\": syntax error at byte 9"
    }
  }

  @Test func `statements are parsed one after another`() throws {
    let bytes = Array("CREATE TABLE a (x); SELECT 1".utf8)
    var next = try SQLStatement.parseFirst(in: bytes)
    while let statement = next.statement {
      print(statement.kind, next.span.range)
      next = try SQLStatement.parseFirst(in: bytes, from: next.end)
    }
    #expect(next.end == bytes.count)
  }

  @Test func `a grammar can be configured`() throws {
    var grammar = SQLGrammar(version: 3_047_000, options: [])
    grammar.limitsChanges = true
    _ = try SQLStatement(parsing: "DELETE FROM t LIMIT 1_000", grammar: grammar)
  }

  @Test func `expressions and queries are printed`() throws {
    let product = SQLExpression(
      .binary(try SQLExpression(parsing: "a + b"), .multiply, try SQLExpression(parsing: "c")))
    print(product)  // (a + b) * c
    #expect(product.printed() == "(a + b) * c")

    let text = "select id, title from note where id in (select 1) limit 5"
    let query = try SQLStatement(parsing: text)
    print(query.printed(.indented))
    // SELECT id, title
    // FROM note
    // WHERE id IN (
    //   SELECT 1
    // )
    // LIMIT 5
    #expect(
      query.printed(.indented)
        == "SELECT id, title\nFROM note\nWHERE id IN (\n  SELECT 1\n)\nLIMIT 5")
  }

  @Test func `the tables of a statement are found`() throws {
    let report = try SQLStatement(
      parsing: "SELECT * FROM note JOIN owner USING (id) WHERE id IN (SELECT note FROM tag)")
    var tables: Set<String> = []
    report.forEachPart { part in
      if case .table(let name) = part { tables.insert(name.name.text) }
    }
    #expect(tables == ["note", "owner", "tag"])
  }

  @Test func `a table in a statement is renamed`() throws {
    var change = try SQLStatement(parsing: "UPDATE note SET stars = 3 WHERE main.note.id = 17")
    change.rewrite { part in
      if case .table(var name) = part, name.name.matches("NOTE") {
        name.name = "memo"
        part = .table(name)
      }
    }
    print(change)  // UPDATE memo SET stars = 3 WHERE main.note.id = 17
    #expect(change.printed() == "UPDATE memo SET stars = 3 WHERE main.note.id = 17")
  }

  @Test func `a script is split into statements`() {
    let script = SQLScript(
      """
      CREATE TRIGGER r AFTER INSERT ON a BEGIN SELECT 1; SELECT 2; END;
      INSERT INTO a VALUES (';'); -- the end
      """)
    for part in script { print(part.kind, script.text(of: part)) }
    #expect(script.map(\.kind) == [.schema, .change])
  }

  @Test func `a statement has a kind and a fingerprint`() {
    #expect(SQLKind(of: "WITH a AS (SELECT 1) DELETE FROM b") == .change)

    let first = SQLFingerprint("select * from note where id IN (1, 2)")
    let second = SQLFingerprint("SELECT *\nFROM note WHERE id IN (-7) -- again")
    #expect(first == second)
    print(first)  // SELECT * FROM note WHERE id IN (?)
    #expect(first.text == "SELECT * FROM note WHERE id IN (?)")
  }

  @Test func `parameters are counted in tokens`() {
    var count = 0
    for token in SQLTokens("SELECT 'a' || :name") where token.kind == .parameter { count += 1 }
    #expect(count == 1)
  }

  @Test func `a table's text is edited`() throws {
    var table = try SQLTableText(
      """
      CREATE TABLE note (
        id INTEGER PRIMARY KEY, -- the key
        title TEXT CHECK (title <> ''),
        stars INTEGER
      )
      """)
    try table.setType(of: "stars", to: "REAL")
    try table.add(SQLColumnConstraint(.notNull(nil)), to: "title")
    try table.dropColumn("id")
    print(table.text)
    // CREATE TABLE note ( -- the key
    //   title TEXT CHECK (title <> '') NOT NULL,
    //   stars REAL
    // )
    #expect(
      table.text
        == "CREATE TABLE note ( -- the key\n  title TEXT CHECK (title <> '') NOT NULL,\n  stars REAL\n)"
    )
  }

  @Test func `constraints are created from text`() throws {
    var tags = try SQLTableText("CREATE TABLE tag (name TEXT)")
    try tags.add(try SQLTableConstraint(parsing: "CONSTRAINT named CHECK (name <> '')"))
    for constraint in try SQLColumnConstraint.list(parsing: "NOT NULL DEFAULT 'x'") {
      try tags.add(constraint, to: "name")
    }
    print(tags.text)
    // CREATE TABLE tag (name TEXT NOT NULL DEFAULT 'x', CONSTRAINT named CHECK (name <> ''))
    #expect(
      tags.text
        == "CREATE TABLE tag (name TEXT NOT NULL DEFAULT 'x', CONSTRAINT named CHECK (name <> ''))")
  }

  @Test(arguments: [
    "", "CHECK (1), b", "CHECK (1) CHECK (2)", "CHECK (1) -- c\n, CHECK (2)", "name TEXT",
    "CHECK (1))",
    "CHECK", "UNIQUE", "NOT NULL, b TEXT", "; DROP TABLE t",
  ])
  func `a text with more than one constraint throws`(text: String) {
    #expect(throws: SQLSyntaxError.self) { try SQLTableConstraint(parsing: text) }
    if text != "UNIQUE", text != "CHECK (1) CHECK (2)" {
      #expect(throws: SQLSyntaxError.self) { try SQLColumnConstraint.list(parsing: text) }
    }
  }

  @Test func `a range of a text is replaced`() throws {
    let text = "CREATE INDEX i ON note (title) /* by title */ WHERE stars > 3"
    guard case .createIndex(let index) = try SQLStatement(parsing: text) else { return }
    let edited = SQLEdit.apply([SQLEdit(index.table.span.range, "memo")], to: text)
    #expect(edited == "CREATE INDEX i ON memo (title) /* by title */ WHERE stars > 3")
  }

  @Test func `schemas are read and compared`() {
    let stored = SQLSchema([
      ("note", "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT CHECK (title <> ''), old)"),
      ("by_title", "CREATE INDEX by_title ON note (title)"),
    ])
    print(stored.table("note")?.checks ?? [])  // [title <> '']
    print(stored.indexes(on: "note").count)  // 1
    #expect(stored.table("note")?.checks.map(\.description) == ["title <> ''"])
    #expect(stored.indexes(on: "note").count == 1)

    let wanted = SQLSchema([
      ("note", "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL, stars REAL)")
    ])
    for change in stored.changes(to: wanted) {
      print(change, change.statement?.printed() ?? "by rebuilding the table")
    }
    // index by_title is dropped DROP INDEX by_title
    // column old of note is dropped ALTER TABLE note DROP COLUMN old
    // column title of note becomes title TEXT NOT NULL by rebuilding the table
    // note gets the column stars REAL ALTER TABLE note ADD COLUMN stars REAL
    #expect(
      stored.changes(to: wanted).map {
        "\($0) \($0.statement?.printed() ?? "by rebuilding the table")"
      } == [
        "index by_title is dropped DROP INDEX by_title",
        "column old of note is dropped ALTER TABLE note DROP COLUMN old",
        "column title of note becomes title TEXT NOT NULL by rebuilding the table",
        "note gets the column stars REAL ALTER TABLE note ADD COLUMN stars REAL",
      ])
  }

  @Test func `the README example runs`() throws {
    let sql = try SQLStatement(parsing: "SELECT title FROM note WHERE id = 3 AND 1 == 1")
    print(sql)  // SELECT title FROM note WHERE id = 3 AND 1 = 1
    print(sql.fingerprint)  // SELECT title FROM note WHERE id = ? AND ? = ?
    #expect(sql.fingerprint.text == "SELECT title FROM note WHERE id = ? AND ? = ?")
  }
}
