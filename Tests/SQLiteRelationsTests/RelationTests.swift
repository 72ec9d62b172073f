import Conformance
import SQLiteCore
import SQLiteMapping
import SQLiteRelations
import Testing

/// Tests of the queries that all kinds of relations support, whether stored in a link table or in a
/// column.
@Suite(.everyEngine) struct RelationTests {
  static let arrangements: [LinkTable.Arrangement] = [.list, .set, .dictionary]

  /// Returns links from owner 1 to targets 7 (twice, except in a set) and 8, and from owners 2 and
  /// 3 to target 7.
  private func filled(_ arrangement: LinkTable.Arrangement) throws -> LinkFixture {
    let fixture = try LinkFixture(arrangement)
    let table = fixture.table
    try fixture.database.write { connection in
      switch arrangement {
      case .list:
        try connection.setList(table, of: 1, to: [8, 7, 7])
        for owner in 2...3 { try connection.setList(table, of: Int64(owner), to: [7]) }
      case .set:
        try connection.setSet(table, of: 1, to: [8, 7])
        for owner in 2...3 { try connection.setSet(table, of: Int64(owner), to: [7]) }
      case .dictionary:
        try connection.setDictionary(
          table, of: 1, to: [.text("a"): 8, .text("b"): 7, .text("c"): 7])
        for owner in 2...3 {
          try connection.setDictionary(table, of: Int64(owner), to: [.text("a"): 7])
        }
      }
    }
    return fixture
  }

  private func ids(_ rows: SQL, _ connection: Connection) throws -> [Int64] {
    try connection.rows("SELECT id FROM \(rows)", as: Int64.self)
  }

  @Test(arguments: arrangements)
  func `links can be queried from both ends`(arrangement: LinkTable.Arrangement) throws {
    let fixture = try filled(arrangement)
    let relation = try fixture.table.relation
    let isSet = arrangement == .set
    try fixture.database.read { connection in
      #expect(try relation.count(from: .integer(1), in: connection) == (isSet ? 2 : 3))
      #expect(try relation.ends(from: 1, in: connection) == (isSet ? [7, 8] : [8, 7, 7]))
      let links = try relation.links(from: 1, in: connection)
      #expect(links.map(\.target) == (isSet ? [7, 8] : [8, 7, 7]))
      #expect(try relation.reversed.count(from: .integer(7), in: connection) == 3)
      #expect(try relation.reversed.ends(from: 7, in: connection) == [1, 2, 3])
      #expect(
        try relation.reversed.ends(from: 7, .init(after: .integer(1)), in: connection) == [2, 3])
      #expect(
        try relation.reversed.ends(from: 7, .init(limit: 1, offset: 1), in: connection) == [2])
    }
  }

  @Test(arguments: arrangements)
  func `rows at the other end are ordered, and each owner occurs once`(
    arrangement: LinkTable.Arrangement
  ) throws {
    let fixture = try filled(arrangement)
    let relation = try fixture.table.relation
    try fixture.database.read { connection in
      let forth = try ids(relation.rows(from: .integer(1)), connection)
      #expect(forth == (arrangement == .set ? [7, 8] : [8, 7, 7]))
      let back = try ids(relation.reversed.rows(from: .integer(7)), connection)
      #expect(back == [1, 2, 3])
      let page = Relation.Page(where: "own.id > 1", limit: 1)
      let part = try ids(relation.reversed.rows(from: .integer(7), page), connection)
      #expect(part == [2])
    }
  }

  @Test(arguments: arrangements)
  func `links are found through indexes, and nothing is sorted`(
    arrangement: LinkTable.Arrangement
  ) throws {
    let fixture = try filled(arrangement)
    let relation = try fixture.table.relation
    let page = Relation.Page(after: .integer(1), limit: 10)
    let forth = [
      "SELECT far.id FROM \(relation.rows(from: .integer(1), page))" as SQL,
      "\(counting(relation, from: "1"))",
    ]
    for sql in forth {
      let plan = try fixture.plan(sql)
      #expect(plan.contains("USING PRIMARY KEY (owner=?"), "\(plan)")
      #expect(!plan.contains("TEMP B-TREE") && !plan.contains("SCAN l"), "\(plan)")
    }
    let reversed = relation.reversed
    let back = [
      "SELECT own.id FROM \(reversed.rows(from: .integer(7), page))" as SQL,
      "SELECT own.id FROM \(reversed.rows(from: .integer(7), .init(where: "own.id > 1", limit: 9)))",
      "SELECT own.id FROM \(reversed.rows(from: .integer(7)))",
      "\(counting(reversed, from: "7"))",
      "\(counting(reversed, from: "7")) AND \(SQL(unchecked: reversed.end(as: "l"))) = 1",
      "\(counting(relation, from: "1")) AND \(SQL(unchecked: relation.end(as: "l"))) = 7",
    ]
    for sql in back {
      let plan = try fixture.plan(sql)
      #expect(plan.contains("USING") && plan.contains("target=?"), "\(plan)")
      #expect(!plan.contains("TEMP B-TREE") && !plan.contains("SCAN l"), "\(plan)")
    }
  }

  /// Returns a subquery that counts the links from a key.
  private func counting(_ relation: Relation, from key: String, to row: String? = nil) -> SQL {
    let target = row.map { relation.destination(as: $0, of: "l") }
    let join = target.map { " JOIN \($0.table) ON \($0.condition)" } ?? ""
    return SQL(
      unchecked:
        "SELECT count(*) FROM \(relation.rows(as: "l"))\(join) WHERE \(relation.start(as: "l")) = \(key) AND \(relation.isFirst(as: "l") ?? "1")"
    )
  }

  @Test func `a column references one row and is referenced by many`() throws {
    let database = try Database.fresh()
    try database.write { connection in
      try connection.executeChange("CREATE TABLE tree (id INTEGER PRIMARY KEY, up INTEGER)")
      try connection.executeChange("CREATE INDEX tree_up ON tree (up)")
      try connection.executeChange("INSERT INTO tree VALUES (1, NULL), (2, 1), (3, 1), (4, 9)")
      let end = Relation.End(table: "tree", key: "id")
      let relation = try Relation(column: "up", of: end, to: end)
      #expect(try relation.end(from: 2, in: connection) == .some(1))
      #expect(try relation.end(from: 1, in: connection) == .some(nil))
      #expect(try relation.end(from: 5, in: connection) == nil)
      #expect(try relation.count(from: .integer(1), in: connection) == 0)
      #expect(try relation.count(from: .integer(2), in: connection) == 1)
      #expect(try relation.missingEnd(in: connection) == 9)
      #expect(try relation.present([1, 2, 9], in: connection) == [1, 2])
      let reversed = relation.reversed
      #expect(reversed.reversed == relation)
      #expect(try reversed.ends(from: 1, in: connection) == [2, 3])
      #expect(try reversed.count(from: .integer(1), where: "id > 2", in: connection) == 1)
      let sql: SQL = "SELECT id FROM \(reversed.rows(from: .integer(1), .init(limit: 5)))"
      #expect(try connection.rows(sql, as: Int64.self) == [2, 3])
      let plan = try connection.executeQuery("EXPLAIN QUERY PLAN \(sql)")
        .map { "\($0["detail"]?.asString() ?? "")" }.joined(separator: "; ")
      #expect(plan.contains("tree_up") && !plan.contains("TEMP B-TREE"), "\(plan)")
      // The outer query and the relation use the same table.
      let parents: SQL =
        "SELECT id FROM tree WHERE EXISTS (\(counting(reversed, from: "tree.id", to: "r")) AND r.id = 3 HAVING count(*) > 0)"
      #expect(try connection.rows(parents, as: Int64.self) == [1])
      let children: SQL =
        "SELECT id FROM tree WHERE EXISTS (\(counting(relation, from: "tree.id", to: "r")) AND r.id = 1 HAVING count(*) > 0)"
      #expect(try connection.rows(children, as: Int64.self) == [2, 3])
    }
  }
}

private struct Page: Record, Sendable, Equatable {
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  var id: Int?
  var title: String
}

private struct Label: Record, Sendable, Equatable {
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  var id: Int?
  var text: String
}

private struct PageLabel: Record, Sendable {
  static let tableName = "page_label"
  var id: Int?
}

private struct PageLabelRow: Record, Sendable {
  static let tableName = "page_label"
  static let isReadOnly = true
  var pageID: Int
  var labelID: Int
}

@Suite(.everyEngine) struct CrossReferenceClaimTests {
  private let database: Database
  private let labels = CrossReference<Page, Label>(
    "page_label", leftKeyName: "pageID", rightKeyName: "labelID")

  init() throws { database = try Database.fresh() }

  @Test func `saving a record in the table of a cross reference throws`() throws {
    let page = try database.write { try $0.update(Page(title: "a")) }
    try database.write { try $0.setLinks(of: page, to: [Label(text: "b")], through: labels) }
    let error = #expect(throws: SQLiteError.self) {
      try database.write { try $0.update(PageLabel(id: 1)) }
    }
    #expect(error?.code.primary == .misuse)
    #expect(try database.read { try $0.objects(of: PageLabelRow.self) }.count == 1)
  }

  @Test func `linking through the table of a record throws`() throws {
    let page = try database.write { try $0.update(Page(title: "a")) }
    try database.write { try $0.update(PageLabel(id: 1)) }
    let error = #expect(throws: SQLiteError.self) {
      try database.write { try $0.setLinks(of: page, to: [Label(text: "b")], through: labels) }
    }
    #expect(error?.code.primary == .misuse)
    #expect(try database.read { try $0.count(of: PageLabel.self) } == 1)
  }

  @Test func `links of other types or columns can't use the table of a cross reference`() throws {
    let page = try database.write { try $0.update(Page(title: "a")) }
    let other = CrossReference<Page, Page>(
      "Page_Label", leftKeyName: "pageID", rightKeyName: "labelID")
    let names = CrossReference<Page, Label>(
      "page_label", leftKeyName: "from", rightKeyName: "to")
    let saved = try database.write {
      try $0.setLinks(of: page, to: [Label(text: "b")], through: labels)
    }
    for _ in 0..<2 {
      #expect(throws: SQLiteError.self) {
        try database.write { try $0.link(page, page, through: other) }
      }
      #expect(throws: SQLiteError.self) {
        try database.write { try $0.link(page, saved[0], through: names) }
      }
      #expect(throws: SQLiteError.self) {
        try database.write { try $0.unlink(page, saved[0], through: names) }
      }
    }
    #expect(try database.read { try $0.linkCount(of: page, through: labels) } == 1)
  }

  @Test func `the same links can be described twice, also from the other end`() throws {
    let page = try database.write { try $0.update(Page(title: "a")) }
    let saved = try database.write {
      try $0.setLinks(of: page, to: [Label(text: "b")], through: labels)
    }
    let same = CrossReference<Page, Label>(
      "page_label", leftKeyName: "pageID", rightKeyName: "labelID")
    #expect(try database.write { try $0.unlink(page, saved[0], through: same) })
    try database.write { try $0.link(page, saved[0], through: same) }
    let mirrored = CrossReference<Label, Page>(
      "page_label", leftKeyName: "labelID", rightKeyName: "pageID")
    #expect(try database.read { try $0.rightObjects(of: saved[0], through: mirrored) } == [page])
    #expect(try database.write { try $0.unlink(saved[0], page, through: mirrored) })
  }
}
