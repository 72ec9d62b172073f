import Foundation
import SQLiteCore
import SQLiteMapping
import Testing

private struct Note: Record, Equatable {
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  static let traits: [PropertyTrait] = [.searched("title", "body")]
  var id: Int?
  var title: String
  var body: String?
}

/// It has a property that is called as what a search computes.
private struct Ranked: Record, Equatable {
  static let traits: [PropertyTrait] = [.searched("text")]
  var id: Int
  var text: String
  var rank: String
}

@Suite struct SearchTests {
  let database: Database

  init() throws {
    database = try Database.memory()
    try database.insert(contentsOf: [
      Note(title: "Shopping", body: "milk and bread"), Note(title: "Milk", body: nil),
      Note(title: "Garden", body: "water the roses"),
    ])
  }

  private func found(_ pattern: SearchPattern) throws -> [String] {
    try database.search(Note.self, for: pattern).map(\.value.title).sorted()
  }

  @Test func `words, phrases and prefixes are found`() throws {
    #expect(try found(.all(of: "milk")) == ["Milk", "Shopping"])
    #expect(try found(.all(of: "bread MILK")) == ["Shopping"])
    #expect(try found(.any(of: "bread roses")) == ["Garden", "Shopping"])
    #expect(try found(.phrase("milk and")) == ["Shopping"])
    #expect(try found(.phrase("and milk")) == [])
    #expect(try found(.prefix("ros")) == ["Garden"])
    #expect(try found(.prefix("water ros")) == ["Garden"])
    #expect(try found(.all(of: "milk").not(.all(of: "bread"))) == ["Milk"])
    #expect(try found(.all(of: "milk").and(.all(of: "bread"))) == ["Shopping"])
    #expect(try found(.all(of: "roses").or(.all(of: "bread"))) == ["Garden", "Shopping"])
  }

  @Test(arguments: ["milk '\u{301}", "\u{24B6} milk", "milk \u{903}", "\u{301}milk"])
  func `what is no word hides no word`(text: String) throws {
    #expect(try found(.all(of: text)) == ["Milk", "Shopping"])
    #expect(try found(.phrase(text)) == ["Milk", "Shopping"])
    #expect(try found(.prefix(text)) == ["Milk", "Shopping"])
  }

  @Test func `results have a rank, a snippet and highlights`() throws {
    let result = try #require(try database.search(Note.self, for: .all(of: "bread")).first)
    #expect(result.value == Note(id: 1, title: "Shopping", body: "milk and bread"))
    #expect(result.rank < 0)
    #expect(result.snippet == "milk and [bread]")
    #expect(result.highlights == ["title": "Shopping", "body": "milk and [bread]"])
  }

  @Test func `a property may be called rank, and stands in conditions`() throws {
    let values = [
      Ranked(id: 1, text: "milk among many other words that say nothing of it", rank: "a"),
      Ranked(id: 2, text: "milk", rank: "b"), Ranked(id: 3, text: "tea", rank: "c"),
    ]
    try database.insert(contentsOf: values)
    let results = try database.search(Ranked.self, for: .all(of: "milk"))
    #expect(results.map(\.value) == [values[1], values[0]])
    #expect(results.allSatisfy { $0.rank < 0 })
    let some = try database.search(
      Ranked.self, for: .all(of: "milk"), where: "rank < 'b' AND text LIKE '%say%'")
    #expect(some.map(\.value) == [values[0]])
  }

  @Test func `the index follows every change`() throws {
    try database.update(Note(id: 2, title: "Cream", body: nil))
    #expect(try found(.all(of: "milk")) == ["Shopping"])
    #expect(try found(.all(of: "cream")) == ["Cream"])
    try database.executeChange("DELETE FROM Note WHERE id = 1")
    #expect(try found(.all(of: "bread")) == [])
    try database.executeChange("INSERT OR REPLACE INTO Note VALUES (2, 'Tea', '')")
    #expect(try found(.any(of: "cream tea")) == ["Tea"])
    try database.executeChange(
      "INSERT INTO Note_search (Note_search, rank) VALUES ('integrity-check', 1)")
  }

  @Test(
    arguments: [
      "\"", "\"\"", "a\"b", "(", ")", "a AND", "NOT", "OR OR", "*", "a*", "^", "col:", "title:milk",
      "{a b}: c", "NEAR(a b)", "a + b", "-a", "\0", "a\0b", "'", ";", "--", "", " ", "é\u{301}",
      "🚲",
      "%", "\\",
    ])
  func `no text of a user's breaks a search`(text: String) throws {
    for pattern in [
      SearchPattern.all(of: text), .any(of: text), .phrase(text), .prefix(text),
      .all(of: "milk").and(.all(of: text)),
    ] {
      _ = try found(pattern)
    }
  }

  @Test func `a search before the table exists finds nothing`() throws {
    #expect(try Database.memory().search(Note.self, for: .all(of: "a")).isEmpty)
  }

  @Test func `values with keys that are no numbers are found, after VACUUM too`() throws {
    struct Page: Record, Equatable {
      static let primaryKeyType = PrimaryKeyType.uuid
      static let traits: [PropertyTrait] = [.searched("text")]
      var id: UUID?
      var text: String
    }
    let pages = try ["one", "two", "three"].map { try database.update(Page(text: $0)) }
    try database.remove(pages[0])
    try database.withoutTransaction { _ = try $0.executeChange("VACUUM") }
    #expect(try database.search(Page.self, for: .all(of: "three")).map(\.value) == [pages[2]])
    var changed = pages[1]
    changed.text = "four"
    try database.update(changed)
    #expect(try database.search(Page.self, for: .all(of: "four")).map(\.value) == [changed])
  }

  @Test func `properties that are searched later are filled in`() throws {
    struct Plain: Record {
      static var tableName: String { "memo" }
      var id: Int
      var text: String
    }
    struct Searched: Record {
      static var tableName: String { "memo" }
      static let traits: [PropertyTrait] = [.searched("text")]
      var id: Int
      var text: String
    }
    let folder = try TemporaryFolder()
    try folder.open { try $0.update(Plain(id: 1, text: "old words")) }
    try folder.open { database in
      try database.update(Searched(id: 2, text: "new words"))
      #expect(try database.search(Searched.self, for: .all(of: "words")).count == 2)
    }
  }

  @Test func `a type without searched properties cannot be searched`() throws {
    #expect(throws: SQLiteError.self) { try database.search(City.self, for: .all(of: "a")) }
  }
}
