import Foundation
import MagicData

/// A database with relations, created when a case first uses it: authors with ten books each,
/// shelves with 100 volumes each (a million links at 200,000 rows), and albums with ten tracks
/// each.
///
/// The fixture's first item determines some of the names and the number of additional volumes of
/// the first shelf. A wrong value in this item therefore changes the result of every case.
struct Library {
  let path: String
  /// The number of shelves.
  let shelves: Int
  /// The keys of the volumes to look up: first the additional volumes, then random ones.
  let volumes: [Int]

  static let booksOfAuthor = 10
  static let volumesOfShelf = 100
  /// The number of additional volumes. Only the first shelf can contain them.
  private static let moreVolumes = 8

  init(_ fixture: Fixture) throws {
    path =
      URL(filePath: fixture.path).deletingLastPathComponent().appending(path: "library.sqlite")
      .path
    shelves = Self.owners(in: fixture)
    let count = shelves * Self.volumesOfShelf
    var generator = SplitMix64(seed: 2_027)
    volumes =
      Array(count + 1...count + Self.moreVolumes)
      + (Self.moreVolumes..<Self.lookupCount(in: fixture)).map { _ in
        Int.random(in: 1...count, using: &generator)
      }
    if FileManager.default.fileExists(atPath: path) { return }
    let magic = try MagicData(settingsAt: path)
    // Saving an object of each type creates its tables.
    try magic.update(AuthorObject(named: ""))
    try magic.update(ShelfObject(named: ""))
    try magic.update(TrackObject(on: AlbumObject(titled: "")))
    try magic.removeAll(AuthorObject.all)
    try magic.removeAll(ShelfObject.all)
    try magic.removeAll(TrackObject.all)
    try magic.removeAll(AlbumObject.all)
    let first = fixture.items[0]
    try magic.database.write { connection in
      for sql in Self.filling(authors: shelves, shelves: shelves, by: first) {
        try connection.executeChange(sql)
      }
    }
    try magic.database.close()
  }

  /// Returns the number of authors, which is also the number of shelves.
  static func owners(in fixture: Fixture) -> Int { max(1, fixture.items.count / 20) }

  /// Returns the number of volumes to look up.
  static func lookupCount(in fixture: Fixture) -> Int { max(moreVolumes, fixture.items.count / 20) }

  /// Returns the statements that fill the tables. Links are scattered: the books of an author are
  /// far apart in their table.
  private static func filling(authors: Int, shelves: Int, by first: Item) -> [SQL] {
    let (books, volumes) = (authors * booksOfAuthor, shelves * volumesOfShelf)
    let (least, most) = (volumes + 1, volumes + moreVolumes)
    return [
      "\(numbers(authors)) INSERT INTO Author SELECT i, printf('The author number %d', i) FROM n",
      "UPDATE Author SET name = \(first.name) WHERE id = 1",
      "\(numbers(books)) INSERT INTO Book SELECT i, printf('The book number %d', i), i % 997, i / 7.0 FROM n",
      "\(numbers(books)) INSERT INTO Author_books SELECT (i - 1) % \(authors) + 1, i << 20, i FROM n",
      "\(numbers(shelves)) INSERT INTO Shelf SELECT i, printf('The shelf number %d', i) FROM n",
      "UPDATE Shelf SET name = \(first.name) WHERE id = 1",
      "\(numbers(most)) INSERT INTO Volume SELECT i, iif(i < \(least), (i - 1) % \(shelves) + 1, 1) FROM n",
      "\(numbers(volumes)) INSERT INTO Shelf_volumes SELECT (i - 1) % \(shelves) + 1, i << 20, i FROM n",
      "\(numbers((authors + 9) / 10)) INSERT INTO Album (id, title) SELECT i, printf('The album number %d', i) FROM n",
      "UPDATE Album SET title = \(first.name) WHERE id = 1",
      "\(numbers(authors)) INSERT INTO Track (id, title, album) SELECT i, printf('The track number %d', i), (i + 9) / 10 FROM n",
      "UPDATE Track SET title = \(first.name) WHERE id = 1",
      "INSERT INTO Shelf_volumes SELECT shelf, id << 20, id FROM Volume WHERE id BETWEEN \(least) AND \(volumes + Int(first.quantity & 7))",
    ]
  }

  private static func numbers(_ count: Int) -> SQL {
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))"
  }
}

/// An author with books, as a plain value.
struct Author {
  var id: Int64
  var name: String
  var books: [Book]
}

/// A book as a plain value.
struct Book: Codable, Sendable {
  var id: Int64
  var title: String
  var pages: Int64
  var price: Double
}

/// A shelf as a plain value.
struct Shelf: Codable, Sendable {
  var id: Int64
  var name: String
}

/// A volume as a plain value. It stores its shelf, so that any volume proves that the correct shelf
/// was queried.
struct Volume: Codable, Sendable {
  var id: Int64
  var shelf: Int64
}

extension Checksum {
  init(of authors: [Author]) {
    for author in authors {
      add(id: author.id, name: author.name)
      for book in author.books {
        add(id: book.id, title: book.title, pages: book.pages, price: book.price)
      }
    }
  }

  init(of shelves: [Shelf]) {
    for shelf in shelves { add(id: shelf.id, name: shelf.name) }
  }

  init(of counts: [Int]) {
    for count in counts { add(Int64(count)) }
  }

  /// Adds an author or a shelf.
  mutating func add(id: Int64, name: String) {
    add(id)
    add(name)
  }

  /// Adds a book.
  mutating func add(id: Int64, title: String, pages: Int64, price: Double) {
    add(id: id, name: title)
    add(pages)
    add(price)
  }
}
