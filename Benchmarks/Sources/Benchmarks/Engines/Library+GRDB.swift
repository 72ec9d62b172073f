import GRDB

/// A link between an author and a book, for GRDB's associations.
struct AuthorLink: TableRecord {
  static let databaseTableName = "Author_books"
  static let book = belongsTo(Book.self, using: ForeignKey(["target"]))
}

/// A link between a shelf and a volume.
struct ShelfLink: TableRecord {
  static let databaseTableName = "Shelf_volumes"
  static let volume = belongsTo(Volume.self, using: ForeignKey(["target"]))
  static let shelf = belongsTo(Shelf.self, using: ForeignKey(["owner"]))
}

extension Author: TableRecord, FetchableRecord {
  static let links = hasMany(AuthorLink.self, using: ForeignKey(["owner"]))
    .order(Column("position"))
  static let books = hasMany(Book.self, through: links, using: AuthorLink.book).forKey("books")

  init(row: Row) throws {
    id = row["id"]
    name = row["name"]
    books = row["books"]
  }
}

/// An author with a conformance derived from Codable.
struct CodableAuthor: Codable, TableRecord, FetchableRecord {
  static let databaseTableName = "Author"

  var id: Int64
  var name: String
  var books: [CodableBook]
}

/// A book with a conformance derived from Codable.
struct CodableBook: Codable, TableRecord, FetchableRecord {
  static let databaseTableName = "Book"

  var id: Int64
  var title: String
  var pages: Int64
  var price: Double
}

struct CodableAuthorLink: TableRecord {
  static let databaseTableName = "Author_books"
  static let book = belongsTo(CodableBook.self, using: ForeignKey(["target"]))
}

extension CodableAuthor {
  static let links = hasMany(CodableAuthorLink.self, using: ForeignKey(["owner"]))
    .order(Column("position"))
  static let books = hasMany(CodableBook.self, through: links, using: CodableAuthorLink.book)
    .forKey("books")
}

extension Book: TableRecord, FetchableRecord {
  init(row: Row) {
    self.init(id: row["id"], title: row["title"], pages: row["pages"], price: row["price"])
  }
}

extension Shelf: TableRecord, FetchableRecord {
  static let links = hasMany(ShelfLink.self, using: ForeignKey(["owner"]))
  static let volumes = hasMany(Volume.self, through: links, using: ShelfLink.volume)

  init(row: Row) {
    self.init(id: row["id"], name: row["name"])
  }
}

extension Volume: TableRecord, FetchableRecord {
  static let links = hasMany(ShelfLink.self, using: ForeignKey(["target"]))
  static let shelves = hasMany(Shelf.self, through: links, using: ShelfLink.shelf)

  init(row: Row) {
    self.init(id: row["id"], shelf: row["shelf"])
  }
}

extension Shelf: EncodableRecord {}
extension Volume: EncodableRecord {}

extension DatabaseQueue {
  /// Opens the database with relations and reads it into the cache.
  convenience init(warm library: Library) throws {
    try self.init(settingsAt: library.path)
    try inDatabase { database in
      for sql in Library.warm { _ = try Row.fetchOne(database, sql: sql) }
    }
  }
}
