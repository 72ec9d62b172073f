extension Library {
  /// Queries that read every page of the tables and links into the connection's cache.
  static let warm = [
    "SELECT sum(length(name)) FROM Author", "SELECT sum(length(title)) FROM Book",
    "SELECT sum(target) FROM Author_books", "SELECT sum(length(name)) FROM Shelf",
    "SELECT sum(shelf) FROM Volume", "SELECT sum(position) FROM Shelf_volumes",
    "SELECT sum(owner) FROM Shelf_volumes WHERE target > 0",
    "SELECT sum(length(title)) FROM Album", "SELECT sum(length(title)) FROM Track",
  ]
  static let selectAuthors = "SELECT id, name FROM Author ORDER BY id"
  static let selectBooks = """
    SELECT link.owner, Book.id, Book.title, Book.pages, Book.price
    FROM Author_books AS link JOIN Book ON Book.id = link.target
    ORDER BY link.owner, link.position
    """
  static let selectAlbums = "SELECT id, title FROM Album ORDER BY id"
  static let selectTracks = "SELECT id, title, album FROM Track ORDER BY id"
  static let selectShelvesOfVolume = """
    SELECT Shelf.id, Shelf.name FROM Shelf_volumes AS link JOIN Shelf ON Shelf.id = link.owner
    WHERE link.target = ? ORDER BY Shelf.id
    """
  static let countShelvesOfVolume = """
    SELECT count(DISTINCT owner) FROM Shelf_volumes WHERE target = ?
    """
  static let countVolumesOfShelf = "SELECT count(*) FROM Shelf_volumes WHERE owner = ?"
  static let selectVolumeOfShelf = """
    SELECT Volume.shelf FROM Shelf_volumes AS link JOIN Volume ON Volume.id = link.target
    WHERE link.owner = ? ORDER BY link.position LIMIT 1 OFFSET ?
    """
}
