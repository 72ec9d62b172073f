import Foundation

/// A row of the table that most cases use: eight columns with values of all storage classes. Two
/// columns contain NULL in some rows.
struct Item: Codable, Sendable {
  var id: Int64
  var name: String
  var quantity: Int64
  var price: Double
  var isActive: Bool
  var note: String?
  var rating: Double?
  var payload: Data

  static let createTable = """
    CREATE TABLE item (
      id INTEGER PRIMARY KEY, name TEXT NOT NULL, quantity INTEGER NOT NULL, price REAL NOT NULL,
      isActive INTEGER NOT NULL, note TEXT, rating REAL, payload BLOB NOT NULL)
    """
  static let selectAll = """
    SELECT id, name, quantity, price, isActive, note, rating, payload FROM item ORDER BY id
    """
  static let selectOne = """
    SELECT id, name, quantity, price, isActive, note, rating, payload FROM item WHERE id = ?
    """
  static let insert = """
    INSERT INTO item (id, name, quantity, price, isActive, note, rating, payload)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    """
  // Numbered parameters, so that the values can be bound in the order of `insert`.
  static let update = """
    UPDATE item SET name = ?2, quantity = ?3, price = ?4, isActive = ?5, note = ?6, rating = ?7,
      payload = ?8 WHERE id = ?1
    """
  static let upsert = """
    \(insert) ON CONFLICT (id) DO UPDATE SET name = excluded.name, quantity = excluded.quantity,
      price = excluded.price, isActive = excluded.isActive, note = excluded.note,
      rating = excluded.rating, payload = excluded.payload
    """
  static let delete = "DELETE FROM item WHERE id = ?"
  /// A query that reads every page of the table into the connection's cache.
  static let warm = "SELECT count(*) FROM item"
}

extension Item {
  /// Creates an item with random values: texts of up to 24 and 60 characters, some of them not
  /// ASCII, and 0 to 32 bytes of data.
  init(id: Int64, using generator: inout SplitMix64) {
    self.id = id
    name = Self.text(upTo: 24, using: &generator)
    quantity = Int64(
      truncatingIfNeeded: generator.next() >> UInt64.random(in: 0..<64, using: &generator))
    price = Double.random(in: 0..<1_000_000, using: &generator)
    isActive = Bool.random(using: &generator)
    note = generator.next() % 3 == 0 ? nil : Self.text(upTo: 60, using: &generator)
    rating = generator.next() % 4 == 0 ? nil : Double.random(in: -5...5, using: &generator)
    let count = Int.random(in: 0...32, using: &generator)
    payload = Data((0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
  }

  /// Changes the values slightly, so that they are wrong.
  mutating func plant() {
    name += "x"
    quantity = quantity &+ 1
    payload.append(0)
  }

  private static func text(upTo limit: Int, using generator: inout SplitMix64) -> String {
    let alphabet: [Character] = Array("abcdefghijklmnopqrstuvwxyz ABCDEFGHIJ 0123456789 éüßñ 東京 🚲")
    let isASCII = generator.next() % 8 != 0
    let letters = isASCII ? alphabet.prefix(48) : alphabet[...]
    let count = Int.random(in: 0...limit, using: &generator)
    return String((0..<count).compactMap { _ in letters.randomElement(using: &generator) })
  }
}
