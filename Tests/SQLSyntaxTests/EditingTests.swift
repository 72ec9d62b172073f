import SQLSyntax
import SyntaxOracle
import Testing
import TestSupport

/// Tests edits of a table's text, which preserve all other bytes.
@Suite struct EditingTests {
  static let note = """
    CREATE TABLE IF NOT EXISTS "note" ( -- notes
      id INTEGER /* the key */ PRIMARY KEY,
      title  TEXT NOT NULL CHECK (length(title) > 0) -- never empty
        COLLATE nocase,
      [due date] REAL DEFAULT (1 + 2), -- seconds
      owner REFERENCES person(id) ON DELETE CASCADE,
      CONSTRAINT unique_title UNIQUE (title), /* one of each */
      CHECK (id > 0)
    ) STRICT -- the end
    """

  private func constraint(
    _ table: SQLTableText, _ column: String, _ index: Int
  ) throws -> SQLColumnConstraint {
    try table.column(column).constraints[index]
  }

  @Test func `a constraint of a column is replaced in place`() throws {
    var table = try SQLTableText(Self.note)
    let check = try constraint(table, "TITLE", 1)
    try table.replace(check, of: "title", by: SQLColumnConstraint(.unique(.fail)))
    #expect(
      table.text
        == Self.note.replacing("CHECK (length(title) > 0)", with: "UNIQUE ON CONFLICT FAIL"))
  }

  @Test func `a constraint of a column is removed with the blanks before it`() throws {
    var table = try SQLTableText(Self.note)
    try table.remove(try constraint(table, "title", 0), of: "title")
    #expect(table.text == Self.note.replacing(" NOT NULL", with: ""))
    try table.remove(try constraint(table, "title", 1), of: "title")
    #expect(table.text.contains("CHECK (length(title) > 0) -- never empty"))
    #expect(try table.column("title").constraints.count == 1)
    #expect(throws: SQLTableText.EditError.noConstraint) {
      try table.remove(SQLColumnConstraint(.null(nil)), of: "title")
    }
    #expect(throws: SQLTableText.EditError.noColumn("nope")) { _ = try table.column("nope") }
  }

  @Test func `types, names and columns are changed in place`() throws {
    var table = try SQLTableText(Self.note)
    try table.setType(of: "due date", to: SQLTypeName("INTEGER"))
    try table.renameColumn("owner", to: "holder")
    try table.rename(to: "memo")
    #expect(
      table.text
        == Self.note.replacing("REAL", with: "INTEGER").replacing("owner", with: "holder")
        .replacing("\"note\"", with: "memo"))
    try table.setType(of: "id", to: nil)
    #expect(table.text.contains("  id /* the key */ PRIMARY KEY,"))
    try table.dropColumn("holder")
    #expect(!table.text.contains("holder"))
    #expect(table.text.contains("-- seconds"))
    #expect(table.definition.columns.map(\.name.text) == ["id", "title", "due date"])
  }

  @Test func `columns are reordered with their own text`() throws {
    var table = try SQLTableText(Self.note)
    try table.reorder(["owner", "TITLE"])
    #expect(
      table.definition.columns.map(\.name.text) == ["owner", "title", "id", "due date"])
    #expect(table.text.contains("-- never empty\n    COLLATE nocase"))
    #expect(table.text.hasSuffix(") STRICT -- the end"))
  }

  @Test func `an order that names a column twice throws and changes nothing`() throws {
    var table = try SQLTableText("CREATE TABLE t (a, b INT, c)")
    #expect(throws: SQLTableText.EditError.repeatedColumn("B")) {
      try table.reorder(["b", "a", "B"])
    }
    #expect(table.text == "CREATE TABLE t (a, b INT, c)")
  }

  @Test func `edits that overlap or exceed the text return nil`() {
    #expect(SQLEdit.apply([SQLEdit(0..<2, "x"), SQLEdit(1..<3, "y")], to: "abc") == nil)
    #expect(SQLEdit.apply([SQLEdit(2..<9, "x")], to: "abc") == nil)
    #expect(SQLEdit.apply([SQLEdit(1..<1, "x"), SQLEdit(2..<3, "")], to: "abc") == "axb")
    #expect(SQLEdit.apply([SQLEdit(1..<2, "")], to: "é") == nil)
  }

  // MARK: Random tables

  /// Returns the text of a table with comments, blanks and line breaks between its tokens.
  private func scattered(_ text: String, _ random: inout SplitMix64) -> String {
    var scattered = ""
    let bytes = Array(text.utf8)
    for token in SQLTokens(text) {
      let word = String(decoding: bytes[token.range], as: UTF8.self)
      guard token.kind == .blank else {
        scattered += word
        continue
      }
      let blanks = [" ", "  ", "\n\t", " /* a, b) */ ", " -- c (d\n  ", "/**/"]
      scattered += blanks[Int(random.next() % 6)]
    }
    return scattered
  }

  private func comments(_ text: String) -> [String] {
    let bytes = Array(text.utf8)
    return SQLTokens(text).filter { $0.kind == .comment }
      .map { String(decoding: bytes[$0.range], as: UTF8.self) }
  }

  /// Returns whether the new text preserves the old text before and after a range.
  private func keeps(_ old: String, _ new: String, but range: Range<Int>) -> Bool {
    let (old, new) = (Array(old.utf8), Array(new.utf8))
    return new.starts(with: old[..<range.lowerBound])
      && new.reversed().starts(with: old[range.upperBound...].reversed())
  }

  @Test func `an edit of a random table preserves all other bytes`() throws {
    var random = SplitMix64(seed: 8)
    var changed = 0
    var differences = Differences()
    for seed in 0..<1_500 {
      var source = TreeSource(seed: UInt64(seed))
      let tree = source.createTable()
      guard case .definition = tree.body else { continue }
      let text = scattered(SQLStatement.createTable(tree).printed(), &random)
      var table = try SQLTableText(text)
      let column = table.definition.columns[Int(random.next() % 3)]
      let name = column.name.text
      var expected = table.definition
      let place = expected.columns.firstIndex { $0.name.matches(name) } ?? 0
      let range: Range<Int>
      switch random.next() % 6 {
      case 0:
        guard let old = column.constraints.first else { continue }
        let new = SQLColumnConstraint(.check(SQLExpression(.literal(.integer("7")))))
        try table.replace(old, of: name, by: new)
        expected.columns[place].constraints[0] = new
        range = old.span.range
      case 1:
        try table.setType(of: name, to: SQLTypeName("VARCHAR(9)"))
        expected.columns[place].type = SQLTypeName("VARCHAR(9)")
        range = column.type?.span.range ?? column.name.span.range
      case 2:
        try table.renameColumn(name, to: "zz_")
        expected.columns[place].name = "zz_"
        range = column.name.span.range
      case 3:
        let new = SQLColumnConstraint(.unique(nil))
        try table.add(new, to: name)
        expected.columns[place].constraints.append(new)
        range = column.span.range.upperBound..<column.span.range.upperBound
      case 4:
        guard let old = table.definition.constraints.first else { continue }
        let new = SQLTableConstraint(.check(SQLExpression(.literal(.integer("7"))), nil))
        try table.replace(old, by: new)
        expected.constraints[0] = new
        range = old.span.range
      default:
        try table.rename(to: "zz_")
        if table.table.name.name != "zz_" || table.definition != expected {
          differences.add("another table than renamed", table.text)
        }
        if comments(table.text) != comments(text) { differences.add("comments", table.text) }
        continue
      }
      changed += 1
      if !keeps(text, table.text, but: range) { differences.add("other bytes", table.text) }
      if table.definition != expected {
        // A constraint after a bare constraint name gets that name.
        let hasNameOnly = expected.columns[place].constraints.contains { $0.kind == .nameOnly }
        if !hasNameOnly { differences.add("another tree", text + "\n -> " + table.text) }
      }
    }
    #expect(differences.count == 0, "\(differences)")
    #expect(changed > 600)
  }

  @Test func `removing a part of a random table preserves comments outside of it`() throws {
    var random = SplitMix64(seed: 9)
    var differences = Differences()
    for seed in 0..<1_000 {
      var source = TreeSource(seed: UInt64(seed))
      let tree = source.createTable()
      guard case .definition = tree.body else { continue }
      let text = scattered(SQLStatement.createTable(tree).printed(), &random)
      var table = try SQLTableText(text)
      var expected = table.definition
      let bytes = Array(text.utf8)
      var removed: Range<Int>
      switch random.next() % 3 {
      case 0:
        let place = Int(random.next() % 3)
        guard let old = expected.columns[place].constraints.first,
          !expected.columns[place].constraints.contains(where: { $0.kind == .nameOnly })
        else { continue }
        try table.remove(old, of: expected.columns[place].name.text)
        expected.columns[place].constraints.removeFirst()
        removed = old.span.range
      case 1:
        let column = expected.columns.remove(at: Int(random.next() % 3))
        try table.dropColumn(column.name.text)
        removed = column.span.range
      default:
        guard !expected.constraints.isEmpty else { continue }
        let old = expected.constraints.removeFirst()
        try table.remove(old)
        removed = old.span.range
      }
      if table.definition != expected {
        differences.add("another tree", text + "\n -> " + table.text)
      }
      let gone = comments(String(decoding: bytes[removed], as: UTF8.self)).count
      if comments(table.text).count < comments(text).count - gone {
        differences.add("a comment is gone", text + "\n -> " + table.text)
      }
    }
    #expect(differences.count == 0, "\(differences)")
  }
}
