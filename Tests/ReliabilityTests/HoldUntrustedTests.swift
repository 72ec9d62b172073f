import Foundation
import MagicData
import SQLitePortable
import Synchronization
import Testing
import TestSupport

/// Tests untrusted files and texts that would keep SQLite's compiler or virtual machine busy.
@Suite struct HoldUntrustedTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder.inMemory() }

  private func make(_ script: [String]) throws {
    let database = try Database(path: folder.file())
    try database.write { connection in
      for sql in script { try connection.executeChange(SQL(unchecked: sql)) }
    }
    try database.close()
  }

  /// Views whose expansion grows exponentially with each line.
  enum Bomb: String, CaseIterable {
    case joins, unions, subqueries, aggregates, expressions, renamed, lists, quoted,
      expressionTables
    case nested, stars, chain, digits, digitColumns

    var script: [String] {
      let table = "CREATE TABLE v0 (x)"
      func views(_ count: Int, _ view: (Int) -> String) -> [String] {
        [table] + (0..<count).map { "CREATE VIEW v\($0 + 1)(x) AS \(view($0))" }
      }
      switch self {
      case .joins: return views(14) { "SELECT a.x FROM v\($0) a, v\($0) b" }
      case .unions: return views(15) { "SELECT x FROM v\($0) UNION ALL SELECT x FROM v\($0)" }
      case .subqueries:
        return views(15) { "SELECT (SELECT x FROM v\($0)) + (SELECT x FROM v\($0))" }
      case .aggregates: return views(15) { "SELECT count(a.x) FROM v\($0) a, v\($0) b" }
      case .expressions: return views(24) { "SELECT x + x FROM v\($0)" }
      case .renamed:
        return [table, "CREATE VIEW \"W 0\"(y0) AS SELECT x FROM v0"]
          + (0..<24).map {
            "CREATE VIEW [W \($0 + 1)](y\($0 + 1)) AS SELECT Y\($0)+\"y\($0)\" FROM main . `w \($0)`"
          }
      case .lists:
        let list = (0..<10_000).map { "\($0)" }.joined(separator: ",")
        return views(11) {
          $0 == 0
            ? "SELECT x FROM v0 WHERE x IN (\(list))"
            : "SELECT max(a.x) FROM v\($0) a, v\($0) b"
        }
      case .quoted:
        return [table, #"CREATE VIEW "a""0"(x) AS SELECT x FROM v0"#]
          + (0..<15).map {
            #"CREATE VIEW "a""\#($0 + 1)"(x) AS SELECT x FROM "a""\#($0)" UNION ALL SELECT x FROM "a""\#($0)""#
          }
      case .expressionTables:
        let tables = (0..<15).map {
          "c\($0 + 1)(x) AS (SELECT a.x FROM c\($0) a, c\($0) b)"
        }
        return [
          table,
          "CREATE VIEW w AS WITH c0 AS (SELECT x FROM v0), \(tables.joined(separator: ", ")) "
            + "SELECT * FROM c15",
        ]
      case .nested:
        var from = "v0"
        for _ in 0..<11 { from = "(SELECT x+x+x+x AS x FROM \(from))" }
        return [table, "CREATE VIEW w AS SELECT x FROM \(from)"]
      case .stars:
        return [table] + (0..<10).map { "CREATE VIEW v\($0 + 1) AS SELECT *, v\($0).* FROM v\($0)" }
          + (10..<24).map { "CREATE VIEW v\($0 + 1) AS SELECT *, * FROM v\($0)" }
      case .digits:
        return [table, #"CREATE VIEW "1v0"(x) AS SELECT x FROM v0"#]
          + (0..<16).map {
            #"CREATE VIEW "1v\#($0 + 1)" AS SELECT a.x FROM "1v\#($0)" a, "1v\#($0)" b"#
          }
      case .digitColumns:
        return [#"CREATE TABLE v0 ("1")"#]
          + (0..<24).map { #"CREATE VIEW v\#($0 + 1) AS SELECT "1" + "1" AS "1" FROM v\#($0)"# }
      case .chain: return views(2_000) { "SELECT x FROM v\($0)" }
      }
    }
  }

  @Test(arguments: Bomb.allCases)
  func `views that expand to too much SQL throw`(bomb: Bomb) throws {
    try make(bomb.script)
    let error = #expect(throws: SQLiteError.self) {
      try Database(path: folder.file(), options: .untrusted)
    }
    #expect(error?.code == .tooBig)
    // A file that is trusted can be opened.
    #expect(
      try Database(path: folder.file(), options: .readOnly).executeQuery("SELECT 1").first != nil)
  }

  @Test func `views of a realistic schema can be read`() throws {
    try make([
      "CREATE TABLE customer (id INTEGER PRIMARY KEY, name, country, joined)",
      "CREATE TABLE sale (id INTEGER PRIMARY KEY, customer, item, count, price, sold)",
      "CREATE TABLE item (id INTEGER PRIMARY KEY, name, cost, parent)",
      """
      CREATE VIEW line AS SELECT s.id, s.customer, s.item, i.name, s.count, s.price,
        s.count * s.price AS total, s.count * i.cost AS cost,
        s.count * (s.price - i.cost) AS profit,
        CASE WHEN s.price = 0 THEN NULL ELSE (s.price - i.cost) / s.price END AS margin
      FROM sale s JOIN item i ON i.id = s.item
      """,
      """
      CREATE VIEW customer_total AS SELECT c.id, c.name, c.country, sum(l.total) AS total,
        sum(l.profit) AS profit, max(l.total) AS largest, count(*) AS lines,
        (SELECT max(o.total) FROM line o WHERE o.customer <> c.id) AS others
      FROM customer c LEFT JOIN line l ON l.customer = c.id GROUP BY c.id
      """,
      """
      CREATE VIEW country_total AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
        WHERE i < 10), best AS (SELECT country, max(total) AS total FROM customer_total GROUP BY country)
      SELECT t.country, sum(t.total) AS total, avg(t.profit) AS profit, b.total AS best,
        (SELECT max(i) FROM n) AS ten
      FROM customer_total t JOIN best b ON b.country = t.country GROUP BY t.country
      """,
      "INSERT INTO customer VALUES (1, 'Ann', 'NO', 0)",
      "INSERT INTO item VALUES (1, 'pen', 2, NULL)",
      "INSERT INTO sale VALUES (1, 1, 1, 10, 5, 0)",
    ])
    let database = try Database(path: folder.file(), options: .untrusted)
    let rows = try database.rows(
      "SELECT country, total, profit, best, ten FROM country_total",
      as: String.self, Int.self, Double.self, Int.self, Int.self)
    #expect(rows.count == 1 && rows.allSatisfy { $0 == ("NO", 50, 30, 50, 10) })
  }

  @Test func `a schema with too much SQL throws`() throws {
    let text = String(repeating: "x", count: 1_000)
    try make((0..<50).map { "CREATE TABLE t\($0) (a DEFAULT '\(text)')" })
    var options = Database.Options.untrusted
    #expect(
      try Database(path: folder.file(), options: options).executeQuery("SELECT a FROM t1").first
        == nil)
    options.maximumSchemaSize = 40_000
    let error = #expect(throws: SQLiteError.self) {
      try Database(path: folder.file(), options: options)
    }
    #expect(error?.code == .tooBig)
  }

  // MARK: Dumps

  private static let endless =
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT max(x) AS x FROM c"

  private func file(_ isJSON: Bool) -> DataFile {
    isJSON ? .json(path: folder.file("dump")) : .spon(path: folder.file("dump"))
  }

  private func replace(_ old: String, by new: String) throws {
    let text = String(decoding: try folder.bytes(of: "dump"), as: UTF8.self)
    #expect(text.contains(old))
    try folder.write(text.replacing(old, with: new).utf8, to: "dump")
  }

  @Test(arguments: [false, true], ["t AS ", "t\tas ", "[t] AS ", "t/* ( */AS "])
  func `a table in a dump can't be filled by a query`(isJSON: Bool, name: String) throws {
    let database = try Database.memory()
    try database.executeMultipleChanges("CREATE TABLE t (x)")
    try database.dump(to: file(isJSON))
    // Writes the tab like the format does.
    let name = name.replacing("\t", with: isJSON ? "\\t" : " ")
    try replace("CREATE TABLE t (x)", by: "CREATE TABLE \(name)\(Self.endless)")
    #expect(throws: DumpError.self) { try Database.memory().restore(from: file(isJSON)) }
    #expect(throws: DumpError.self) {
      try file(isJSON).copy(to: .sqlite(path: folder.file("new")))
    }
    #expect(!folder.contains("new"))
  }

  /// Creates a dump with an index that takes several minutes to build.
  private func makeSlow() throws {
    let database = try Database.memory()
    try database.executeMultipleChanges(
      """
      CREATE TABLE t (x);
      WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x < 3000)
        INSERT INTO t SELECT x FROM c;
      CREATE INDEX i ON t (length(x));
      """)
    try database.dump(to: file(false))
    try replace("(length(x))", by: "(length(hex(zeroblob(5000000 + x))))")
  }

  @Test func `a restore ends at its deadline`() throws {
    try makeSlow()
    let target = try Database.memory()
    try target.executeMultipleChanges("CREATE TABLE mine (a)")
    let error = #expect(throws: SQLiteError.self) {
      try target.restore(from: file(false), deadline: .now + .milliseconds(100))
    }
    #expect(error?.code == .interrupt)
    #expect(throws: SQLiteError.self) {
      try file(false).copy(to: .sqlite(path: folder.file("new")), deadline: .now)
    }
    #expect(!folder.contains("new"))
    #expect(try target.rows("SELECT count(*) FROM mine", as: Int.self).first == 0)
  }

  @Test(.timeLimit(.minutes(40))) func `cancelling its task ends a restore`() async throws {
    try makeSlow()
    let (reports, continuation) = AsyncStream.makeStream(of: Int.self)
    let task = Task { [file = file(false)] in
      let target = try await Task { try Database.memory() }.value
      try await target.restore(from: file) { continuation.yield($0.rows) }
    }
    for await rows in reports where rows >= 3_000 { break }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func `rows of a dump can't go into a view or a table of another line`() throws {
    let database = try Database.memory()
    try database.executeMultipleChanges(
      """
      CREATE TABLE a (x);
      CREATE TABLE z (x);
      INSERT INTO z VALUES (1);
      """)
    try database.dump(to: file(true))
    let lines = String(decoding: try folder.bytes(of: "dump"), as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false)
    let place = try #require(lines.firstIndex { $0.contains("CREATE TABLE z (x)") })
    // With this change, the rows of z would go into a.
    var changed = lines
    changed[place] = Substring(
      changed[place].replacing("\"z\"", with: "\"a\"").replacing("z (x)", with: "q (x)"))
    #expect(changed[place] != lines[place])
    try folder.write(changed.joined(separator: "\n").utf8, to: "dump")
    let error = #expect(throws: DumpError.self) { try Database.memory().restore(from: file(true)) }
    if case .schema(let name, _)? = error {
      #expect(name == "a")
    } else {
      Issue.record("\(error as Any)")
    }
  }
}
