import Conformance
import MagicData
import Testing

struct Person: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var name: String
  @MagicValue var age: Int
  @OptionalMagicValue var school: String?
  @MagicValue var friends: [Person]
  @ReverseMagicValue(\Person.$friends) var admirers: AsyncReverseMagicSet<Person>

  init() {}

  init(_ name: String, age: Int) {
    self.name = name
    self.age = age
    friends = []
  }
}

struct Counted: MagicObject {
  @PrimaryMagicValue var number: Int
  @MagicValue var text: String
  @MagicValue var file: AsyncMagical<MagicAsset<String>>

  init() {}

  init(_ text: String) throws {
    self.text = text
    file = AsyncMagical(value: MagicAsset(value: "content of \(text)"))
  }
}

@Suite(.everyEngine) struct MagicDataTests {
  let magic: MagicData

  init() throws { magic = try MagicData.fresh(.temporary) }

  @Test func `a saved object is found by its primary value`() throws {
    let anna = Person("Anna", age: 30)
    try magic.update(anna)
    let found = try magic.object(of: Person.self, primary: anna.id)
    #expect(found.name == "Anna")
    #expect(found.age == 30)
    #expect(found.school == nil)
  }

  @Test func `copies of an object share values, separate fetches don't`() throws {
    let anna = Person("Anna", age: 30)
    let copy = anna
    copy.name = "Ann"
    #expect(anna.name == "Ann")
    try magic.update(anna)
    let other = try magic.object(of: Person.self, primary: anna.id)
    other.name = "Hanna"
    #expect(anna.name == "Ann")
  }

  @Test func `filters compare nil as Swift does`() throws {
    let anna = Person("Anna", age: 30)
    let bert = Person("Bert", age: 40)
    bert.school = "ETH"
    try magic.update([anna, bert])
    #expect(try magic.objects(of: Person.self, where: \.$age > 35).map(\.name) == ["Bert"])
    #expect(try magic.objects(of: Person.self, where: \.$school != "ETH").map(\.name) == ["Anna"])
    #expect(
      try magic.objects(of: Person.self, where: !(\.$school == "ETH")).map(\.name) == ["Anna"])
    #expect(try magic.objects(of: Person.self, where: \.$school == nil).map(\.name) == ["Anna"])
    #expect(
      try magic.objects(of: Person.self, where: \.$age > 35 || \.$name == "Anna").count == 2)
  }

  @Test func `a cycle of friends is saved, and each friend is fetched once`() throws {
    let anna = Person("Anna", age: 30)
    let bert = Person("Bert", age: 40)
    anna.friends = [bert, bert]
    bert.friends = [anna]
    try magic.update(anna)
    let found = try magic.object(of: Person.self, primary: anna.id)
    #expect(found.friends.map(\.name) == ["Bert", "Bert"])
    #expect(found.friends[0].friends.first?.name == "Anna")
    found.friends[0].friends.first?.name = "Ann"
    #expect(found.name == "Ann")
    #expect(try found.admirers.get().map(\.name) == ["Bert"])
  }

  @Test func `keys are auto-incremented, and lazy assets are read on demand`() async throws {
    let first = try Counted("one")
    let second = try Counted("two")
    try await magic.update([first, second])
    #expect(first.number == 1)
    #expect(second.number == 2)
    let found = try await magic.object(of: Counted.self, primary: 2)
    let asset = try await found.file.get()
    #expect(try await asset.get() == "content of two")
    #expect(try await second.file.get().path != nil)
  }

  @Test func `an update writes only properties set since the fetch`() throws {
    let anna = Person("Anna", age: 30)
    try magic.update(anna)
    let first = try magic.object(of: Person.self, primary: anna.id)
    let second = try magic.object(of: Person.self, primary: anna.id)
    first.name = "Ann"
    second.age = 31
    try magic.update(first)
    try magic.update(second)
    let found = try magic.object(of: Person.self, primary: anna.id)
    #expect(found.name == "Ann")
    #expect(found.age == 31)
  }

  @Test func `a removed object that is saved again gets a new z_index`() throws {
    let anna = Person("Anna", age: 30)
    let old = try magic.update(anna)
    try magic.remove(anna)
    #expect(try magic.has(of: Person.self, primary: anna.id) == false)
    let new = try magic.update(anna)
    #expect(new > old)
  }
}
