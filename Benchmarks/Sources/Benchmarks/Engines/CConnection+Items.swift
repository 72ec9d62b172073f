import CSQLite

extension CConnection {
  /// Creates the table and inserts `items` in one transaction.
  func create(_ items: [Item]) throws {
    try execute(Item.createTable)
    try insert(items)
  }

  func insert(_ items: [Item]) throws {
    try write(items, by: Item.insert)
  }

  /// Returns all items, ordered by id.
  func fetch() throws -> [Item] {
    let statement = try unsafe prepare(Item.selectAll)
    defer { unsafe sqlite3_finalize(statement) }
    var items: [Item] = []
    while try unsafe step(statement) {
      items.append(try unsafe Item(statement))
    }
    return items
  }
}
