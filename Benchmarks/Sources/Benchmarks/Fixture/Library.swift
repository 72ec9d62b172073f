import Foundation
import MagicData

/// A database with relations, made when the first case asks for it: authors with ten books each,
/// shelves with a hundred volumes each (a million links at 200,000 rows), and albums of ten tracks.
///
/// The fixture's first item tells some of the names, and how many more volumes the first shelf has, so
/// that a value that is planted there changes what every case finds.
struct Library {
  let path: String
  /// How many shelves there are.
  let shelves: Int
  /// Keys of volumes, at random but for the first.
  let volumes: [Int]

  static let booksOfAuthor = 10
  static let volumesOfShelf = 100
  /// How many volumes there are that only the first shelf may have.
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
      + (Self.moreVolumes..<Self.lookUps(in: fixture)).map { _ in
        Int.random(in: 1...count, using: &generator)
      }
    if FileManager.default.fileExists(atPath: path) { return }
    let magic = try MagicData(settingsAt: path)
    // Makes the tables, as the types ask for them.
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

  /// How many authors and shelves there are.
  static func owners(in fixture: Fixture) -> Int { max(1, fixture.items.count / 20) }

  /// How many volumes are looked up.
  static func lookUps(in fixture: Fixture) -> Int { max(moreVolumes, fixture.items.count / 20) }

  /// Links are spread over their targets: the books of an author are far from each other.
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

/// An author with its books, as a plain value.
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

/// A volume as a plain value: it tells which shelf it belongs to, so that any of a shelf's volumes
/// shows whether the right one was asked.
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
