import Conformance
import MagicData
import Testing

private enum Guide {
  struct Shop: MagicObject {
    static var traits: [PropertyTrait] { [.onDelete(\Self.$owner, .cascade)] }

    @PrimaryMagicValue var id: String
    @MagicValue var name: String
    @OptionalMagicValue var owner: Person?
    @MagicValue var staff: [Person] = []
    @MagicValue var keyHolders: MagicalSet<Person> = []
    @MagicValue var roles: [String: Person] = [:]
    @MagicValue var customers: AsyncMagical<[Person]> = AsyncMagical(value: [])

    init() {}

    init(_ name: String) { self.name = name }
  }

  struct Person: MagicObject {
    @MagicValue var name: String
    @ReverseMagicValue(\Shop.$staff) var worksAt: AsyncReverseMagicSet<Shop>

    init() {}

    init(_ name: String) { self.name = name }
  }

  struct Note: Record {
    static let primaryKeyType = PrimaryKeyType.autoIncrement
    var id: Int?
    var text: String
  }

  struct Tag: Record {
    static let primaryKeyType = PrimaryKeyType.autoIncrement
    var id: Int?
    var name: String
  }
}

/// The code of the article on relations, block by block.
@Suite(.everyEngine) struct ReadmeRelationsTests {
  private typealias Shop = Guide.Shop
  private typealias Person = Guide.Person
  private typealias Note = Guide.Note
  private typealias Tag = Guide.Tag

  @Test func `the article's examples of relations work`() async throws {
    let magic = try await MagicData.fresh()

    let shop = Shop("Books")
    let (ada, bob) = (Person("Ada"), Person("Bob"))
    shop.owner = ada
    shop.staff = [bob, ada]
    shop.keyHolders = [ada]
    shop.roles["till"] = bob
    shop.customers.set([Person("Cleo"), bob])
    try await magic.update(shop)

    let fetched = try await magic.object(of: Shop.self, primary: shop.id)
    fetched.staff.insert(Person("Dora"), at: 0)
    try await magic.update(fetched)

    let count = try await fetched.customers.count()
    let first = try await magic.fetch(fetched.customers.where(\.$name > "B").limit(10))
    let anyone = try await fetched.customers.randomValue()
    for try await customer in try fetched.customers.stream() {
      print(customer.name)
    }
    #expect(count == 2)
    #expect(first.map(\.name) == ["Cleo", "Bob"])
    #expect(anyone != nil)

    fetched.customers.append(Person("Eve"))
    fetched.customers.remove(bob)
    try await magic.update(fetched)
    let customers = try await fetched.customers.get()
    #expect(customers.map(\.name) == ["Cleo", "Eve"])

    let shops = try await bob.worksAt.get()
    let number = try await bob.worksAt.count()
    #expect(shops.map(\.name) == ["Books"])
    #expect(shops[0].staff.map(\.name) == ["Dora", "Bob", "Ada"])
    #expect(number == 1)

    let staff = try await magic.transaction {
      let books = try magic.object(of: Shop.self, primary: shop.id)
      books.staff.append(Person("Eve"))
      try magic.update(books)
      return books.staff.count
    }
    let (shopCount, personCount) = try await magic.read {
      (try magic.count(of: Shop.self), try magic.count(of: Person.self))
    }
    #expect((staff, shopCount, personCount) == (4, 1, 6))

    try await magic.remove(ada)
    #expect(try await magic.count(of: Shop.self) == 0)
  }

  @Test func `the article's example of linked records works`() async throws {
    let database = try Database.fresh()
    let noteTags = CrossReference<Note, Tag>(
      "note_tag", leftKeyName: "noteID", rightKeyName: "tagID")
    let tags = try await database.write { connection in
      let note = try connection.update(Note(text: "Buy milk"))
      return try connection.setLinks(of: note, to: [Tag(name: "home")], through: noteTags)
    }
    let notes = try await database.read { try $0.leftObjects(of: tags[0], through: noteTags) }
    #expect(notes.map(\.text) == ["Buy milk"])
  }
}
