import Foundation
import MagicData
import Testing
import TestSupport

/// A record with columns that had the same index name until 2026: email_address, and email with
/// address.
private struct User: Record, Equatable {
  static let traits: [PropertyTrait] = [
    .indexed("email_address"), .unique("email", "address"), .indexed("nick"), .unique("nick"),
  ]
  var id: Int
  var email: String
  var address: String
  var email_address = ""
  var nick: String?
}

private struct Member: MagicObject {
  static var traits: [PropertyTrait] {
    [
      .indexed(\Self.$email_address), .unique(\Self.$email, \Self.$address),
      .indexed(\Self.$nick), .unique(\Self.$nick),
    ]
  }
  @MagicValue var email: String
  @MagicValue var address: String
  @MagicValue var email_address: String
  @OptionalMagicValue var nick: String?

  init() { email_address = "" }

  static func make(_ email: String, _ address: String, _ nick: String? = nil) -> Member {
    let member = Member()
    member.email = email
    member.address = address
    member.nick = nick
    return member
  }
}

/// Two versions of types: without and with a constraint.
private enum First {
  struct Account: Record {
    var id: Int
    var email: String
  }
  struct Player: MagicObject {
    static let tableName = "Player"
    @MagicValue var email: String
    init() {}
    static func make(_ email: String) -> Player {
      let player = Player()
      player.email = email
      return player
    }
  }
}

private enum Second {
  struct Account: Record {
    static let traits: [PropertyTrait] = [.unique("email")]
    var id: Int
    var email: String
  }
  struct Player: MagicObject {
    static let tableName = "Player"
    static var traits: [PropertyTrait] { [.unique(\Self.$email)] }
    @MagicValue var email: String
    init() {}
    static func make(_ email: String) -> Player {
      let player = Player()
      player.email = email
      return player
    }
  }
}

/// Types with tables and columns that had the same index and trigger names until 2026.
private struct Team: MagicObject {
  static var traits: [PropertyTrait] { [.indexed(\Self.$home_name)] }
  @MagicValue var home_name: String
  @MagicValue var home_logo: MagicAsset<String>
  init() {
    home_name = ""
    home_logo = MagicAsset()
  }
}

private struct Team_home: MagicObject {
  static var traits: [PropertyTrait] { [.unique(\Self.$name)] }
  @MagicValue var name: String
  @MagicValue var logo: MagicAsset<String>
  init() {
    name = ""
    logo = MagicAsset()
  }
}

@Suite struct HoldIndexTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder.inMemory() }

  private func violatesUniqueness(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return false
    } catch let error as SQLiteError {
      return error.code == .uniqueConstraint
    } catch {
      return false
    }
  }

  @Test func `a record's indexes are created even if their column names are ambiguous`() throws {
    let database = try Database(path: folder.file())
    try database.write { try $0.insert(User(id: 1, email: "a", address: "b", nick: "n")) }
    #expect(
      violatesUniqueness {
        try database.write { try $0.insert(User(id: 2, email: "a", address: "b")) }
      })
    #expect(
      violatesUniqueness {
        try database.write { try $0.insert(User(id: 3, email: "c", address: "d", nick: "n")) }
      })
    try database.write { try $0.insert(User(id: 4, email: "a", address: "d")) }
    let indexes = try database.read { try $0.existingIndexes(of: "User") }.map {
      ($0.columns, $0.isUnique)
    }
    #expect(indexes.contains { $0 == ["email_address"] && !$1 })
    #expect(indexes.contains { $0 == ["email", "address"] && $1 })
    #expect(indexes.filter { $0.0 == ["nick"] }.map(\.1) == [true])
  }

  @Test func `an object's indexes are created even if their column names are ambiguous`() throws {
    let magic = try MagicData(path: folder.path)
    try magic.update(Member.make("a", "b", "n"))
    #expect(violatesUniqueness { try magic.update(Member.make("a", "b")) })
    #expect(violatesUniqueness { try magic.update(Member.make("c", "d", "n")) })
    try magic.update(Member.make("a", "d"))
    let indexes = try magic.database.read { try $0.existingIndexes(of: "Member") }.map {
      ($0.columns, $0.isUnique)
    }
    #expect(indexes.contains { $0 == ["email_address"] && !$1 })
    #expect(indexes.filter { $0.0 == ["nick"] }.map(\.1) == [true])
    #expect(try magic.check(of: Member.self) == [])
  }

  @Test func `tables with ambiguous names have their own indexes and triggers`() throws {
    let magic = try MagicData(path: folder.path)
    let (team, home) = (Team(), Team_home())
    team.home_name = "x"
    team.home_logo = MagicAsset(value: "team")
    home.name = "x"
    home.logo = MagicAsset(value: "home")
    try magic.update(team)
    try magic.update(home)
    let other = Team_home()
    other.name = "x"
    #expect(violatesUniqueness { try magic.update(other) })
    #expect(
      try magic.database.read { try $0.existingIndexes(of: "Team") }.contains {
        $0.columns == ["home_name"]
      })
    let count: SQL = "SELECT count(*) FROM magicdata_asset"
    #expect(try magic.database.rows(count, as: Int.self).first == 2)
    // The triggers delete the assets, whichever program deletes the rows.
    try magic.database.executeChange("DELETE FROM Team_home")
    #expect(try magic.database.rows(count, as: Int.self).first == 1)
    try magic.database.executeChange("DELETE FROM Team")
    #expect(try magic.database.rows(count, as: Int.self).first == 0)
  }

  @Test func `the first use of an object type creates a constraint that was added later`() throws {
    for readsFirst in [true, false] {
      let path = folder.file("\(readsFirst)")
      try MagicData(path: path).update(First.Player.make("a@b"))
      let magic = try MagicData(path: path)
      if readsFirst { #expect(try magic.count(of: Second.Player.self) == 1) }
      #expect(violatesUniqueness { try magic.update(Second.Player.make("a@b")) })
      try magic.update(Second.Player.make("c@d"))
      #expect(try magic.check(of: Second.Player.self) == [])
    }
  }

  @Test func `the first write of a record creates a constraint that was added later`() throws {
    for readsFirst in [true, false] {
      let path = folder.file("\(readsFirst)")
      try Database(path: path).write { try $0.insert(First.Account(id: 1, email: "a@b")) }
      let database = try Database(path: path)
      if readsFirst { #expect(try database.read { try $0.count(of: Second.Account.self) } == 1) }
      #expect(
        violatesUniqueness {
          try database.write { try $0.insert(Second.Account(id: 2, email: "a@b")) }
        })
      try database.write { try $0.insert(Second.Account(id: 3, email: "c@d")) }
    }
  }

  @Test func `each first use throws if rows violate a new constraint, until a migration`() throws {
    let path = folder.file("store")
    try MagicData(path: path).update([First.Player.make("a@b"), First.Player.make("a@b")])
    try MagicData(path: path).database.write {
      try $0.insert(
        contentsOf: [First.Account(id: 1, email: "x"), First.Account(id: 2, email: "x")])
    }
    // The error must also occur after the store is opened again.
    for _ in 0..<2 {
      let magic = try MagicData(path: path)
      let uses: [() throws -> Void] = [
        { _ = try magic.objects(of: Second.Player.self) },
        { _ = try magic.count(of: Second.Player.self) },
        { try magic.update(Second.Player.make("new")) },
        { _ = try magic.database.read { try $0.objects(of: Second.Account.self) } },
        { _ = try magic.database.read { try $0.object(of: Second.Account.self, ifPresent: 1) } },
        { try magic.database.write { try $0.insert(Second.Account(id: 3, email: "new")) } },
      ]
      for use in uses {
        let error = #expect(throws: SchemaError.self) { try use() }
        #expect(error?.description.contains("“email”") ?? false)
        #expect(error?.description.contains("migration") ?? false)
      }
    }
    let magic = try MagicData(path: path)
    try magic.migrate([
      Migration(
        "one of each",
        .sql("DELETE FROM Player WHERE rowid > (SELECT min(rowid) FROM Player)"),
        .sql("DELETE FROM Account WHERE id = 2"))
    ])
    #expect(try magic.count(of: Second.Player.self) == 1)
    #expect(violatesUniqueness { try magic.update(Second.Player.make("a@b")) })
    #expect(try magic.database.read { try $0.objects(of: Second.Account.self) }.map(\.id) == [1])
    #expect(
      violatesUniqueness {
        try magic.database.write { try $0.insert(Second.Account(id: 3, email: "x")) }
      })
  }

  @Test func `an index with an older name is used, unless its definition differs`() throws {
    let path = folder.file("store")
    do {
      let magic = try MagicData(path: path)
      try magic.update(Member.make("a", "b"))
      // Recreates the indexes of versions until 2026, which skipped the second one.
      for index in try magic.database.read({ try $0.existingIndexes(of: "Member") })
      where index.isExplicit {
        try magic.database.executeChange("DROP INDEX \(identifier: index.name)")
      }
      try magic.database.executeMultipleChanges(
        """
        CREATE INDEX Member_email_address ON Member (email_address);
        CREATE UNIQUE INDEX Member_nick ON Member (nick);
        CREATE UNIQUE INDEX "partial" ON Member (email, address) WHERE nick > 'm';
        CREATE INDEX "Member(email,address)" ON Member (email);
        """)
    }
    let magic = try MagicData(path: path)
    #expect(try magic.check(of: Member.self).map(\.kind) == [.missingIndex])
    #expect(try magic.count(of: Member.self) == 1)
    #expect(violatesUniqueness { try magic.update(Member.make("a", "b")) })
    let names = try magic.database.read { try $0.existingIndexes(of: "Member") }.map(\.name)
    #expect(
      names == [
        "Member(email,address)", "Member(email,address) 2", "Member_email_address", "Member_nick",
        "partial",
      ])
  }

  @Test func `a read-only store needs no index, unless its rows violate it`() throws {
    let path = folder.file("store")
    try MagicData(path: path).update(First.Player.make("a@b"))
    #expect(try MagicData(path: path, options: .readOnly).count(of: Second.Player.self) == 1)
    try MagicData(path: path).update(First.Player.make("a@b"))
    let magic = try MagicData(path: path, options: .readOnly)
    let error = #expect(throws: SchemaError.self) { try magic.count(of: Second.Player.self) }
    #expect(error?.description.contains("“email”") ?? false)
  }

  @Test func `every table and list of columns has its own index name`() throws {
    let database = try Database(path: folder.file())
    // Each index must have a unique name, whatever characters the names contain.
    let parts = ["a", "b", "a,b", "a\\", ",b", "(a", "b)", "a_b", "_"]
    for table in parts {
      try database.write {
        try $0.createTable(
          "t" + table, columns: parts.map { ColumnDefinition($0, .text, isOptional: true) })
      }
    }
    for table in parts {
      for one in parts {
        for other in parts where other != one {
          try database.write {
            try $0.createIndex(
              IndexDefinition([one, other]).name(on: "t" + table), on: "t" + table,
              columns: [one, other])
          }
        }
      }
    }
    #expect(
      try database.read { try $0.existingIndexes() }.count == parts.count * parts.count
        * (parts.count - 1))
  }
}
