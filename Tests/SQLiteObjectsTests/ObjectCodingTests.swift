import Conformance
import Foundation
import MagicData
import Testing

private struct Book: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var title: String
  @MagicValue var printed: Date
  @OptionalMagicValue var subtitle: String?
  @OptionalMagicValue var author: Author?
  @MagicValue var sequels: [Book] = []
  @MagicValue var roles: [String: Author] = [:]
  @MagicValue var readers: MagicalSet<Author> = []

  init() {}

  init(_ title: String) {
    id = title
    self.title = title
    printed = Date(timeIntervalSince1970: 0)
  }
}

private struct Author: MagicObject {
  @PrimaryMagicValue var number: Int
  @MagicValue var name: String
  @ReverseMagicValue(\Book.$author) var books: AsyncReverseMagicSet<Book>

  init() {}
  init(_ name: String) { self.name = name }
}

private struct Shelf: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var first: AsyncMagical<Book>
  @OptionalMagicValue var last: AsyncMagical<Author>?
  @MagicValue var byNumber: [Int: Book]
  @MagicValue var books: AsyncMagical<[Book]>
  @MagicValue var authors: AsyncMagical<MagicalSet<Author>>
  @MagicValue var byYear: AsyncMagical<[Int: Book]>

  init() {
    books = .init(value: [])
    authors = .init(value: [])
    byYear = .init(value: [:])
    byNumber = [:]
  }
}

@Suite(.everyEngine) struct ObjectCodingTests {
  let magic: MagicData
  let encoder: JSONEncoder
  let decoder = JSONDecoder()

  init() throws {
    magic = try MagicData.fresh()
    encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    encoder.dateEncodingStrategy = .secondsSince1970
    decoder.dateDecodingStrategy = .secondsSince1970
  }

  private func book() throws -> Book {
    let book = Book("One")
    book.author = Author("Ann")
    book.sequels = [Book("Two"), book]
    book.roles["editor"] = Author("Bob")
    book.readers.insert(Author("Cem"))
    try magic.update(book)
    return book
  }

  @Test func `relations are encoded as the keys of their targets`() throws {
    let json = String(decoding: try encoder.encode(try book()), as: UTF8.self)
    #expect(
      json == """
        {"author":1,"id":"One","printed":0,"readers":[3],"roles":{"editor":2},\
        "sequels":["Two","One"],"subtitle":null,"title":"One"}
        """)
    #expect(
      String(decoding: try encoder.encode(try magic.object(of: Author.self)), as: UTF8.self)
        .hasPrefix(#"[{"books":null,"name":"Ann","number":1}"#))
  }

  @Test func `a decoded object gets its relations when they are resolved`() throws {
    let json = try encoder.encode(try book())
    let decoded = try decoder.decode(Book.self, from: json)
    #expect(decoded.title == "One")
    #expect(decoded.printed == Date(timeIntervalSince1970: 0))
    #expect(try encoder.encode(decoded) == json)
    #expect(throws: MagicError.unresolvedRelation(type: "Book", property: "author")) {
      try magic.update(decoded)
    }
    try magic.resolve(decoded)
    #expect(decoded.author?.name == "Ann")
    #expect(decoded.sequels.map(\.title) == ["Two", "One"])
    decoded.subtitle = "again"
    try magic.update(decoded)
    let found = try magic.object(of: Book.self, primary: "One")
    #expect(found.subtitle == "again")
    #expect(found.roles["editor"]?.name == "Bob")
    #expect(found.readers.map(\.name) == ["Cem"])
    #expect(try magic.count(of: Book.self) == 2)
  }

  @Test func `resolving a key without an object throws`() async throws {
    let json =
      #"{"id":"x","title":"X","printed":0,"author":9,"sequels":[],"roles":{},"readers":[]}"#
    let decoded = try decoder.decode(Book.self, from: Data(json.utf8))
    await #expect(throws: MagicError.self) { try await magic.resolve(decoded) }
  }

  @Test func `a new object can be decoded without a key`() throws {
    let author = try decoder.decode(Author.self, from: Data(#"{"name":"New"}"#.utf8))
    #expect(try magic.update(author) == 1)
    #expect(author.number == 1)
  }

  private func shelf() throws -> Shelf {
    let shelf = Shelf()
    shelf.id = "s"
    shelf.first = .init(value: Book("One"))
    shelf.books.set([Book("Two"), Book("Three")])
    shelf.authors.set([Author("Ann")])
    shelf.byNumber = [-3: Book("Five")]
    shelf.byYear.set([1999: Book("Four")])
    try magic.update(shelf)
    return shelf
  }

  private static let shelfJSON = """
    {"authors":[1],"books":["Two","Three"],"byNumber":{"-3":"Five"},"byYear":{"1999":"Four"},\
    "first":"One","id":"s","last":null}
    """

  @Test func `lazy relations are encoded as keys, whether assigned or fetched`() throws {
    let set = try encoder.encode(try shelf())
    #expect(String(decoding: set, as: UTF8.self) == ObjectCodingTests.shelfJSON)
    let fetched = try magic.object(of: Shelf.self, primary: "s")
    #expect(
      String(decoding: try encoder.encode(fetched), as: UTF8.self) == ObjectCodingTests.shelfJSON)
    #expect(try magic.cost { _ = try encoder.encode(fetched) }.cost.rows == 0)
  }

  @Test func `a decoded object gets its lazy relations when they are resolved`() throws {
    _ = try shelf()
    let decoded = try decoder.decode(Shelf.self, from: Data(ObjectCodingTests.shelfJSON.utf8))
    #expect(throws: MagicError.self) { try magic.update(decoded) }
    try magic.resolve(decoded)
    #expect(try decoded.first.get().title == "One")
    #expect(try decoded.books.get().map(\.title) == ["Two", "Three"])
    #expect(try decoded.byYear.get()[1999]?.title == "Four")
    #expect(decoded.byNumber[-3]?.title == "Five")
    decoded.books.set(try decoded.books.get().reversed())
    try magic.update(decoded)
    let found = try magic.object(of: Shelf.self, primary: "s")
    #expect(try found.books.get().map(\.title) == ["Three", "Two"])
    #expect(try found.authors.get().map(\.name) == ["Ann"])
    #expect(try magic.count(of: Book.self) == 5)
  }

  @Test func `a lazy relation without its object is encoded as null or throws`() throws {
    let shelf = try shelf()
    shelf.last = .init(value: Author("Zoe"))
    try magic.update(shelf)
    let fetched = try magic.object(of: Shelf.self, primary: "s")
    #expect(throws: MagicError.restricted(type: "Book", by: ["Shelf.first"])) {
      try magic.remove(try magic.object(of: Book.self, primary: "One"))
    }
    try magic.removeAll(Author.where(\.$name == "Zoe"))
    let json = String(decoding: try encoder.encode(fetched), as: UTF8.self)
    #expect(json.contains(#""last":null"#))
    #expect(json.contains(#""first":"One""#))
    #expect(try magic.object(of: Shelf.self, primary: "s").last == nil)
    try magic.remove(try magic.object(of: Shelf.self, primary: "s"))
    #expect(throws: MagicError.self) { try encoder.encode(fetched) }
  }
}
