import Conformance
import MagicData
import Testing

private struct Owner: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  init() {}
  init(_ name: String) { self.name = name }
}

private struct Pet: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var name: String
  @OptionalMagicValue var owner: Owner?

  static var traits: [PropertyTrait] { [.onDelete(\Self.$owner, .restrict)] }

  init() {}
  init(_ name: String, of owner: Owner? = nil) {
    self.name = name
    if let owner { self.owner = owner }
  }
}

/// A class with wrappers that the library finds by `encode(to:)`.
private final class Badge: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var text: String
  init() {}
}

@Suite(.everyEngine) struct RemovingTests {
  let magic: MagicData

  init() throws { magic = try MagicData.fresh() }

  private func names() throws -> [String] {
    try magic.objects(of: Owner.self, orderedBy: [.ascending(\.$id)]).map(\.name)
  }

  @Test func `several objects are removed together, and missing ones don't count`() throws {
    let owners = ["a", "b", "c", "d"].map { Owner($0) }
    try magic.update(owners)
    let fetched = try magic.object(of: Owner.self, primary: 3)
    #expect(try magic.remove(contentsOf: [owners[0], owners[0], fetched, Owner("new")]) == 2)
    #expect(try names() == ["b", "d"])
    #expect(try magic.remove(contentsOf: owners.lazy.filter { $0.name < "c" }) == 1)
    #expect(try magic.remove(contentsOf: [Owner]()) == 0)
    // The row of this object was removed through the fetched copy.
    #expect(try magic.remove(contentsOf: [owners[2]]) == 0)
    #expect(throws: MagicError.notSaved(type: "Owner")) { try magic.remove(owners[2]) }
  }

  @Test func `several objects can be removed asynchronously`() async throws {
    let owners = ["a", "b", "c"].map { Owner($0) }
    try await magic.update(owners)
    #expect(try await magic.remove(contentsOf: owners.dropLast()) == 2)
    #expect(try await magic.remove(contentsOf: owners) == 1)
    #expect(try await magic.remove(contentsOf: owners) == 0)
  }

  @Test func `several objects of a class can be removed`() throws {
    let badges = (0..<3).map { number in
      let badge = Badge()
      badge.text = "\(number)"
      return badge
    }
    try magic.update(badges)
    #expect(try magic.remove(contentsOf: badges.prefix(2)) == 2)
    try magic.remove(badges[2])
    #expect(try magic.count(of: Badge.self) == 0)
  }

  @Test func `if one object can't be removed, none is`() throws {
    let owners = ["a", "b", "c"].map { Owner($0) }
    try magic.update(Pet("cat", of: owners[1]))
    try magic.update(owners)
    #expect(throws: MagicError.restricted(type: "Owner", by: ["Pet.owner"])) {
      try magic.remove(contentsOf: owners)
    }
    #expect(try magic.count(of: Owner.self) == 3)
    // The objects are still saved, and only their changes are written.
    owners[0].name = "A"
    try magic.update(owners)
    #expect(try names().sorted() == ["A", "b", "c"])
  }

  @Test func `a restricted removal leaves the surrounding transaction intact`() throws {
    let owners = ["a", "b"].map { Owner($0) }
    try magic.update(Pet("cat", of: owners[1]))
    try magic.update(owners)
    try magic.transaction {
      try magic.remove(owners[0])
      #expect(throws: MagicError.restricted(type: "Owner", by: ["Pet.owner"])) {
        try magic.remove(owners[1])
      }
      #expect(throws: MagicError.notSaved(type: "Owner")) { try magic.remove(owners[0]) }
    }
    #expect(try names() == ["b"])
  }

  @Test func `objects whose removal is rolled back are in the store as before`() throws {
    struct Stop: Error {}
    let owners = ["a", "b", "c"].map { Owner($0) }
    try magic.update(owners)
    owners[0].name = "A"
    #expect(throws: Stop.self) {
      try magic.transaction {
        try magic.remove(owners[0])
        try magic.remove(contentsOf: owners.dropFirst())
        #expect(try names() == [])
        owners[1].name = "B"
        throw Stop()
      }
    }
    #expect(try names() == ["a", "b", "c"])
    // The changes are still pending, and the objects can be removed again.
    #expect(owners.map(\.name) == ["A", "B", "c"])
    #expect(try magic.remove(contentsOf: owners) == 3)
  }

  @Test func `a removal inside a savepoint is rolled back with it`() throws {
    struct Stop: Error {}
    let owners = ["a", "b"].map { Owner($0) }
    try magic.update(owners)
    try magic.transaction {
      #expect(throws: Stop.self) {
        try magic.transaction {
          try magic.remove(owners[0])
          throw Stop()
        }
      }
      try magic.remove(owners[1])
    }
    #expect(try names() == ["a"])
    try magic.remove(owners[0])
    #expect(try names() == [])
  }
}
