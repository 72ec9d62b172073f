import Conformance
import MagicData
import Testing

/// The type that the other types reference.
struct Club: MagicObject {
  @MagicValue var name: String

  init() {}
  init(_ name: String) { self.name = name }
}

struct Nullifying: MagicObject {
  @OptionalMagicValue var team: Club?
  @MagicValue var name: String

  init() {}
  init(_ team: Club) {
    self.team = team
    name = ""
  }
}

struct Cascading: MagicObject {
  static var traits: [PropertyTrait] { [.onDelete(\Self.$team, .cascade)] }

  @MagicValue var team: Club
  @MagicValue var file: MagicAsset<String>

  init() {}
  init(_ team: Club) throws {
    self.team = team
    file = MagicAsset(value: "content")
  }
}

struct Restricting: MagicObject {
  static var traits: [PropertyTrait] {
    [.onDelete(\Self.$team, .restrict), .onDelete(\Self.$others, .restrict)]
  }

  @OptionalMagicValue var team: Club?
  @MagicValue var others: [Club]

  init() {}
  init(_ team: Club?, others: [Club] = []) {
    self.team = team
    self.others = others
  }
}

struct Required: MagicObject {
  @MagicValue var team: Club

  init() {}
  init(_ team: Club) { self.team = team }
}

/// A type that references `Club` with two rules, the stricter one declared first.
struct RestrictingFirst: MagicObject {
  static var traits: [PropertyTrait] {
    [.onDelete(\Self.$founder, .restrict), .onDelete(\Self.$team, .cascade)]
  }

  @MagicValue var founder: Club
  @MagicValue var team: Club

  init() {}
  init(founder: Club, team: Club) {
    self.founder = founder
    self.team = team
  }
}

/// A type that references `Club` with two rules, the stricter one declared last.
struct CascadingFirst: MagicObject {
  static var traits: [PropertyTrait] {
    [.onDelete(\Self.$team, .cascade), .onDelete(\Self.$founder, .restrict)]
  }

  @MagicValue var team: Club
  @MagicValue var founder: Club

  init() {}
  init(founder: Club, team: Club) {
    self.team = team
    self.founder = founder
  }
}

struct Impossible: MagicObject {
  static var traits: [PropertyTrait] { [.onDelete(\Self.$teams, .cascade)] }

  @MagicValue var teams: [Club]

  init() { teams = [] }
}

@Suite(.everyEngine) struct DeleteRuleTests {
  let magic: MagicData
  let team = Club("a")

  init() throws { magic = try MagicData.fresh() }

  @Test func `a reference becomes nil unless declared otherwise`() throws {
    try magic.update(Nullifying(team))
    try magic.remove(team)
    #expect(try magic.object(of: Nullifying.self).map { $0.team == nil } == [true])
  }

  @Test func `cascade removes the owner and its file`() throws {
    try magic.update([try Cascading(team), try Cascading(team), try Cascading(Club("b"))])
    try magic.remove(team)
    #expect(try magic.object(of: Cascading.self).map(\.team.name) == ["b"])
    let assets = try magic.database.rows("SELECT count(*) FROM magicdata_asset", as: Int.self)
    #expect(assets == [1])
  }

  @Test func `restrict prevents the removal of a referenced object`() throws {
    let owner = Restricting(team)
    try magic.update(owner)
    #expect(throws: MagicError.restricted(type: "Club", by: ["Restricting.team"])) {
      try magic.remove(team)
    }
    #expect(throws: MagicError.restricted(type: "Club", by: ["Restricting.team"])) {
      try magic.removeAll(Club.all)
    }
    #expect(try magic.count(of: Club.self) == 1)
    try magic.remove(owner)
    try magic.remove(team)
    #expect(try magic.count(of: Club.self) == 0)
  }

  @Test func `an object that the cascade removes doesn't restrict the removal`() throws {
    let other = Club("b")
    try magic.update([
      RestrictingFirst(founder: team, team: team), RestrictingFirst(founder: team, team: other),
    ])
    try magic.update([
      CascadingFirst(founder: other, team: other), CascadingFirst(founder: other, team: team),
    ])
    // One of the two objects that reference each club by `founder` would remain.
    #expect(throws: MagicError.restricted(type: "Club", by: ["RestrictingFirst.founder"])) {
      try magic.remove(team)
    }
    #expect(throws: MagicError.restricted(type: "Club", by: ["CascadingFirst.founder"])) {
      try magic.remove(other)
    }
    #expect(try magic.count(of: RestrictingFirst.self) == 2)
    #expect(try magic.count(of: CascadingFirst.self) == 2)
    try magic.removeAll(RestrictingFirst.where(\.$team.$name == "b"))
    try magic.removeAll(CascadingFirst.where(\.$team.$name == "a"))
    try magic.remove(team)
    try magic.remove(other)
    #expect(try magic.count(of: RestrictingFirst.self) == 0)
    #expect(try magic.count(of: CascadingFirst.self) == 0)
  }

  @Test func `restrict also applies to collections`() throws {
    let owner = Restricting(nil, others: [team])
    try magic.update(owner)
    #expect(throws: MagicError.restricted(type: "Club", by: ["Restricting.others"])) {
      try magic.remove(team)
    }
    owner.others = []
    try magic.update(owner)
    try magic.remove(team)
  }

  @Test func `cascade is rejected for a collection, whose links are always deleted`() throws {
    #expect(throws: MagicError.self) { try magic.update(Impossible()) }
  }

  @Test func `a non-optional reference restricts the removal unless declared otherwise`() throws {
    try magic.update(Required(team))
    #expect(throws: MagicError.restricted(type: "Club", by: ["Required.team"])) {
      try magic.remove(team)
    }
    #expect(try magic.object(of: Required.self).map(\.team.name) == ["a"])
  }

  @Test func `saving a link to a deleted object throws missingTarget`() throws {
    try magic.update(team)
    let gone = try #require(try magic.object(of: Club.self).first)
    try magic.database.executeChange("DELETE FROM Club")
    #expect(throws: MagicError.missingTarget(type: "Club", zIndex: 1)) {
      try magic.update(Restricting(nil, others: [gone]))
    }
    #expect(throws: MagicError.missingTarget(type: "Club", zIndex: 1)) {
      try magic.update(Nullifying(gone))
    }
    #expect(try magic.count(of: Nullifying.self) == 0)
  }

  @Test func `a missing target throws in the save, so the transaction can continue`() throws {
    try magic.update(team)
    let gone = try #require(try magic.object(of: Club.self).first)
    try magic.database.executeChange("DELETE FROM Club")
    try magic.transaction {
      #expect(throws: MagicError.missingTarget(type: "Club", zIndex: 1)) {
        try magic.update(Nullifying(gone))
      }
      try magic.update(Nullifying(Club("new")))
    }
    #expect(try magic.count(of: Nullifying.self) == 1)
  }

  @Test func `fetching a reference to a missing row throws missingTarget`() throws {
    try magic.update(Nullifying(team))
    try magic.database.withoutTransaction { connection in
      try connection.executeChange("PRAGMA foreign_keys = 0")
      try connection.executeChange("DELETE FROM Club")
      try connection.executeChange("PRAGMA foreign_keys = 1")
    }
    #expect(throws: MagicError.missingTarget(type: "Club", zIndex: 1)) {
      try magic.object(of: Nullifying.self)
    }
  }
}
