import Conformance
import Foundation
import MagicData
import Testing
import TestSupport

private struct Note: MagicObject {
  static var traits: [PropertyTrait] { [.searched(\Self.$title, \Self.$text)] }
  @PrimaryMagicValue var id: Int
  @MagicValue var title: String
  @OptionalMagicValue var text: String?
  @MagicValue var isDone: Bool
  @OptionalMagicValue var author: Author?
  init() {
    title = ""
    isDone = false
  }
  init(_ title: String, _ text: String?, by author: Author? = nil) {
    self.title = title
    self.text = text
    self.author = author
    isDone = false
  }
}

private struct Author: MagicObject {
  static var traits: [PropertyTrait] { [.searched(\Self.$name)] }
  @PrimaryMagicValue var name: String
  init() {}
  init(_ name: String) { self.name = name }
}

/// An object that references notes. Its pages are removed together with it.
private struct Binder: MagicObject {
  @MagicValue var title: String
  @MagicValue var notes: [Note]
  init() {
    title = ""
    notes = []
  }
}

private struct Page: MagicObject {
  static var traits: [PropertyTrait] {
    [.searched(\Self.$text), .onDelete(\Self.$binder, .cascade)]
  }
  @MagicValue var text: String
  @MagicValue var binder: Binder
  init() { text = "" }
}

/// The type of the table `Letter` before it declares a search.
private struct OldLetter: MagicObject {
  static let tableName = "Letter"
  @PrimaryMagicValue var id: Int
  @MagicValue var text: String
  init() { text = "" }
}

private struct Letter: MagicObject {
  static var traits: [PropertyTrait] { [.searched(\Self.$text)] }
  @PrimaryMagicValue var id: Int
  @MagicValue var text: String
  init() { text = "" }
}

private struct NewLetter: MagicObject {
  static let tableName = "Post"
  static var traits: [PropertyTrait] { [.searched(\Self.$body)] }
  @PrimaryMagicValue var id: Int
  @MagicValue var body: String
  init() { body = "" }
}

private struct Unsearched: MagicObject {
  @MagicValue var text: String
  init() { text = "" }
}

@Suite(.everyEngine, .timeLimit(.minutes(40))) struct SearchingTests {
  let folder: TestFolder
  let magic: MagicData

  init() throws {
    folder = try TestFolder()
    magic = try MagicData.at(folder.path)
    let ann = Author("Ann Smith")
    try magic.update([
      Note("Shopping", "milk and bread", by: ann), Note("Milk", nil),
      Note("Garden", "water the roses", by: ann),
    ])
  }

  private func found(_ pattern: SearchPattern) throws -> [String] {
    try magic.fetch(Note.all.search(pattern)).map(\.value.title).sorted()
  }

  private func checkIndex(_ table: String) throws {
    try magic.database.executeChange(
      "INSERT INTO \(identifier: "\(table)_search") (\(identifier: "\(table)_search"), rank) VALUES ('integrity-check', 1)"
    )
  }

  @Test func `words, phrases and prefixes are found, and related objects are fetched`() throws {
    #expect(try found(.all(of: "milk")) == ["Milk", "Shopping"])
    #expect(try found(.all(of: "bread MILK")) == ["Shopping"])
    #expect(try found(.any(of: "bread roses")) == ["Garden", "Shopping"])
    #expect(try found(.phrase("milk and")) == ["Shopping"])
    #expect(try found(.phrase("and milk")) == [])
    #expect(try found(.prefix("water ros")) == ["Garden"])
    #expect(try found(.all(of: "milk").not(.all(of: "bread"))) == ["Milk"])
    let result = try #require(try magic.fetch(Note.all.search(.all(of: "bread"))).first)
    #expect(result.value.author?.name == "Ann Smith")
    #expect(result.rank < 0)
    #expect(result.snippet == "milk and [bread]")
    #expect(result.highlights == ["title": "Shopping", "text": "milk and [bread]"])
  }

  @Test func `a word that is repeated a thousand times is searched once`() throws {
    let words = Array(repeating: "milk MILK", count: 1_000).joined(separator: " ")
    #expect(SearchPattern.all(of: words) == .all(of: "milk"))
    #expect(SearchPattern.any(of: "bread " + words) == .any(of: "bread milk"))
    #expect(SearchPattern.prefix(words) == .prefix("milk MILK"))
    #expect(try found(.any(of: words + " roses")) == ["Garden", "Milk", "Shopping"])
  }

  @Test func `an async search finds the same objects`() async throws {
    let marks = SearchMarks(start: "<b>", end: "</b>", snippetLength: 1)
    let some = try await magic.fetch(
      Note.where(\.$author != nil).limit(1).search(.all(of: "milk"), marks: marks))
    #expect(some.map(\.value.title) == ["Shopping"])
    #expect(some.first?.snippet == "<b>milk</b>…")
    let all = try await magic.fetch(Note.all.search(.all(of: "milk")))
    let blocking = {
      try magic.fetch(Note.all.limit(nil, offset: 1).search(.all(of: "milk"))).map(\.value.id)
    }
    #expect(try blocking() == [all[1].value.id])
  }

  @Test func `a search can be combined with a filter`() throws {
    let notes = try magic.fetch(
      Note.where(\.$author.$name == "Ann Smith").search(.any(of: "milk roses")))
    #expect(notes.map(\.value.title).sorted() == ["Garden", "Shopping"])
    #expect(try magic.fetch(Note.where(\.$title == "x").search(.all(of: "milk"))).isEmpty)
  }

  @Test func `the search index follows every change`() throws {
    let milk = try #require(try magic.objects(of: Note.self, where: \.$title == "Milk").first)
    milk.title = "Cream"
    try magic.update(milk)
    #expect(try found(.all(of: "milk")) == ["Shopping"])
    #expect(try found(.all(of: "cream")) == ["Cream"])
    try magic.database.executeChange("DELETE FROM Note WHERE title = 'Shopping'")
    #expect(try found(.all(of: "bread")) == [])
    #expect(try magic.removeAll(Note.where(\.$title == "Cream")) == 1)
    #expect(try found(.all(of: "cream")) == [])
    try checkIndex("Note")
    if Engine.current == .local { try magic.database.executeChange("VACUUM") }
    #expect(try found(.all(of: "roses")) == ["Garden"])
    try checkIndex("Note")
  }

  @Test func `changes that were rolled back aren't found`() throws {
    struct Undo: Error {}
    #expect(throws: Undo.self) {
      try magic.transaction {
        try magic.update(Note("Cheese", nil))
        #expect(try found(.all(of: "cheese")) == ["Cheese"])
        throw Undo()
      }
    }
    #expect(try found(.all(of: "cheese")) == [])
    try checkIndex("Note")
  }

  @Test func `objects removed by a cascade aren't found, even by a store opened later`() throws {
    let binder = Binder()
    let page = Page()
    page.text = "some words"
    page.binder = binder
    try magic.update(page)
    try magic.database.close()
    let later = try MagicData.at(folder.path)
    let stored = try #require(try later.objects(of: Binder.self).first)
    try later.remove(stored)
    #expect(try later.fetch(Page.all.search(.all(of: "words"))).isEmpty)
    #expect(try later.count(of: Page.self) == 0)
  }

  @Test func `a store opened before another one created the index can still write`() throws {
    let early = try MagicData.at(folder.path)
    let (binder, page) = (Binder(), Page())
    (page.text, page.binder) = ("first words", binder)
    try magic.update(page)
    let other = Page()
    (other.text, other.binder) = (
      "second words", try #require(try early.objects(of: Binder.self).first)
    )
    try early.update(other)
    #expect(try early.updateAll(Page.all, set: [\.$text += " more"]) == 2)
    #expect(try magic.fetch(Page.all.search(.all(of: "more"))).count == 2)
    // Removing the binder removes its pages by a cascade.
    let last = try MagicData.at(folder.path)
    #expect(try last.removeAll(Binder.all) == 1)
    #expect(try early.fetch(Page.all.search(.all(of: "words"))).isEmpty)
    try checkIndex("Page")
  }

  @Test func `a statement prepared before the index was created still works`() throws {
    let early = try MagicData.at(folder.path)
    try early.database.executeChange(
      "CREATE TABLE Letter (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL)")
    func save(_ text: String) throws {
      try early.database.executeChange("INSERT INTO Letter (text) VALUES (\(text))")
    }
    try save("dear reader")
    try magic.update(Letter())
    try save("dear writer")
    #expect(try magic.fetch(Letter.all.search(.all(of: "dear"))).count == 2)
    try checkIndex("Letter")
  }

  @Test func `a type that declares a search later finds existing objects`() throws {
    let letter = OldLetter()
    letter.text = "dear reader"
    try magic.update(letter)
    try magic.database.close()
    let later = try MagicData.at(folder.path)
    let results = try later.fetch(Letter.all.search(.all(of: "reader")))
    #expect(results.map(\.value.text) == ["dear reader"])
    try later.migrate([
      Migration(
        "letters are posts", .renameObjects("Letter", to: "Post"),
        .renameProperty("text", to: "body", of: "Post"))
    ])
    #expect(
      try later.database.read { try $0.rows("SELECT name FROM sqlite_schema", as: String.self) }
        .contains { $0.contains("Letter") } == false)
    try later.database.close()
    let last = try MagicData.at(folder.path)
    #expect(
      try last.fetch(NewLetter.all.search(.all(of: "reader"))).map(\.value.body) == ["dear reader"])
    try last.migrate([
      Migration(
        "letters are posts", .renameObjects("Letter", to: "Post"),
        .renameProperty("text", to: "body", of: "Post")),
      Migration("no more bodies", .dropProperty("body", of: "Post")),
    ])
  }

  @Test func `a search without an index throws instead of returning nothing`() throws {
    try magic.update(Unsearched())
    let error = #expect(throws: MagicError.self) {
      try magic.fetch(Unsearched.all.search(.all(of: "a")))
    }
    #expect(error?.description.contains("declares no searched properties") == true)
    let letter = OldLetter()
    letter.text = "dear reader"
    try magic.update(letter)
    try magic.database.close()
    var options = Database.Options()
    options.mode = .readOnly
    let reading = try MagicData.at(folder.path, options: options)
    #expect(throws: SQLiteError.self) { try reading.fetch(Letter.all.search(.all(of: "reader"))) }
    #expect(throws: SQLiteError.self) {
      try reading.fetch(Note.all.limit(-1).search(.all(of: "a")))
    }
  }

  @Test func `a search before the first object is saved finds nothing`() throws {
    let empty = try MagicData.fresh()
    #expect(try empty.fetch(Note.all.search(.all(of: "a"))).isEmpty)
  }

  @Test(
    arguments: [
      "\"", "\"\"", "a\"b", "(", ")", "a AND", "NOT", "*", "a*", "^", "col:", "{a b}: c",
      "NEAR(a b)", "-a", "\0", "a\0b", "'", ";", "--", "", " ", "é\u{301}", "🚲", "%", "\\",
    ])
  func `no user input breaks a search`(text: String) throws {
    let text = Engine.text(text)
    for pattern in [
      SearchPattern.all(of: text), .any(of: text), .phrase(text), .prefix(text),
      .all(of: "milk").and(.all(of: text)),
    ] {
      _ = try found(pattern)
    }
    try magic.update(Note(text, text))
    _ = try magic.fetch(
      Note.where(\.$title == text).search(
        .all(of: "milk"), marks: SearchMarks(start: text, end: text)))
  }

  @Test func `300 random patterns match the same objects as in memory`() throws {
    var random = SplitMix64(seed: 20_261_123)
    let words = ["milk", "bread", "mil", "rose", "roses", "tea", "ä", "x1"]
    func text() -> [String] {
      (0..<Int.random(in: 0...4, using: &random)).compactMap { _ in
        words.randomElement(using: &random)
      }
    }
    try magic.removeAll(Note.all)
    let models = (1...80).map { _ in
      (title: text(), text: text(), isDone: Bool.random(using: &random))
    }
    try magic.update(
      models.map { model in
        let note = Note(model.title.joined(separator: " "), model.text.joined(separator: "-"))
        note.isDone = model.isDone
        return note
      })
    let ids = try magic.objects(of: Note.self).map(\.id)
    for number in 0..<300 {
      let wanted = text()
      let joined = wanted.joined(separator: [" ", "'", " AND ", "\"*("][number % 4])
      let list = number % 4 == 2 && wanted.count > 1 ? wanted + ["and"] : wanted
      let (pattern, test): (SearchPattern, ([String], [String]) -> Bool) =
        switch number % 3 {
        case 0: (.all(of: joined), { a, b in list.allSatisfy { (a + b).contains($0) } })
        case 1: (.any(of: joined), { a, b in list.contains { (a + b).contains($0) } })
        default:
          (
            .prefix(joined),
            { a, b in
              list.dropLast().allSatisfy { (a + b).contains($0) }
                && (a + b).contains { $0.hasPrefix(list.last ?? "") }
            }
          )
        }
      let filter: Filter<Note>? = number % 5 == 0 ? \.$isDone == true : nil
      let expected = zip(ids, models).filter { _, model in
        !list.isEmpty && test(model.title, model.text) && (filter == nil || model.isDone)
      }.map(\.0)
      let found = try magic.fetch((filter.map(Note.where) ?? Note.all).search(pattern)).map(
        \.value.id
      ).sorted()
      try #require(found == expected, "pattern \(number): \(joined)")
      let both = try magic.objects(
        of: Note.self, where: filter.map { $0 && .matching(pattern) } ?? .matching(pattern))
      try #require(both.map(\.id) == expected, "filter \(number): \(joined)")
    }
  }

  @Test func `a filter can search related objects`() throws {
    let found = try magic.objects(
      of: Binder.self, where: (\Binder.$notes).contains(where: .matching(.all(of: "milk"))))
    #expect(found.isEmpty)
    let binder = Binder()
    binder.notes = try magic.objects(of: Note.self, where: \.$title == "Milk")
    try magic.update([binder, Binder()])
    let binders = try magic.objects(
      of: Binder.self, where: (\Binder.$notes).contains(where: .matching(.all(of: "milk"))))
    #expect(binders.count == 1)
    #expect(throws: MagicError.self) {
      try magic.count(of: Unsearched.self, where: .matching(.all(of: "a")))
    }
  }
}
