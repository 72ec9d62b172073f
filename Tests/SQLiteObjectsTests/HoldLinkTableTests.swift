import Conformance
import Foundation
import MagicData
import Testing
import TestSupport

private enum Played {
  struct Player: MagicObject {
    @MagicValue var name: String

    init() {}
    init(_ name: String) { self.name = name }
  }

  struct Team: MagicObject {
    @MagicValue var home_players: [Player]
    @MagicValue var home_photo: MagicAsset<String>

    init() {
      home_players = []
      home_photo = MagicAsset()
    }
  }

  struct Team_home: MagicObject {
    @MagicValue var players: [Player]
    @MagicValue var photo: MagicAsset<String>

    init() {
      players = []
      photo = MagicAsset()
    }
  }

  /// A type whose table has the name of another type's link table.
  struct Team_home_players: MagicObject {
    @MagicValue var text: String

    init() {}
  }

}

/// Types whose table and property names differ only in the position of a separator.
private enum Marked {
  struct One: MagicObject {
    static var tableName: String { "a_" }
    @MagicValue var b: [Played.Player]

    init() { b = [] }
  }

  struct Two: MagicObject {
    static var tableName: String { "a" }
    @MagicValue var _b: [Played.Player]

    init() { _b = [] }
  }

  struct Three: MagicObject {
    static var tableName: String { "a." }
    @MagicValue var b: [Played.Player]

    init() { b = [] }
  }

  struct Four: MagicObject {
    static var tableName: String { "a.." }
    @MagicValue var b: [Played.Player]

    init() { b = [] }
  }
}

/// Tests that no two properties share a link table.
@Suite(.everyEngine) struct HoldLinkTableTests {
  private typealias Player = Played.Player
  private typealias Team = Played.Team
  private typealias Team_home = Played.Team_home
  private typealias Team_home_players = Played.Team_home_players

  private func names(_ type: String, _ magic: MagicData) throws -> [String] {
    try magic.database.rows(
      "SELECT name FROM sqlite_schema WHERE type = \(type) AND name NOT LIKE 'magicdata%' AND name NOT LIKE 'sqlite%' ORDER BY name",
      as: String.self)
  }

  @Test func `equal joined names don't mix up the links of two properties`() throws {
    let magic = try MagicData.fresh()
    let (team, home) = (Team(), Team_home())
    team.home_players = [Player("ann"), Player("bob")]
    home.players = [Player("zoe")]
    try magic.update(team)
    try magic.update(home)
    #expect(try magic.object(of: Team.self)[0].home_players.map(\.name) == ["ann", "bob"])
    #expect(try magic.object(of: Team_home.self)[0].players.map(\.name) == ["zoe"])
    #expect(
      try names("table", magic)
        == ["Player", "Team", "Team..home_players", "Team_home", "Team_home_players"])
  }

  @Test func `equal joined names don't mix up the assets of two properties`() throws {
    let magic = try MagicData.fresh(.temporary)
    let (team, home) = (Team(), Team_home())
    team.home_photo = MagicAsset(value: "team")
    home.photo = MagicAsset(value: "home")
    try magic.update(team)
    try magic.update(home)
    try magic.remove(home)
    #expect(try magic.database.rows("SELECT count(*) FROM magicdata_asset", as: Int.self) == [1])
    #expect(try magic.object(of: Team.self)[0].home_photo.get() == "team")
    try magic.remove(team)
    #expect(try magic.database.rows("SELECT count(*) FROM magicdata_asset", as: Int.self) == [0])
  }

  @Test func `table names with different separators have separate link tables`() throws {
    let magic = try MagicData.fresh()
    let (one, two, three, four) = (Marked.One(), Marked.Two(), Marked.Three(), Marked.Four())
    one.b = [Player("1")]
    two._b = [Player("2")]
    three.b = [Player("3")]
    four.b = [Player("4")]
    try magic.update(one)
    try magic.update(two)
    try magic.update(three)
    try magic.update(four)
    #expect(try magic.object(of: Marked.One.self)[0].b.map(\.name) == ["1"])
    #expect(try magic.object(of: Marked.Two.self)[0]._b.map(\.name) == ["2"])
    #expect(try magic.object(of: Marked.Three.self)[0].b.map(\.name) == ["3"])
    #expect(try magic.object(of: Marked.Four.self)[0].b.map(\.name) == ["4"])
    #expect(Set(try names("table", magic)).count == 9)
  }

  @Test func `a type can't use another type's link table as its table`() throws {
    let folder = try TestFolder()
    do {
      let magic = try MagicData.at(folder.path)
      try magic.update(Team())
      let error = #expect(throws: MagicError.self) { try magic.count(of: Team_home_players.self) }
      #expect(error?.description.contains("Team.home_players") == true)
      try magic.database.close()
    }
    // A store that hasn't used the other type detects the conflict from the schema.
    let magic = try MagicData.at(folder.path)
    let error = #expect(throws: MagicError.self) { try magic.object(of: Team_home_players.self) }
    #expect(error?.description.contains("Team_home_players") == true)
    let new = Team_home_players()
    new.text = "text"
    #expect(throws: MagicError.self) { try magic.update(new) }
    #expect(throws: MagicError.self) { try magic.check(of: Team_home_players.self) }
    #expect(try magic.database.read { try $0.columns(of: "Team_home_players").count } == 3)
  }

  @Test func `a link table can't use the name of an unrelated table`() throws {
    let magic = try MagicData.fresh()
    try magic.database.executeChange(
      "CREATE TABLE Team_home_players (owner INTEGER, target INTEGER, position INTEGER)")
    #expect(throws: MagicError.self) { try magic.update(Team()) }
    #expect(throws: MagicError.self) { try magic.check(of: Team.self) }
    #expect(
      try magic.database.rows("SELECT count(*) FROM Team_home_players", as: Int.self) == [0])
  }

  /// Creates a store as earlier versions did: the links of `Team_home.players` are in the table
  /// `Team_home_players`. If `isShared`, `Team.home_players` uses the same table.
  private func former(_ folder: TestFolder, isShared: Bool) throws {
    let magic = try MagicData.at(folder.path)
    let home = Team_home()
    home.players = [Player("zoe"), Player("ann")]
    home.photo = MagicAsset(value: "home")
    try magic.update(home)
    if isShared { try magic.update(Team()) }
    try magic.database.executeMultipleChanges(
      isShared
        ? """
        INSERT INTO "Team_home_players" SELECT * FROM "Team..home_players";
        DROP TABLE "Team..home_players"
        """
        : """
        DROP INDEX "Team..home_players(target,owner)";
        ALTER TABLE "Team..home_players" RENAME TO "Team_home_players";
        CREATE INDEX "Team_home_players_target_owner" ON "Team_home_players" ("target", "owner");
        DROP TRIGGER "Team..home_photo_delete";
        CREATE TRIGGER "Team_home_photo_delete" AFTER DELETE ON "Team_home" WHEN OLD.photo IS NOT NULL
        BEGIN DELETE FROM magicdata_asset WHERE id = OLD.photo; END
        """)
    try magic.database.close()
  }

  @Test func `links from an earlier version are kept under their new name`() throws {
    let folder = try TestFolder()
    try former(folder, isShared: false)
    let magic = try MagicData.at(folder.path)
    #expect(try magic.object(of: Team_home.self)[0].players.map(\.name) == ["zoe", "ann"])
    #expect(
      try names("table", magic) == ["Player", "Team..home_players", "Team_home"])
    #expect(try magic.check(of: Team_home.self) == [])
    // The old name is free for the other type.
    let team = Team()
    team.home_players = [Player("bob")]
    try magic.update(team)
    #expect(try magic.object(of: Team.self)[0].home_players.map(\.name) == ["bob"])
    #expect(try magic.object(of: Team_home.self)[0].players.map(\.name) == ["zoe", "ann"])
    try magic.removeAll(Team_home.all)
    #expect(try magic.database.rows("SELECT count(*) FROM magicdata_asset", as: Int.self) == [0])
  }

  @Test func `migrations rename and drop links from an earlier version`() throws {
    let folder = try TestFolder()
    try former(folder, isShared: false)
    let magic = try MagicData.at(folder.path)
    try magic.migrate([
      Migration("names", .renameProperty("players", to: "guests", of: "Team_home")),
      Migration("away", .renameObjects("Team_home", to: "Away")),
    ])
    #expect(try names("table", magic) == ["Away", "Away_guests", "Player"])
    try magic.migrate([
      Migration("names", []), Migration("away", []),
      Migration("nobody", .dropProperty("guests", of: "Away")),
    ])
    #expect(try names("table", magic) == ["Away", "Player"])
  }

  @Test func `a link table that two properties shared stays with its creator`() throws {
    let folder = try TestFolder()
    try former(folder, isShared: true)
    let magic = try MagicData.at(folder.path)
    #expect(try magic.object(of: Team_home.self)[0].players.isEmpty)
    #expect(try magic.object(of: Team.self)[0].home_players.map(\.name) == ["zoe", "ann"])
  }
}
