import Conformance
import Foundation
import MagicData
import Testing

/// The examples and claims of the article on declaring objects.
@Suite(.everyEngine) struct ReadmeDeclaringTests {
  struct Tag: MagicObject {
    @MagicValue var name: String
  }

  struct Author: MagicObject {
    @MagicValue var name: String
    @ReverseMagicValue(\Book.$author) var books: AsyncReverseMagicSet<Book>

    init() {}
    init(_ name: String) { self.name = name }
  }

  struct Book: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var title: String
    @MagicValue var author: Author
    @MagicValue var language = "en"
    @OptionalMagicValue var finished: Date?
    @MagicValue var tags: [Tag] = []
    @MagicValue var similar: AsyncMagical<[Book]> = AsyncMagical(value: [])

    init() {}
    init(_ title: String, by author: Author) {
      self.title = title
      self.author = author
    }
  }

  struct Country: MagicObject {
    typealias PrimaryValue = String

    @PrimaryMagicValue var code: String
    @MagicValue var name: String

    init() {}
    init(_ code: String, name: String) {
      self.code = code
      self.name = name
    }
  }

  struct Member: MagicObject {
    static var traits: [PropertyTrait] {
      [
        .unique(\Self.$email),
        .indexed(\Self.$city, \Self.$name),
        .searched(\Self.$name),
        .default(\Self.$joined, Date(timeIntervalSince1970: 0)),
        .onDelete(\Self.$country, .cascade),
      ]
    }

    @PrimaryMagicValue var id: Int
    @MagicValue var name: String
    @MagicValue var email: String
    @MagicValue var city: String
    @MagicValue var joined: Date
    @MagicValue var country: Country

    init() {}
  }

  struct Visitor: MagicObject {
    static let tableName = "visitors"

    @MagicValue var name: String
    @MagicValue var arrived: Date

    private enum CodingKeys: String, CodingKey {
      case name
      case arrived = "arrival_date"
    }

    init() {}
  }

  final class Draft: MagicObject {
    @PrimaryMagicValue var id: UUID
    @MagicValue var text = ""
    var onChange: () -> Void = {}

    private enum CodingKeys: CodingKey { case id, text }

    init() {}
  }

  let magic: MagicData

  init() throws { magic = try MagicData.fresh() }

  @Test func `the smallest object is saved and fetched`() async throws {
    let magic = magic
    let tag = Tag()
    tag.name = "novel"
    try await magic.update(tag)
    #expect(try await magic.objects(of: Tag.self).map(\.name) == ["novel"])
    #expect(throws: MagicError.missingPrimaryValue(type: "Tag")) {
      try magic.object(of: Tag.self, primary: 1)
    }
  }

  @Test func `each wrapper stores its kind of property`() async throws {
    let magic = magic
    let book = Book("Emma", by: Author("Jane Austen"))
    let tag = Tag()
    tag.name = "novel"
    book.tags = [tag]
    book.similar.append(Book("Persuasion", by: book.author))
    try await magic.update(book)
    let fetched = try await magic.object(of: Book.self, primary: book.id)
    #expect(fetched.language == "en" && fetched.finished == nil)
    #expect(fetched.tags.map(\.name) == ["novel"])
    #expect(try await fetched.similar.get().map(\.title) == ["Persuasion"])
    #expect(try await fetched.author.books.count() == 2)
  }

  @Test func `copies of an object share its values`() throws {
    let book = Book("Emma", by: Author("Jane Austen"))
    let copy = book
    copy.title = "Persuasion"
    print(book.title)  // Persuasion
    #expect(book.title == "Persuasion")
  }

  @Test func `an object is fetched by its primary value`() async throws {
    let magic = magic
    try await magic.update(Country("CH", name: "Switzerland"))
    let country = try await magic.object(of: Country.self, primary: "CH")
    #expect(country.name == "Switzerland")
    country.code = "SUI"
    try await magic.update(country)
    #expect(try await magic.object(of: Country.self, ifPresent: "CH") == nil)
    #expect(try await magic.object(of: Country.self, primary: "SUI").name == "Switzerland")
  }

  @Test func `a key can be set before the first save`() throws {
    let author = Author("Jane Austen")
    let (book, other) = (Book("Emma", by: author), Book("Persuasion", by: author))
    book.id = 70
    try magic.update([book, other])
    #expect((book.id, other.id) == (70, 71))
    book.id = 72
    #expect(throws: (any Error).self) { try magic.update(book) }
    #expect(Draft().id != Draft().id)
    #expect(throws: MagicError.self) { try magic.object(of: Book.self, primary: "x") }
  }

  @Test func `traits apply to the table of the type`() throws {
    let member = Member()
    (member.name, member.email, member.city) = ("Ann", "ann@example.org", "Bern")
    member.country = Country("CH", name: "Switzerland")
    // The trait is for existing rows. A new object needs a value.
    #expect(throws: MagicError.missingValue(type: "Member", property: "joined")) {
      try magic.update(member)
    }
    member.joined = Date(timeIntervalSince1970: 1)
    try magic.update(member)
    #expect(try magic.fetch(Member.all.search(.prefix("an"))).count == 1)
    let second = Member()
    (second.name, second.email, second.city) = ("Bob", member.email, "Bern")
    (second.country, second.joined) = (member.country, member.joined)
    #expect(throws: SQLiteError.self) { try magic.update(second) }
    try magic.remove(member.country)
    #expect(try magic.count(of: Member.self) == 0)
  }

  @Test func `the names of the table and of the columns can be declared`() throws {
    let visitor = Visitor()
    visitor.name = "Ann"
    visitor.arrived = Date(timeIntervalSince1970: 0)
    try magic.update(visitor)
    let dates = try magic.database.rows("SELECT arrival_date FROM visitors", as: Date.self)
    #expect(dates == [visitor.arrived])
    let early = Date(timeIntervalSince1970: 1)
    #expect(try magic.count(of: Visitor.self, where: \.$arrived < early) == 1)
  }

  @Test func `a property without a wrapper is not stored`() async throws {
    let magic = magic
    let draft = Draft()
    draft.text = "Dear Ann"
    try await magic.update(draft)
    let fetched = try await magic.object(of: Draft.self, primary: draft.id)
    fetched.onChange()
    #expect(fetched.text == "Dear Ann")
  }

  @Test func `an unset property cannot be saved`() throws {
    struct Unset: MagicObject {
      @MagicValue var list: AsyncMagical<[Tag]>
      @MagicValue var number: Int?
      init() {}
    }
    let unset = Unset()
    #expect(throws: MagicError.missingValue(type: "Unset", property: "list")) {
      try magic.update(unset)
    }
    unset.list = AsyncMagical()
    #expect(throws: MagicError.missingValue(type: "Unset", property: "list")) {
      try magic.update(unset)
    }
    unset.list = AsyncMagical(value: [])
    unset.number = nil
    try magic.update(unset)
    #expect(try magic.objects(of: Unset.self)[0].number == nil)
  }

  @Test func `properties that contain objects in other types are stored as JSON`() throws {
    struct Shelf: MagicObject {
      @MagicValue var tags: [Tag?]
      @MagicValue var rows: [[Tag]]
      init() {}
    }
    let (shelf, tag) = (Shelf(), Tag())
    tag.name = "novel"
    (shelf.tags, shelf.rows) = ([tag, nil], [[tag]])
    try magic.update(shelf)
    #expect(try magic.count(of: Tag.self) == 0)
    let json = try magic.database.rows("SELECT tags, rows FROM Shelf", as: String.self, String.self)
    #expect(json[0] == (#"[{"name":"novel"},null]"#, #"[[{"name":"novel"}]]"#))
  }
}

/// The declarations that the article lists as impossible.
@Suite(.everyEngine) struct ReadmeDeclaringErrorTests {
  struct Tag: MagicObject {
    @MagicValue var name: String
  }

  struct Bare: MagicObject {
    var name = ""
  }

  struct TwoKeys: MagicObject {
    @PrimaryMagicValue var id: Int
    @PrimaryMagicValue var name: String
  }

  struct TwoNils: MagicObject {
    @OptionalMagicValue var number: Int??
  }

  struct SameNames: MagicObject {
    @MagicValue var url: String
    @MagicValue var URL: String
  }

  // swift-format-ignore: AlwaysUseLowerCamelCase
  struct Rowid: MagicObject {
    @MagicValue var z_index: Int
  }

  struct Reserved: MagicObject {
    static let tableName = "sqlite_tags"
    @MagicValue var name: String
  }

  struct Omitting: MagicObject {
    @MagicValue var name = ""
    @MagicValue var rank = 0
    private enum CodingKeys: CodingKey { case name }
  }

  struct Foreign: MagicObject {
    static var traits: [PropertyTrait] { [.indexed(\Tag.$name)] }
    @MagicValue var number: Int
  }

  struct IndexedList: MagicObject {
    static var traits: [PropertyTrait] { [.indexed(\Self.$tags)] }
    @MagicValue var tags: [Tag]
  }

  struct SearchedNumber: MagicObject {
    static var traits: [PropertyTrait] { [.searched(\Self.$number)] }
    @MagicValue var number: Int
  }

  struct RequiredNil: MagicObject {
    static var traits: [PropertyTrait] { [.onDelete(\Self.$tag, .nullify)] }
    @MagicValue var tag: Tag
  }

  struct CascadingList: MagicObject {
    static var traits: [PropertyTrait] { [.onDelete(\Self.$tags, .cascade)] }
    @MagicValue var tags: [Tag]
  }

  struct RuleWithoutRelation: MagicObject {
    static var traits: [PropertyTrait] { [.onDelete(\Self.$number, .cascade)] }
    @MagicValue var number: Int
  }

  enum Other {
    struct Tag: MagicObject {
      @MagicValue var name: String
    }
  }

  struct LazyText: MagicObject {
    @MagicValue var text: AsyncMagical<String> = AsyncMagical(value: "")
  }

  struct OptionalTag: MagicObject {
    @MagicValue var tag: Tag?
  }

  struct OptionalTags: MagicObject {
    @MagicValue var tags: [Tag]?
  }

  struct OptionalLazyTags: MagicObject {
    @MagicValue var tags: AsyncMagical<[Tag]>?
  }

  struct OptionalAsset: MagicObject {
    @MagicValue var asset: MagicAsset<Data>?
  }

  struct Reversed: MagicObject {
    @MagicValue var name = ""
    @ReverseMagicValue(\Tag.$name) var tags: AsyncReverseMagicSet<Tag>
  }

  struct Owner: MagicObject {
    @MagicValue var tag: Tag
    @MagicValue var list: [Tag] = []
  }

  struct ReversedForOthers: MagicObject {
    @MagicValue var name = ""
    @ReverseMagicValue(\Owner.$tag) var owners: AsyncReverseMagicSet<Owner>
    @ReverseMagicValue(\Owner.$list) var listOwners: AsyncReverseMagicSet<Owner>
  }

  let magic: MagicData

  init() throws { magic = try MagicData.fresh() }

  @Test(
    arguments: [
      Bare.self, TwoKeys.self, TwoNils.self, SameNames.self, Rowid.self, Reserved.self,
      Omitting.self, Foreign.self, IndexedList.self, SearchedNumber.self, RequiredNil.self,
      CascadingList.self, RuleWithoutRelation.self, LazyText.self, OptionalTag.self,
      OptionalTags.self, OptionalLazyTags.self, OptionalAsset.self,
    ] as [any MagicObject.Type])
  func `a type that cannot be stored throws when it is first used`(
    type: any MagicObject.Type
  ) throws {
    func uses<Object: MagicObject>(_ type: Object.Type) -> [() throws -> Void] {
      [
        { _ = try magic.objects(of: type) }, { _ = try magic.count(of: type) },
        { _ = try magic.check(of: type) }, { try magic.update(type.init()) },
      ]
    }
    for use in uses(type) {
      let error = #expect(throws: MagicError.self, performing: use)
      guard case .unsuitableType(let name, _)? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(name == "\(type)")
    }
  }

  @Test func `two types with the same table name throw`() throws {
    _ = try magic.count(of: Tag.self)
    let error = #expect(throws: MagicError.self) { try magic.count(of: Other.Tag.self) }
    guard case .conflictingTypes("Tag", _)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `a reverse relation of a plain value throws when it is queried`() throws {
    let object = Reversed()
    try magic.update(object)
    #expect(throws: MagicError.self) { try object.tags.get() }
  }

  @Test func `a reverse relation of a relation to another type throws when it is queried`() throws {
    let (owner, object) = (Owner(), ReversedForOthers())
    owner.tag = Tag()
    owner.tag.name = "a"
    owner.list = [owner.tag]
    try magic.update(owner)
    try magic.update(object)
    for relation in [object.owners, object.listOwners] {
      let error = #expect(throws: MagicError.self) { try relation.get() }
      guard case .unsuitableType("ReversedForOthers", _)? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(throws: MagicError.self) { try relation.count() }
    }
    #expect(throws: MagicError.self) {
      try magic.count(
        of: ReversedForOthers.self, where: (\ReversedForOthers.$owners).contains(owner))
    }
  }
}
