package import Foundation
package import MagicData

/// An object with a natural key, which several devices can choose.
package struct Team: MagicObject {
  package static var traits: [PropertyTrait] {
    [
      .unique(\Self.$code), .searched(\Self.$motto), .indexed(\Self.$motto),
      .onDelete(\Self.$board, .restrict),
    ]
  }
  @PrimaryMagicValue package var name: String
  @MagicValue package var motto: String
  @OptionalMagicValue package var code: String?
  @MagicValue package var tags: [String] = []
  @MagicValue package var points: [String: Int] = [:]
  @OptionalMagicValue package var captain: Player?
  @OptionalMagicValue package var rival: Team?
  @MagicValue package var members: [Player] = []
  @MagicValue package var fans: MagicalSet<Player> = []
  @MagicValue package var roles: [String: Player] = [:]
  @MagicValue package var board: MagicalSet<Player> = []
  @MagicValue package var archive: AsyncMagical<[Player]> = AsyncMagical(value: [])
  @MagicValue package var badge: MagicAsset<Data> = MagicAsset()
  package init() { motto = "" }
  package init(_ name: String) {
    self.name = name
    motto = ""
  }
}

/// An object that is identified by its row only.
package struct Player: MagicObject {
  package static var traits: [PropertyTrait] { [.unique(\Self.$email)] }
  @MagicValue package var name: String
  @MagicValue package var email: String
  @OptionalMagicValue package var photo: MagicAsset<Data>?
  @ReverseMagicValue(\Team.$members) package var teams: AsyncReverseMagicSet<Team>
  package init() {
    name = ""
    email = ""
  }
  package init(_ name: String) {
    self.name = name
    email = "\(name)@x"
  }
}

/// An object with an automatic key and required relations.
package struct Match: MagicObject {
  package static var traits: [PropertyTrait] {
    [.onDelete(\Self.$away, .cascade), .searched(\Self.$title)]
  }
  @PrimaryMagicValue package var id: Int
  @MagicValue package var title: String
  @MagicValue package var home: Team
  @MagicValue package var away: Team
  @OptionalMagicValue package var referee: AsyncMagical<Player>?
  package init() { title = "" }
  package init(_ title: String, _ home: Team, _ away: Team) {
    self.title = title
    self.home = home
    self.away = away
  }
}

/// An object with a random key.
package struct Ticket: MagicObject {
  package static var traits: [PropertyTrait] {
    [.onDelete(\Self.$match, .cascade), .onDelete(\Self.$holder, .restrict)]
  }
  @PrimaryMagicValue package var id: UUID
  @MagicValue package var seat: String
  @MagicValue package var match: Match
  @OptionalMagicValue package var holder: Player?
  package init() { seat = "" }
  package init(_ seat: String, _ match: Match) {
    self.seat = seat
    self.match = match
  }
}

/// An object that requires another one, which may be removed together with a third one.
package struct Report: MagicObject {
  @PrimaryMagicValue package var id: String
  @MagicValue package var text: String
  @MagicValue package var match: Match
  package init() { text = "" }
  package init(_ text: String, _ match: Match) {
    id = text
    self.text = text
    self.match = match
  }
}

/// A record with an automatic key and a unique combination of columns.
package struct Town: Record {
  package static var primaryKeyType: PrimaryKeyType { .autoIncrement }
  package static var traits: [PropertyTrait] {
    [.unique("country", "name"), .searched("name")]
  }
  package var id: Int?
  package var name: String
  package var country: String
  package var notes: [String] = []
}

/// A record that references others.
package struct Street: Record {
  package static var primaryKeyType: PrimaryKeyType { .uuid }
  package static var traits: [PropertyTrait] {
    [
      .references("town", Town.self, onDelete: .cascade),
      .references("twin", Town.self, onDelete: .nullify),
      .references("capital", Town.self, onDelete: .restrict),
    ]
  }
  package static var prototype: Street? { Street(id: nil, name: "", town: 1) }
  package var id: UUID?
  package var name: String
  package var town: Int
  package var twin: Int?
  package var capital: Int?
}

/// A record with a key of several columns.
package struct Membership: Record {
  package static var primaryKeys: [String] { ["person", "club"] }
  package var person: String
  package var club: String
  package var role: String
}

/// A record whose table has CHECK constraints.
package struct Account: Record {
  package static let prototype: Account? = Account(id: "", low: 0, high: 1, note: "")
  package var id: String
  package var low: Int
  package var high: Int
  package var note: String
}

/// A record of each edit, from which follows which edits a store has seen.
package struct Mark: Record {
  package static var primaryKeys: [String] { ["device", "number"] }
  package var device: String
  package var number: Int
}

/// The types of the workload.
package enum SyncModels {
  package static let objects: [any MagicObject.Type] = [
    Team.self, Player.self, Match.self, Ticket.self, Report.self,
  ]
  package static let records: [any Record.Type] = [
    Town.self, Street.self, Membership.self, Account.self, Mark.self,
  ]

  /// Creates the tables.
  package static func prepareTables(_ magic: MagicData) throws {
    try magic.database.write { connection in
      try connection.executeMultipleChanges(
        """
        CREATE TABLE IF NOT EXISTS Account (
          id TEXT PRIMARY KEY NOT NULL, low INTEGER NOT NULL, high INTEGER NOT NULL CHECK (high > 0),
          note TEXT NOT NULL, CHECK (low <= high));
        """)
      try connection.prepare(Street.self)
      try connection.prepare(Membership.self)
      try connection.prepare(Mark.self)
    }
  }
}
