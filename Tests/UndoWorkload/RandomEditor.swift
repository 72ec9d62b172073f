import Foundation
package import MagicData
package import TestSupport

/// A generator of random changes of a store, of all kinds that a history must undo.
package struct RandomEditor {
  package var random: SplitMix64
  private static let words = ["alpha", "beta", "gamma", "delta", "alphabet", "betamax"]

  package init(seed: UInt64) { random = SplitMix64(seed: seed) }

  package mutating func number(_ range: Range<Int>) -> Int { .random(in: range, using: &random) }

  private mutating func title() -> String {
    (0..<number(1..<4)).map { _ in Self.words[number(0..<Self.words.count)] }
      .joined(separator: " ")
  }

  private mutating func bytes() -> Data {
    Data((0..<number(0..<60)).map { _ in UInt8(number(0..<256)) })
  }

  private mutating func pick<Element>(_ list: [Element]) -> Element? {
    list.isEmpty ? nil : list[number(0..<list.count)]
  }

  /// Makes one change, or none if there is nothing to change.
  package mutating func edit(_ magic: MagicData) throws {
    let unique = "\(random.next())"
    switch number(0..<13) {
    case 0, 1:
      let author = Author(unique)
      if number(0..<2) == 0 { author.photo = MagicAsset(value: bytes(), pathExtension: "bin") }
      if let friend = pick(try magic.objects(of: Author.self)) {
        author.friends = [friend, author]
      }
      author.books = [Book(unique, title()), Book("\(unique) b", title())]
      try magic.update(author)
      // An object that references itself through a value that was set is a reference cycle, which
      // would leak here, together with everything that was fetched with the friend.
      author.friends = []
    case 2, 3:
      guard let author = pick(try magic.objects(of: Author.self)) else { return }
      author.name = unique
      author.age = number(0..<3) == 0 ? nil : number(0..<90)
      switch number(0..<5) {
      case 0: author.photo = MagicAsset(value: bytes())
      case 1: author.photo = nil
      case 2: author.books.reverse()
      case 3: author.books.removeFirst(min(author.books.count, 1))
      default: if let book = pick(try magic.objects(of: Book.self)) { author.books.append(book) }
      }
      try magic.update(author)
    case 4:
      guard let author = pick(try magic.objects(of: Author.self)) else { return }
      try magic.remove(author)
    case 5:
      let shelf = Shelf(unique)
      let books = (0..<number(1..<4)).map { Book("\(unique) \($0)", title(), on: shelf) }
      if let book = books.first { book.scan = MagicAsset(value: bytes()) }
      try magic.update(books)
    case 6:
      guard let shelf = pick(try magic.objects(of: Shelf.self)) else { return }
      try magic.remove(shelf)
    case 7:
      try magic.updateAll(Author.where(\.$id > number(0..<20)), set: [.set(\.$age, to: 1)])
    case 8:
      guard let book = pick(try magic.objects(of: Book.self)) else { return }
      book.title = title()
      let key = "k\(number(0..<3))"
      if number(0..<3) == 0 { book.notes[key] = nil } else { book.notes[key] = Note(unique) }
      if number(0..<2) == 0 { book.scan = MagicAsset(value: bytes()) }
      try magic.update(book)
    case 9:
      // Exchanges two unique values.
      try magic.database.write { connection in
        let ids = try connection.rows(
          "SELECT id, email FROM Author LIMIT 2", as: Int.self, String.self)
        guard ids.count == 2 else { return }
        try connection.executeChange("UPDATE Author SET email = 'none' WHERE id = \(ids[0].0)")
        try connection.executeChange("UPDATE Author SET email = \(ids[0].1) WHERE id = \(ids[1].0)")
        try connection.executeChange("UPDATE Author SET email = \(ids[1].1) WHERE id = \(ids[0].0)")
      }
    case 10:
      try magic.database.executeChange(
        "INSERT OR REPLACE INTO Author (id, name, email, age) VALUES (\(number(1..<12)), \(unique), \(unique), 3)"
      )
    case 11:
      let word = Self.words[number(0..<Self.words.count)]
      try magic.database.executeChange("DELETE FROM Book WHERE title = \(word)")
    default:
      let author = Author(unique)
      author.photo = MagicAsset(value: bytes())
      try magic.update(author)
      if number(0..<2) == 0 { try magic.remove(author) }
      if number(0..<6) == 0 { try magic.removeAll(Book.all) }
    }
  }

  /// Creates the tables.
  package static func prepare(_ magic: MagicData) throws {
    let book = Book("b", "alpha", on: Shelf("s"))
    book.notes = ["k": Note("n")]
    let author = Author("a")
    author.books = [book]
    author.friends = [author]
    try magic.update(author)
    author.friends = []
    try magic.removeAll(Author.all)
    try magic.removeAll(Book.all)
    try magic.removeAll(Shelf.all)
    try magic.removeAll(Note.all)
  }
}
