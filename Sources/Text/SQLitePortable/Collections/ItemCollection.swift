import SQLiteCore
import SQLiteMapping

/// The items in one table of a ``CodableStore``, accessed within one transaction.
struct ItemCollection<Item: Codable & Equatable> {
  let name: String
  let connection: Connection
  let coder: any NestedCoder
  private let keys = KeyMaker<Item>()

  init(name: String, connection: Connection, coder: any NestedCoder) {
    self.name = name
    self.connection = connection
    self.coder = coder
  }

  /// An item and its position in the table.
  typealias Stored = (position: Int64, item: Item)

  private var catalog: CollectionCatalog { CollectionCatalog(connection: connection) }
  private var wantedKeys: String { keys?.kind ?? "none" }

  func insert(_ items: some Sequence<Item>) throws {
    let entry = try catalog.entry(name) ?? catalog.add(name, keys: wantedKeys)
    // Keys of another kind are recomputed when they are needed.
    let makesKeys = entry.keys == wantedKeys
    var insert = try connection.statement(
      "INSERT INTO \(identifier: entry.table) (key, item) VALUES (?, ?)")
    for item in items {
      try insert.run(makesKeys ? keys?.key(item) ?? .null : .null, coder.encode(item))
    }
  }

  /// Calls `body` with each item in the order of the positions, and `undecodable` with each value
  /// that can't be decoded.
  func forEach(
    _ body: (Stored) throws -> Void, undecodable: (UndecodableItem) -> Void
  ) throws {
    guard let entry = try catalog.entry(name) else { return }
    try connection.forEachRow(
      "SELECT position, item FROM \(identifier: entry.table) ORDER BY position"
    ) { row in
      let position = try row.get(0, as: Int64.self)
      let item: Item
      do {
        item = try coder.decode(Item.self, from: row.value(at: 1))
      } catch {
        return undecodable(UndecodableItem(position: position, reason: "\(error)"))
      }
      try body((position, item))
    }
  }

  func stored(where filter: (Item) throws -> Bool) throws -> [Stored] {
    var found: [Stored] = []
    try forEach({ if try filter($0.item) { found.append($0) } }, undecodable: { _ in })
    return found
  }

  /// Returns the positions of the items that equal `item`. Writes the keys of items that have none
  /// for this process and type.
  func positions(of item: Item) throws -> [Int64] {
    guard let keys else { return try stored { $0 == item }.map(\.position) }
    guard let entry = try catalog.entry(name) else { return [] }
    if entry.keys != wantedKeys { try makeKeys(entry) }
    let key = keys.key(item)
    var found: [Int64] = []
    // An item without a key was written by another process, or can't be decoded.
    var unknown: [Stored] = []
    var candidates = try connection.statement(
      """
      SELECT position, item, key IS NULL FROM \(identifier: entry.table)
      WHERE key = ?1 OR key IS NULL ORDER BY position
      """)
    try candidates.bind(key)
    while try candidates.step() {
      guard let other = try? coder.decode(Item.self, from: candidates.value(at: 1)) else {
        continue
      }
      let position = try candidates.get(0, as: Int64.self)
      if try candidates.get(2, as: Bool.self) { unknown.append((position, other)) }
      if other == item { found.append(position) }
    }
    try setKeys(of: unknown, entry)
    return found
  }

  /// Recomputes the keys of all items and their index, with only one item in memory at a time.
  private func makeKeys(_ entry: CollectionCatalog.Entry) throws {
    guard let keys else { return }
    try catalog.set(keys: wantedKeys, of: name)
    try catalog.removeIndex(entry.table)
    var update = try connection.statement(
      "UPDATE \(identifier: entry.table) SET key = ? WHERE position = ?")
    // The scan is ordered by position, which the updates don't change.
    try connection.forEachRow(
      "SELECT position, item FROM \(identifier: entry.table) ORDER BY position"
    ) { row in
      let item = try? coder.decode(Item.self, from: row.value(at: 1))
      try update.run(item.map(keys.key) ?? .null, row.get(0, as: Int64.self))
    }
    try catalog.makeIndex(entry.table)
  }

  private func setKeys(of items: [Stored], _ entry: CollectionCatalog.Entry) throws {
    guard let keys, !items.isEmpty else { return }
    var update = try connection.statement(
      "UPDATE \(identifier: entry.table) SET key = ? WHERE position = ?")
    for (position, item) in items { try update.run(keys.key(item), position) }
  }

  /// Replaces the stored item at each position in `items` with the item of the same pair.
  func replace(_ items: [Stored]) throws {
    guard !items.isEmpty, let entry = try catalog.entry(name) else { return }
    let makesKeys = entry.keys == wantedKeys
    var update = try connection.statement(
      "UPDATE \(identifier: entry.table) SET key = ?, item = ? WHERE position = ?")
    for (position, item) in items {
      try update.run(
        makesKeys ? keys?.key(item) ?? .null : .null, coder.encode(item), position)
    }
  }

  func remove(_ positions: [Int64]) throws {
    guard !positions.isEmpty, let entry = try catalog.entry(name) else { return }
    var delete = try connection.statement(
      "DELETE FROM \(identifier: entry.table) WHERE position = ?")
    for position in positions { try delete.run(position) }
  }

  func count() throws -> Int {
    guard let entry = try catalog.entry(name) else { return 0 }
    return try connection.firstRow(
      "SELECT count(*) FROM \(identifier: entry.table)", as: Int.self) ?? 0
  }
}

/// The function that computes the keys of the items of a type. Equal items have equal keys, so that
/// an index on the keys finds them.
///
/// The key of an item is its hash value, because `hash(into:)` is the only function of a type that
/// must agree with `==`. An `id` need not. Hash values differ between processes, so keys are valid
/// in one process only. The catalog records the process and type that computed the keys of a table.
/// The first lookup by another process or type recomputes them.
struct KeyMaker<Item> {
  /// The text in the catalog that identifies the process and type of a table's keys.
  let kind: String
  let key: (Item) -> Value

  /// Creates the key function of a type, or returns nil if the type isn't `Hashable`.
  init?() {
    guard let type = Item.self as? any Hashable.Type else { return nil }
    kind = "hash \(processToken) \(UInt(bitPattern: ObjectIdentifier(Item.self)))"
    key = { item in Self.hash(item, as: type) }
  }

  private static func hash<Same: Hashable>(_ item: Item, as type: Same.Type) -> Value {
    guard let item = item as? Same else { return .null }
    return .integer(Int64(item.hashValue))
  }
}

/// A random number that identifies this process.
private let processToken = UInt64.random(in: 0 ... .max)
