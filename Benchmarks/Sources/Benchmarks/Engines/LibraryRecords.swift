import MagicData

/// An author as a record, linked to its books by a link table.
struct AuthorRecord: Record {
  static let tableName = "Author"
  static let books = CrossReference<AuthorRecord, Book>(
    "Author_books", leftKeyName: "owner", rightKeyName: "target")

  var id: Int64
  var name: String
}

extension Book: Record {
  static let tableName = "Book"
}

/// A shelf as a record.
struct ShelfRecord: Record {
  static let tableName = "Shelf"
  static let volumes = CrossReference<ShelfRecord, VolumeRecord>(
    "Shelf_volumes", leftKeyName: "owner", rightKeyName: "target")

  var id: Int64
  var name: String
}

/// A volume as a record.
struct VolumeRecord: Record {
  static let tableName = "Volume"

  var id: Int64
  var shelf: Int64
}

extension Database {
  /// Opens the database with relations and reads it into the cache.
  convenience init(warm library: Library) throws {
    try self.init(settingsAt: library.path)
    for sql in Library.warm { _ = try executeQuery(SQL(unchecked: sql)) }
  }
}
