import CSQLite

extension CConnection {
  /// Creates the table and inserts `items` in one transaction.
  func create(_ items: [Item]) throws {
    try execute(Item.createTable)
    try insert(items)
  }

  func insert(_ items: [Item]) throws {
    try execute("BEGIN IMMEDIATE")
    let statement = try unsafe prepare(Item.insert)
    defer { unsafe sqlite3_finalize(statement) }
    for item in items {
      try unsafe item.bind(to: statement, of: self)
      _ = try unsafe step(statement)
      try check(unsafe sqlite3_reset(statement))
    }
    try execute("COMMIT")
  }

  /// Returns all items, by id.
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
