import CSQLite

/// An author as a class instance.
final class AuthorNode {
  var id: Int64
  var name: String
  var books: [BookNode] = []

  init(id: Int64, name: String) {
    self.id = id
    self.name = name
  }
}

/// A book as a class instance.
final class BookNode {
  var id: Int64
  var title: String
  var pages: Int64
  var price: Double

  init(id: Int64, title: String, pages: Int64, price: Double) {
    self.id = id
    self.title = title
    self.pages = pages
    self.price = price
  }
}

/// An album as a class instance.
final class AlbumNode {
  let id: Int64
  var title: String

  init(id: Int64, title: String) {
    self.id = id
    self.title = title
  }
}

/// A track as a class instance.
final class TrackNode {
  let id: Int64
  var title: String
  var album: AlbumNode

  init(id: Int64, title: String, album: AlbumNode) {
    self.id = id
    self.title = title
    self.album = album
  }
}

extension CConnection {
  /// Opens the database with relations and reads it into the cache.
  convenience init(warm library: Library) throws {
    try self.init(path: library.path)
    for sql in Library.warm { try execute(sql) }
  }

  /// Fetches all authors with their books, with one query for the authors and one for the books.
  ///
  /// Returns class instances, because MagicData's objects have reference semantics too.
  func fetchAuthors() throws -> [AuthorNode] {
    try execute("BEGIN")
    let authors = try unsafe prepare(Library.selectAuthors)
    defer { unsafe sqlite3_finalize(authors) }
    var found: [AuthorNode] = []
    while try unsafe step(authors) {
      found.append(
        AuthorNode(
          id: unsafe sqlite3_column_int64(authors, 0), name: try unsafe text(authors, 1)))
    }
    let books = try unsafe prepare(Library.selectBooks)
    defer { unsafe sqlite3_finalize(books) }
    var place = 0
    while try unsafe step(books) {
      let owner = unsafe sqlite3_column_int64(books, 0)
      while found[place].id < owner { place += 1 }
      found[place].books.append(
        BookNode(
          id: unsafe sqlite3_column_int64(books, 1), title: try unsafe text(books, 2),
          pages: unsafe sqlite3_column_int64(books, 3),
          price: unsafe sqlite3_column_double(books, 4)))
    }
    try execute("COMMIT")
    return found
  }

  /// Fetches all tracks with their albums, with one query for each table. The keys of the albums
  /// must be 1, 2, 3 and so on.
  func fetchTracks() throws -> [TrackNode] {
    let selection = try unsafe prepare(Library.selectAlbums)
    defer { unsafe sqlite3_finalize(selection) }
    var albums: [AlbumNode] = []
    while try unsafe step(selection) {
      albums.append(
        AlbumNode(
          id: unsafe sqlite3_column_int64(selection, 0), title: try unsafe text(selection, 1)))
    }
    let tracks = try unsafe prepare(Library.selectTracks)
    defer { unsafe sqlite3_finalize(tracks) }
    var found: [TrackNode] = []
    while try unsafe step(tracks) {
      found.append(
        TrackNode(
          id: unsafe sqlite3_column_int64(tracks, 0), title: try unsafe text(tracks, 1),
          album: albums[Int(unsafe sqlite3_column_int64(tracks, 2)) - 1]))
    }
    return found
  }

  /// Runs a query for each key and converts each row with `read`. Each query is a separate
  /// transaction, like a call of the other engines.
  @unsafe func forEach<Value>(
    _ keys: [Int], _ sql: String, _ read: (OpaquePointer) throws -> Value
  ) throws -> [Value] {
    let statement = try unsafe prepare(sql)
    defer { unsafe sqlite3_finalize(statement) }
    var found: [Value] = []
    for key in keys {
      try check(unsafe sqlite3_bind_int64(statement, 1, Int64(key)))
      while try unsafe step(statement) { found.append(try unsafe read(statement)) }
      try check(unsafe sqlite3_reset(statement))
    }
    return found
  }

  @unsafe func text(_ statement: OpaquePointer, _ column: Int32) throws -> String {
    guard let start = unsafe sqlite3_column_text(statement, column) else {
      throw Failure("a text is missing")
    }
    let count = unsafe sqlite3_column_bytes(statement, column)
    return unsafe String(
      decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
  }
}
