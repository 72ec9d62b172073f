import Conformance
import SQLiteCore
import SQLiteMapping
import SQLiteRelations
import Testing

@Suite(.everyEngine) struct LinkTableTests {
  @Test(arguments: [LinkTable.Arrangement.list, .set, .dictionary])
  func `a link table has no rowids, and foreign keys to both ends`(
    arrangement: LinkTable.Arrangement
  ) throws {
    let fixture = try LinkFixture(arrangement)
    try fixture.database.read { connection in
      let sql = try connection.firstRow(
        "SELECT sql FROM sqlite_schema WHERE name = 'links'", as: String.self)
      #expect(sql?.hasSuffix("WITHOUT ROWID") == true)
      let keys = try connection.rows(
        "SELECT \"from\", \"table\", on_delete FROM pragma_foreign_key_list('links') ORDER BY 1",
        as: String.self, String.self, String.self)
      #expect(keys.map { "\($0) \($1) \($2)" } == ["owner own CASCADE", "target far CASCADE"])
    }
  }

  @Test(arguments: [LinkTable.Arrangement.list, .set, .dictionary])
  func `links are found from both ends by an index`(arrangement: LinkTable.Arrangement) throws {
    let fixture = try LinkFixture(arrangement)
    let forth = try fixture.plan("SELECT target FROM links WHERE owner = 1")
    let back = try fixture.plan("SELECT owner FROM links WHERE target = 1")
    #expect(forth.contains("USING PRIMARY KEY (owner=?)"))
    #expect(back.contains("USING COVERING INDEX links(target,owner) (target=?)"))
  }

  @Test(arguments: [LinkTable.Arrangement.list, .set, .dictionary])
  func `links are deleted with either end`(arrangement: LinkTable.Arrangement) throws {
    let fixture = try LinkFixture(arrangement)
    let table = fixture.table
    try fixture.database.write { connection in
      switch arrangement {
      case .list:
        try connection.setList(table, of: 1, to: [1, 2, 1])
        try connection.setList(table, of: 2, to: [1])
      case .set:
        try connection.setSet(table, of: 1, to: [1, 2])
        try connection.setSet(table, of: 2, to: [1])
      case .dictionary:
        try connection.setDictionary(table, of: 1, to: [.text("a"): 1, .integer(5): 2])
        try connection.setDictionary(table, of: 2, to: [.text("a"): 1])
      }
      try connection.executeChange("DELETE FROM far WHERE id = 1")
    }
    #expect(try fixture.targets(of: 1) == [2])
    #expect(try fixture.targets(of: 2) == [])
    try fixture.database.executeChange("DELETE FROM own WHERE id = 1")
    #expect(try fixture.targets(of: 1) == [])
    #expect(try fixture.violations() == 0)
  }

  @Test func `a link to a missing row throws`() throws {
    let fixture = try LinkFixture(.set)
    let table = fixture.table
    let error = #expect(throws: SQLiteError.self) {
      try fixture.database.write { try $0.setSet(table, of: 1, to: [1, 99]) }
    }
    #expect(error?.code.primary == .constraint)
    #expect(try fixture.targets(of: 1) == [])
  }

  @Test func `changing a set writes only the differences`() throws {
    let fixture = try LinkFixture(.set)
    let table = fixture.table
    try fixture.database.write { connection in
      try connection.setSet(table, of: 1, to: Set(1...40))
      let before = try connection.firstRow("SELECT total_changes()", as: Int.self) ?? 0
      try connection.setSet(table, of: 1, to: Set(2...41))
      let after = try connection.firstRow("SELECT total_changes()", as: Int.self) ?? 0
      #expect(after - before == 2)
    }
    #expect(try fixture.targets(of: 1) == Array(2...41))
  }

  @Test func `changing a dictionary writes only the differences`() throws {
    let fixture = try LinkFixture(.dictionary)
    let table = fixture.table
    try fixture.database.write { connection in
      try connection.setDictionary(
        table, of: 1, to: [.text("a"): 1, .text("b"): 2, .integer(3): 3, .blob([0]): 4])
      let before = try connection.firstRow("SELECT total_changes()", as: Int.self) ?? 0
      try connection.setDictionary(
        table, of: 1, to: [.text("a"): 1, .text("b"): 5, .integer(3): 3, .text("3"): 4])
      let after = try connection.firstRow("SELECT total_changes()", as: Int.self) ?? 0
      // A key with a new target is one change.
      #expect(after - before == 3)
      let links = try connection.links(table, of: [1])
      #expect(
        Dictionary(uniqueKeysWithValues: links.map { ($0.place, $0.target) })
          == [.text("a"): 1, .text("b"): 5, .integer(3): 3, .text("3"): 4])
    }
  }

  @Test func `links of many owners are fetched in one statement`() throws {
    let fixture = try LinkFixture(.list, owners: 20)
    let table = fixture.table
    try fixture.database.write { connection in
      for owner in 1...20 { try connection.setList(table, of: Int64(owner), to: [3, 1, 2]) }
      let before = connection.statementCount
      let links = try connection.links(table, of: Array(1...20))
      #expect(connection.statementCount - before == 1)
      #expect(links.map(\.owner) == (1...20).flatMap { [Int64($0), Int64($0), Int64($0)] })
      #expect(links.map(\.target) == (1...20).flatMap { _ in [3, 1, 2] as [Int64] })
    }
  }

  @Test(arguments: [LinkTable.Arrangement.list, .set])
  func `pages of links follow each other without gaps`(arrangement: LinkTable.Arrangement) throws {
    let fixture = try LinkFixture(arrangement)
    let table = fixture.table
    try fixture.database.write { connection in
      if arrangement == .list {
        try connection.setList(table, of: 1, to: Array(1...50).reversed())
      } else {
        try connection.setSet(table, of: 1, to: Set(1...50))
      }
      let all = try connection.links(table, of: [1])
      var paged: [StoredLink] = []
      while let page = Optional(
        try table.relation.links(
          from: 1, .init(after: paged.last.map { table.order(of: $0) }, limit: 7), in: connection)),
        !page.isEmpty
      {
        paged += page
      }
      #expect(paged == all)
      #expect(
        try table.relation.links(from: 1, .init(limit: 5, offset: 48), in: connection)
          == Array(all[48...]))
      #expect(try table.relation.count(from: .integer(1), in: connection) == 50)
      #expect(
        try table.relation.count(from: .integer(1), where: "target % 2 = 0", in: connection) == 25)
    }
  }

  @Test func `each owner of a target is found once`() throws {
    let fixture = try LinkFixture(.list)
    let table = fixture.table
    try fixture.database.write { connection in
      try connection.setList(table, of: 1, to: [7, 7, 8])
      try connection.setList(table, of: 2, to: [8])
      try connection.setList(table, of: 3, to: [7])
      #expect(try table.relation.reversed.ends(from: 7, in: connection) == [1, 3])
      #expect(try table.relation.reversed.count(from: .integer(7), in: connection) == 2)
      #expect(
        try table.relation.reversed.ends(from: 7, .init(after: .integer(1)), in: connection) == [3])
      #expect(try table.relation.reversed.ends(from: 7, .init(limit: 1), in: connection) == [1])
      #expect(try table.relation.reversed.ends(from: 9, in: connection) == [])
    }
  }

  @Test func `a position that isn't an integer throws a mismatch error`() throws {
    let fixture = try LinkFixture(.list)
    let table = fixture.table
    try fixture.database.executeChange("INSERT INTO links VALUES (1, 'first', 1)")
    let error = #expect(throws: SQLiteError.self) {
      try fixture.database.write { try $0.setList(table, of: 1, to: [1, 2]) }
    }
    #expect(error?.code == .mismatch)
  }
}
