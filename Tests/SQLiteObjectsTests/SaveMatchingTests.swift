import Conformance
import Foundation
import MagicData
import Testing

private struct Member: MagicObject {
  static var traits: [PropertyTrait] {
    [.unique(\Self.$email), .unique(\Self.$club, \Self.$number)]
  }
  @PrimaryMagicValue var id: String
  @MagicValue var name: String
  @OptionalMagicValue var email: String?
  @OptionalMagicValue var club: Society?
  @OptionalMagicValue var number: Int?
  @MagicValue var friends: [Member]
  @OptionalMagicValue var photo: MagicAsset<Data>?
  init() {
    name = ""
    friends = []
  }
  init(_ id: String, _ name: String, email: String?) {
    self.id = id
    self.name = name
    self.email = email
    friends = []
  }
}

private struct Society: MagicObject {
  @PrimaryMagicValue var name: String
  @MagicValue var captain: [Member]
  init() { captain = [] }
  init(_ name: String) {
    self.name = name
    captain = []
  }
}

private struct Ticket: MagicObject {
  static var traits: [PropertyTrait] { [.unique(\Self.$code)] }
  @PrimaryMagicValue var id: Int
  @MagicValue var code: String
  @MagicValue var amount: Int
  init() {
    code = ""
    amount = 0
  }
  init(_ code: String, _ amount: Int) {
    self.code = code
    self.amount = amount
  }
}

private struct Coupon: MagicObject {
  static var traits: [PropertyTrait] { [.unique(\Self.$code)] }
  @MagicValue var code: String
  @MagicValue var amount: Int
  init() {
    code = ""
    amount = 0
  }
  init(_ code: String, _ amount: Int) {
    self.code = code
    self.amount = amount
  }
}

@Suite(.everyEngine, .timeLimit(.minutes(40))) struct SaveMatchingTests {
  let magic: MagicData

  init() throws { magic = try MagicData.fresh() }

  @Test func `matching updates the stored object with the same unique value`() async throws {
    let ann = Member("a", "Ann", email: "ann@b.ch")
    try await magic.update(ann)
    let other = Member("x", "Anna", email: "ann@b.ch")
    #expect(try await magic.update(other, matching: [\.$email]) == 1)
    #expect(other.id == "a")
    let stored = try await magic.objects(of: Member.self)
    #expect(stored.map(\.id) == ["a"])
    #expect(stored.map(\.name) == ["Anna"])
    // From now on, both objects refer to the same row.
    other.name = "Annabel"
    try await magic.update(other)
    #expect(try await magic.object(of: Member.self, primary: "a").name == "Annabel")
  }

  @Test func `an object without a match is inserted, and nil never matches`() throws {
    try magic.update(Member("a", "Ann", email: nil))
    try magic.update(
      [Member("b", "Bob", email: nil), Member("c", "Cid", email: "c@d.ch")], matching: [\.$email])
    #expect(try magic.objects(of: Member.self).map(\.id) == ["a", "b", "c"])
  }

  @Test func `matching doesn't overwrite another object with the same primary value`() throws {
    try magic.update(Member("a", "Ann", email: "ann@b.ch"))
    #expect(throws: MagicError.alreadySaved(type: "Member", primary: "a")) {
      try magic.update(Member("a", "Bob", email: "bob@b.ch"), matching: [\.$email])
    }
    #expect(try magic.objects(of: Member.self).map(\.name) == ["Ann"])
  }

  @Test func `links and assets of the matched object are replaced`() throws {
    let ann = Member("a", "Ann", email: "ann@b.ch")
    ann.friends = [Member("b", "Bob", email: nil), Member("c", "Cid", email: nil)]
    ann.photo = MagicAsset(value: Data([1]))
    try magic.update(ann)
    let other = Member("x", "Anna", email: "ann@b.ch")
    other.friends = [Member("d", "Dan", email: nil)]
    other.photo = MagicAsset(value: Data([2, 3]))
    try magic.update(other, matching: [\.$email])
    let stored = try magic.object(of: Member.self, primary: "a")
    #expect(stored.friends.map(\.name) == ["Dan"])
    #expect(try stored.photo?.get() == Data([2, 3]))
    #expect(
      try magic.database.read {
        try $0.firstRow("SELECT count(*) FROM magicdata_asset", as: Int.self)
      }
        == 1)
  }

  @Test func `relations to the new object reference the matched object`() throws {
    try magic.update(Member("a", "Ann", email: "ann@b.ch"))
    let club = Society("x")
    let other = Member("z", "Anna", email: "ann@b.ch")
    other.club = club
    club.captain = [other]
    try magic.update(other, matching: [\.$email])
    let stored = try magic.object(of: Society.self, primary: "x")
    #expect(stored.captain.map(\.id) == ["a"])
    #expect(try magic.object(of: Member.self, primary: "a").club?.name == "x")
  }

  @Test func `several properties can match together, including a relation`() throws {
    let club = Society("x")
    let ann = Member("a", "Ann", email: nil)
    (ann.club, ann.number) = (club, 7)
    try magic.update(ann)
    let other = Member("b", "Bea", email: nil)
    (other.club, other.number) = (club, 7)
    try magic.update(other, matching: [\.$number, \.$club])
    #expect(try magic.objects(of: Member.self).map(\.name) == ["Bea"])
    let third = Member("c", "Cid", email: nil)
    (third.club, third.number) = (club, 8)
    try magic.update(third, matching: [\.$club, \.$number])
    #expect(try magic.objects(of: Member.self).map(\.id) == ["a", "c"])
  }

  @Test func `matched objects keep their auto-incremented and hidden keys`() throws {
    try magic.update([Ticket("a", 1), Ticket("b", 2)])
    let many = (0..<40).map { Ticket("\($0)", $0) } + [Ticket("b", 20), Ticket("b", 30)]
    try magic.update(many, matching: [\.$code])
    #expect(many.suffix(2).map(\.id) == [2, 2])
    #expect(try magic.object(of: Ticket.self, primary: 2).amount == 30)
    #expect(try magic.count(of: Ticket.self) == 42)
    try magic.update(Coupon("a", 1))
    #expect(try magic.update(Coupon("a", 5), matching: [\.$code]) == 1)
    #expect(try magic.objects(of: Coupon.self).map(\.amount) == [5])
  }

  @Test func `after a rollback, a matched object is new and has its own primary value`() throws {
    struct Undo: Error {}
    try magic.update(Member("a", "Ann", email: "ann@b.ch"))
    let other = Member("x", "Anna", email: "ann@b.ch")
    #expect(throws: Undo.self) {
      try magic.transaction {
        try magic.update(other, matching: [\.$email])
        throw Undo()
      }
    }
    #expect(other.id == "x")
    #expect(try magic.objects(of: Member.self).map(\.name) == ["Ann"])
    try magic.update(other, matching: [\.$email])
    #expect(other.id == "a")
  }

  @Test func `matching by properties that aren't unique throws`() throws {
    for paths in [[\Member.$name], [\Member.$email, \.$name], [\Member.$number], [\Member.name]] {
      let error = #expect(throws: MagicError.self) {
        try magic.update(Member("a", "Ann", email: nil), matching: paths)
      }
      #expect(error?.description.contains("Member") == true)
    }
    #expect(try magic.update(Member("a", "Ann", email: nil), matching: [\.$id]) == 1)
    #expect(try magic.update(Member("a", "Ann", email: nil), matching: []) == 1)
  }

  @Test(arguments: ["'", "\"; DROP TABLE Member --", "a\0b", "", "é\u{301}", "%"])
  func `hostile strings match only themselves`(text: String) throws {
    let text = Engine.text(text)
    try magic.update(Member("a", "Ann", email: text))
    try magic.update(Member("b", "Bob", email: "\(text)x"), matching: [\.$email])
    try magic.update(Member("c", "Cid", email: text), matching: [\.$email])
    #expect(try magic.objects(of: Member.self).map(\.name) == ["Cid", "Bob"])
  }

  @Test func `tasks that match the same value create one object`() async throws {
    let magic = magic
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<16 {
        group.addTask { try await magic.update(Ticket("same", number), matching: [\.$code]) }
      }
      try await group.waitForAll()
    }
    #expect(try await magic.count(of: Ticket.self) == 1)
  }
}
