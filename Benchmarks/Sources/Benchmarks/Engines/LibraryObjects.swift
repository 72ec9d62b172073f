import MagicData

/// An author as an object of a store. Its books are fetched together with it.
struct AuthorObject: MagicObject {
  static let tableName = "Author"

  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var books: [BookObject]

  init() {}

  init(named name: String) {
    self.name = name
    books = []
  }
}

struct BookObject: MagicObject {
  static let tableName = "Book"

  @PrimaryMagicValue var id: Int
  @MagicValue var title: String
  @MagicValue var pages: Int64
  @MagicValue var price: Double

  init() {}
}

/// A shelf as an object of a store. Its volumes are fetched on demand.
struct ShelfObject: MagicObject {
  static let tableName = "Shelf"

  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var volumes: AsyncMagical<[VolumeObject]>

  init() {}

  init(named name: String) {
    self.name = name
    volumes = AsyncMagical(value: [])
  }
}

struct VolumeObject: MagicObject {
  static let tableName = "Volume"

  @PrimaryMagicValue var id: Int
  @MagicValue var shelf: Int64
  @ReverseMagicValue(\ShelfObject.$volumes) var shelves: AsyncReverseMagicSet<ShelfObject>

  init() {}
}

struct AlbumObject: MagicObject {
  static let tableName = "Album"

  @PrimaryMagicValue var id: Int
  @MagicValue var title: String

  init() {}

  init(titled title: String) { self.title = title }
}

/// A track as an object of a store. Its album is fetched together with it.
struct TrackObject: MagicObject {
  static let tableName = "Track"

  @PrimaryMagicValue var id: Int
  @MagicValue var title: String
  @MagicValue var album: AlbumObject

  init() {}

  init(on album: AlbumObject) {
    title = ""
    self.album = album
  }
}

extension MagicData {
  /// Opens the store with relations and reads it into the cache.
  convenience init(warm library: Library) throws {
    try self.init(settingsAt: library.path)
    for sql in Library.warm { _ = try database.executeQuery(SQL(unchecked: sql)) }
  }
}
