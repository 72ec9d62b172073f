import Conformance
import Foundation
import SQLiteCore
import SQLiteMapping
import Testing
import TestSupport

private struct Note: Record, Equatable {
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  static let traits: [PropertyTrait] = [.searched("title", "body")]
  var id: Int?
  var title: String
  var body: String?
}

/// A record with a property that has the name of a computed column of a search.
private struct Ranked: Record, Equatable {
  static let traits: [PropertyTrait] = [.searched("text")]
  var id: Int
  var text: String
  var rank: String
}

@Suite(.everyEngine) struct SearchTests {
  let database: Database

  init() throws {
    database = try Database.fresh()
    try database.write {
      try $0.insert(contentsOf: [
        Note(title: "Shopping", body: "milk and bread"), Note(title: "Milk", body: nil),
        Note(title: "Garden", body: "water the roses"),
      ])
    }
  }

  private func found(_ pattern: SearchPattern) throws -> [String] {
    try database.read { try $0.fetch(Note.all.search(pattern)) }.map(\.value.title).sorted()
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

  @Test func `an async search finds the same results`() async throws {
    let results = try await database.readBriefly {
      try $0.fetch(Note.all.limit(1).search(.all(of: "milk")))
    }
    let blocking = { [database] in
      try database.read { try $0.fetch(Note.all.limit(1).search(.all(of: "milk"))) }
    }
    #expect(results.count == 1)
    #expect(try results == blocking())
  }

  @Test(arguments: ["milk '\u{301}", "\u{24B6} milk", "milk \u{903}", "\u{301}milk"])
  func `characters that aren't words don't affect the result`(text: String) throws {
    #expect(try found(.all(of: text)) == ["Milk", "Shopping"])
    #expect(try found(.phrase(text)) == ["Milk", "Shopping"])
    #expect(try found(.prefix(text)) == ["Milk", "Shopping"])
  }

  @Test func `results have a rank, a snippet and highlights`() throws {
    let result = try #require(
      try database.read { try $0.fetch(Note.all.search(.all(of: "bread"))) }.first)
    #expect(result.value == Note(id: 1, title: "Shopping", body: "milk and bread"))
    #expect(result.rank < 0)
    #expect(result.snippet == "milk and [bread]")
    #expect(result.highlights == ["title": "Shopping", "body": "milk and [bread]"])
  }

  @Test func `a property can be called rank and be used in conditions`() throws {
    let values = [
      Ranked(id: 1, text: "milk among many other words that say nothing of it", rank: "a"),
      Ranked(id: 2, text: "milk", rank: "b"), Ranked(id: 3, text: "tea", rank: "c"),
    ]
    try database.write { try $0.insert(contentsOf: values) }
    let results = try database.read { try $0.fetch(Ranked.all.search(.all(of: "milk"))) }
    #expect(results.map(\.value) == [values[1], values[0]])
    #expect(results.allSatisfy { $0.rank < 0 })
    let some = try database.read {
      try $0.fetch(Ranked.where("rank < 'b' AND text LIKE '%say%'").search(.all(of: "milk")))
    }
    #expect(some.map(\.value) == [values[0]])
  }

  @Test func `every change updates the index`() throws {
    try database.write { try $0.update(Note(id: 2, title: "Cream", body: nil)) }
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
  func `no input text breaks a search`(text: String) throws {
    let text = Engine.text(text)
    for pattern in [
      SearchPattern.all(of: text), .any(of: text), .phrase(text), .prefix(text),
      .all(of: "milk").and(.all(of: text)),
    ] {
      _ = try found(pattern)
    }
  }

  @Test func `a search before the table exists finds nothing`() throws {
    #expect(try Database.fresh().read { try $0.fetch(Note.all.search(.all(of: "a"))) }.isEmpty)
  }

  @Test(.requires(.files)) func `records with UUID keys are found, even after VACUUM`()
    throws
  {
    struct Page: Record, Equatable {
      static let primaryKeyType = PrimaryKeyType.uuid
      static let traits: [PropertyTrait] = [.searched("text")]
      var id: UUID?
      var text: String
    }
    let pages = try ["one", "two", "three"].map { text in
      try database.write { try $0.update(Page(text: text)) }
    }
    try database.write { try $0.remove(pages[0]) }
    try database.withoutTransaction { _ = try $0.executeChange("VACUUM") }
    #expect(
      try database.read { try $0.fetch(Page.all.search(.all(of: "three"))) }.map(\.value) == [
        pages[2]
      ])
    var changed = pages[1]
    changed.text = "four"
    try database.write { try $0.update(changed) }
    #expect(
      try database.read { try $0.fetch(Page.all.search(.all(of: "four"))) }.map(\.value) == [
        changed
      ])
  }

  @Test func `properties that become searchable later are indexed`() throws {
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
    let folder = try TestFolder()
    try folder.open { try $0.write { try $0.update(Plain(id: 1, text: "old words")) } }
    try folder.open { database in
      try database.write { try $0.update(Searched(id: 2, text: "new words")) }
      #expect(try database.read { try $0.fetch(Searched.all.search(.all(of: "words"))) }.count == 2)
    }
  }

  @Test func `searching a type without searched properties throws`() throws {
    #expect(throws: SQLiteError.self) {
      try database.read { try $0.fetch(City.all.search(.all(of: "a"))) }
    }
  }

  @Test func `a missing index throws an error that names it`() throws {
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
    let folder = try TestFolder()
    try folder.open { try $0.write { try $0.update(Plain(id: 1, text: "old words")) } }
    try folder.open { database in
      let error = #expect(throws: SQLiteError.self) {
        try database.read { try $0.fetch(Searched.all.search(.all(of: "words"))) }
      }
      #expect(error?.message.contains("“memo_search”") ?? false)
      try database.write { try $0.update(Searched(id: 2, text: "new words")) }
      #expect(try database.read { try $0.fetch(Searched.all.search(.all(of: "words"))) }.count == 2)
    }
  }

  @Test func `a table with the name of an index isn't changed`() throws {
    let fresh = try Database.fresh()
    try fresh.executeMultipleChanges(
      "CREATE TABLE Note_search (n); INSERT INTO Note_search VALUES (3)")
    let error = #expect(throws: SQLiteError.self) {
      try fresh.write { try $0.insert(Note(title: "a")) }
    }
    #expect(error?.message.contains("“Note_search”") ?? false)
    #expect(try fresh.rows("SELECT n FROM Note_search", as: Int.self) == [3])
  }

  @Test func `any number of patterns can be combined with one operator`() throws {
    var (any, all, none) = (
      SearchPattern.all(of: "milk"), SearchPattern.all(of: "milk"), SearchPattern.all(of: "milk")
    )
    for number in 0..<1_000 {
      any = any.or(.all(of: "roses\(number % 7 == 0 ? "" : "\(number)")"))
      all = all.and(.any(of: "milk bread"))
      none = none.not(.all(of: "and \(number) bread"))
    }
    #expect(try found(any) == ["Garden", "Milk", "Shopping"])
    #expect(try found(all) == ["Milk", "Shopping"])
    #expect(try found(none) == ["Milk", "Shopping"])
    #expect(try found(none.not(.all(of: "bread"))) == ["Milk"])
    #expect(
      try found(.any(of: (0..<1_000).map { "word\($0)" }.joined(separator: " ") + " tea milk"))
        .count == 2)
  }

  @Test func `patterns can be nested up to the limit and throw beyond it`() throws {
    // The nested part is on the left or on the right.
    for isLeft in [true, false] {
      var pattern = SearchPattern.all(of: "milk bread")
      for depth in 1...SearchPattern.maximumDepth + 1 {
        let word = SearchPattern.all(of: depth % 2 == 0 ? "and" : "roses")
        switch depth % 2 {
        case 0: pattern = isLeft ? pattern.and(word) : word.and(pattern)
        default: pattern = isLeft ? pattern.or(word) : word.or(pattern)
        }
        guard depth > SearchPattern.maximumDepth else {
          #expect(try found(pattern).contains("Shopping"))
          continue
        }
        let error = #expect(throws: SQLiteError.self) { try found(pattern) }
        #expect(error?.code == .tooBig)
        #expect(error?.message.contains("31 levels deep") ?? false)
      }
    }
  }

  @Test func `randomly combined patterns find the same records as set operations`() throws {
    let words = ["ant", "bee", "cat", "dog"]
    for mask in 0..<16 {
      let body = words.indices.filter { mask & 1 << $0 != 0 }.map { words[$0] }
      try database.write {
        try $0.insert(Note(title: "T\(mask)", body: body.joined(separator: " ")))
      }
    }
    var random = SplitMix64(seed: 15)
    func pattern(_ depth: Int) -> (SearchPattern, Set<Int>) {
      guard depth > 0 else {
        let word = Int.random(in: 0..<4, using: &random)
        return (.all(of: words[word]), Set((0..<16).filter { $0 & 1 << word != 0 }))
      }
      let (one, other) = (pattern(depth - 1), pattern(Int.random(in: 0..<depth, using: &random)))
      switch Int.random(in: 0..<3, using: &random) {
      case 0: return (one.0.and(other.0), one.1.intersection(other.1))
      case 1: return (one.0.or(other.0), one.1.union(other.1))
      default: return (one.0.not(other.0), one.1.subtracting(other.1))
      }
    }
    for _ in 0..<60 {
      let (pattern, expected) = pattern(Int.random(in: 0..<5, using: &random))
      #expect(try found(pattern) == expected.map { "T\($0)" }.sorted())
    }
  }
}
