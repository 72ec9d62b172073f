import Conformance
import Foundation
import MagicData
import Testing

private struct Account: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var email: String
  @MagicValue var country: String
  @OptionalMagicValue var owner: Account?

  static var traits: [PropertyTrait] {
    [
      .unique(\Self.$email), .indexed(\Self.$country, \Self.$email),
      .onDelete(\Self.$owner, .cascade),
    ]
  }

  init() {}

  init(_ email: String, owner: Account? = nil) {
    self.email = email
    country = "CH"
    self.owner = owner
  }
}

private struct Mistaken: MagicObject {
  @MagicValue var text: String
  static var traits: [PropertyTrait] { [.indexed(\Account.$email)] }
  init() {}
}

private struct Searched: MagicObject {
  @MagicValue var number: Int
  static var traits: [PropertyTrait] { [.searched(\Self.$number)] }
  init() { number = 0 }
}

private struct SearchedAsset: MagicObject {
  @OptionalMagicValue var photo: MagicAsset<Data>?
  static var traits: [PropertyTrait] { [.searched(\Self.$photo)] }
  init() {}
}

@Suite(.everyEngine) struct TraitTests {
  let magic: MagicData

  init() throws { magic = try MagicData.fresh() }

  @Test func `a unique property rejects a second object with the same value`() throws {
    try magic.update(Account("a@b.ch"))
    let error = #expect(throws: SQLiteError.self) { try magic.update(Account("a@b.ch")) }
    #expect(error?.code == .uniqueConstraint)
    #expect(try magic.count(of: Account.self) == 1)
  }

  @Test func `a cascade removes objects that reference a removed object`() throws {
    let owner = Account("owner")
    try magic.update(Account("pet", owner: owner))
    try magic.remove(owner)
    #expect(try magic.count(of: Account.self) == 0)
  }

  @Test func `a declared index is created`() throws {
    try magic.update(Account("a"))
    let names = try magic.database.read {
      try $0.rows("SELECT name FROM pragma_index_list('Account') ORDER BY name", as: String.self)
    }
    #expect(names.contains("Account(country,email)"))
  }

  @Test func `a trait for another type's property throws an error that names the type`() throws {
    let mistaken = Mistaken()
    mistaken.text = "x"
    let error = #expect(throws: MagicError.self) { try magic.update(mistaken) }
    #expect(error?.description.contains("Mistaken") == true)
  }

  @Test func `searching a property that isn't text throws when the type is first used`() throws {
    let uses: [() throws -> Void] = [
      { _ = try magic.objects(of: Searched.self) }, { _ = try magic.count(of: Searched.self) },
      { try magic.update(Searched()) }, { _ = try magic.check(of: Searched.self) },
    ]
    for use in uses {
      let error = #expect(throws: MagicError.self) { try use() }
      #expect(error?.description.contains("“number” cannot be searched") == true)
    }
    let error = #expect(throws: MagicError.self) { try magic.count(of: SearchedAsset.self) }
    #expect(error?.description.contains("“photo” cannot be searched") == true)
  }
}
