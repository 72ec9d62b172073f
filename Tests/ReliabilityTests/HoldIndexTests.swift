import Foundation
import MagicData
import Testing
import TestSupport

/// Names that were one index name until 2026: email_address, and email with address.
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

/// A type as it was, and as it is with a constraint.
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

/// Tables and columns that were one index name until 2026, and one name of triggers.
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

  private func isRefused(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return false
    } catch let error as SQLiteError {
      return error.code == .uniqueConstraint
    } catch {
      return false
    }
  }

  @Test func `what is declared of a record is made, whatever the names are`() throws {
    let database = try Database(path: folder.file())
    try database.write { try $0.insert(User(id: 1, email: "a", address: "b", nick: "n")) }
    #expect(
      isRefused { try database.write { try $0.insert(User(id: 2, email: "a", address: "b")) } })
    #expect(
      isRefused {
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

  @Test func `what is declared of an object is made, whatever the names are`() throws {
    let magic = try MagicData(path: folder.path)
    try magic.update(Member.make("a", "b", "n"))
    #expect(isRefused { try magic.update(Member.make("a", "b")) })
    #expect(isRefused { try magic.update(Member.make("c", "d", "n")) })
    try magic.update(Member.make("a", "d"))
    let indexes = try magic.database.read { try $0.existingIndexes(of: "Member") }.map {
      ($0.columns, $0.isUnique)
    }
    #expect(indexes.contains { $0 == ["email_address"] && !$1 })
    #expect(indexes.filter { $0.0 == ["nick"] }.map(\.1) == [true])
    #expect(try magic.check(of: Member.self) == [])
  }

  @Test func `tables whose names flow together have their own indexes and triggers`() throws {
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
    #expect(isRefused { try magic.update(other) })
    #expect(
      try magic.database.read { try $0.existingIndexes(of: "Team") }.contains {
        $0.columns == ["home_name"]
      })
    let count: SQL = "SELECT count(*) FROM magicdata_asset"
    #expect(try magic.database.rows(count, as: Int.self).first == 2)
    // The triggers let the assets go, whoever deletes.
    try magic.database.executeChange("DELETE FROM Team_home")
    #expect(try magic.database.rows(count, as: Int.self).first == 1)
    try magic.database.executeChange("DELETE FROM Team")
    #expect(try magic.database.rows(count, as: Int.self).first == 0)
  }

  @Test func `a constraint that is added later is made by the first use of an object`() throws {
    for readsFirst in [true, false] {
      let path = folder.file("\(readsFirst)")
      try MagicData(path: path).update(First.Player.make("a@b"))
      let magic = try MagicData(path: path)
      if readsFirst { #expect(try magic.count(of: Second.Player.self) == 1) }
      #expect(isRefused { try magic.update(Second.Player.make("a@b")) })
      try magic.update(Second.Player.make("c@d"))
      #expect(try magic.check(of: Second.Player.self) == [])
    }
  }

  @Test func `a constraint that is added later is made by the first write of a record`() throws {
    for readsFirst in [true, false] {
      let path = folder.file("\(readsFirst)")
      try Database(path: path).write { try $0.insert(First.Account(id: 1, email: "a@b")) }
      let database = try Database(path: path)
      if readsFirst { #expect(try database.read { try $0.count(of: Second.Account.self) } == 1) }
      #expect(
        isRefused { try database.write { try $0.insert(Second.Account(id: 2, email: "a@b")) } })
      try database.write { try $0.insert(Second.Account(id: 3, email: "c@d")) }
    }
  }

  @Test func `a constraint that rows break is named at each first use, until a migration`() throws {
    let path = folder.file("store")
    try MagicData(path: path).update([First.Player.make("a@b"), First.Player.make("a@b")])
    try MagicData(path: path).database.write {
      try $0.insert(
        contentsOf: [First.Account(id: 1, email: "x"), First.Account(id: 2, email: "x")])
    }
    // In this process and the next.
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
    #expect(isRefused { try magic.update(Second.Player.make("a@b")) })
    #expect(try magic.database.read { try $0.objects(of: Second.Account.self) }.map(\.id) == [1])
    #expect(
      isRefused { try magic.database.write { try $0.insert(Second.Account(id: 3, email: "x")) } })
  }

  @Test func `an index of an older name counts, and one with another meaning does not`() throws {
    let path = folder.file("store")
    do {
      let magic = try MagicData(path: path)
      try magic.update(Member.make("a", "b"))
      // As it was until 2026: the second one was passed over.
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
    #expect(isRefused { try magic.update(Member.make("a", "b")) })
    let names = try magic.database.read { try $0.existingIndexes(of: "Member") }.map(\.name)
    #expect(
      names == [
        "Member(email,address)", "Member(email,address) 2", "Member_email_address", "Member_nick",
        "partial",
      ])
  }

  @Test func `a store that is only read needs no index, unless rows break it`() throws {
    let path = folder.file("store")
    try MagicData(path: path).update(First.Player.make("a@b"))
    #expect(try MagicData(path: path, options: .readOnly).count(of: Second.Player.self) == 1)
    try MagicData(path: path).update(First.Player.make("a@b"))
    let magic = try MagicData(path: path, options: .readOnly)
    let error = #expect(throws: SchemaError.self) { try magic.count(of: Second.Player.self) }
    #expect(error?.description.contains("“email”") ?? false)
  }

  @Test func `index names are as many as tables and lists of columns`() throws {
    let database = try Database(path: folder.file())
    // Whatever characters the names have: each makes an index of its own.
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
