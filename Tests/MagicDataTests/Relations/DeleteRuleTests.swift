import MagicData
import Testing

/// What others lead to.
struct Club: MagicObject {
  @MagicValue var name: String

  init() {}
  init(_ name: String) { self.name = name }
}

struct Nullifying: MagicObject {
  @OptionMagicValue var club: Club?
  @MagicValue var name: String

  init() {}
  init(_ club: Club) {
    self.club = club
    name = ""
  }
}

struct Cascading: MagicObject {
  static var traits: [PropertyTrait] { [.onDelete(\Self.$club, .cascade)] }

  @MagicValue var club: Club
  @MagicValue var file: MagicAsset<String>

  init() {}
  init(_ club: Club) throws {
    self.club = club
    file = try MagicAsset(value: "content")
  }
}

struct Restricting: MagicObject {
  static var traits: [PropertyTrait] {
    [.onDelete(\Self.$club, .restrict), .onDelete(\Self.$others, .restrict)]
  }

  @OptionMagicValue var club: Club?
  @MagicValue var others: [Club]

  init() {}
  init(_ club: Club?, others: [Club] = []) {
    self.club = club
    self.others = others
  }
}

struct Required: MagicObject {
  @MagicValue var club: Club

  init() {}
  init(_ club: Club) { self.club = club }
}

struct Impossible: MagicObject {
  static var traits: [PropertyTrait] { [.onDelete(\Self.$clubs, .cascade)] }

  @MagicValue var clubs: [Club]

  init() { clubs = [] }
}

@Suite struct DeleteRuleTests {
  let magic: MagicData
  let club = Club("a")

  init() throws { magic = try MagicData(type: .memory) }

  @Test func `a reference becomes nil unless declared otherwise`() throws {
    try magic.update(Nullifying(club))
    try magic.remove(club)
    #expect(try magic.object(of: Nullifying.self).map { $0.club == nil } == [true])
  }

  @Test func `cascade removes the owner, with its file`() throws {
    try magic.update([try Cascading(club), try Cascading(club), try Cascading(Club("b"))])
    try magic.remove(club)
    #expect(try magic.object(of: Cascading.self).map(\.club.name) == ["b"])
    let assets = try magic.database.rows("SELECT count(*) FROM magicdata_asset", as: Int.self)
    #expect(assets == [1])
  }

  @Test func `restrict refuses to remove what others lead to`() throws {
    let owner = Restricting(club)
    try magic.update(owner)
    #expect(throws: MagicError.restricted(type: "Club")) { try magic.remove(club) }
    #expect(throws: MagicError.restricted(type: "Club")) { try magic.removeAll(of: Club.self) }
    #expect(try magic.count(of: Club.self) == 1)
    try magic.remove(owner)
    try magic.remove(club)
    #expect(try magic.count(of: Club.self) == 0)
  }

  @Test func `restrict holds for collections too`() throws {
    let owner = Restricting(nil, others: [club])
    try magic.update(owner)
    #expect(throws: MagicError.restricted(type: "Club")) { try magic.remove(club) }
    owner.others = []
    try magic.update(owner)
    try magic.remove(club)
  }

  @Test func `cascade is refused for a collection, whose links always go`() throws {
    #expect(throws: MagicError.self) { try magic.update(Impossible()) }
  }

  @Test func `an object whose required target is gone is a named error`() throws {
    try magic.update(Required(club))
    try magic.remove(club)
    let error = #expect(throws: MagicError.self) { try magic.object(of: Required.self) }
    #expect(
      error?.description
        == "Required.club of the object 1 cannot be read: the Club that it led to is gone"
    )
  }

  @Test func `a link to what another connection removed is a named error`() throws {
    try magic.update(club)
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

  @Test func `a reference to nothing is a named error`() throws {
    try magic.update(Nullifying(club))
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
