import SQLiteCore

extension CodableStore {
  /// Reads the items of a type, which is inferred, in the order in which they were inserted.
  ///
  ///     let people: [Person] = try store.read()
  ///     let adults: [Person] = try store.read { $0.age >= 18 }
  ///
  /// - Parameters:
  ///   - table: The table, or nil for that of the type. One that does not exist has no items.
  ///   - filter: Says which items to take.
  /// - Throws: ``CodableStoreError/undecodable(table:count:first:)`` if there is a value that is no such
  ///   item, `SQLiteError`, or what `filter` throws.
  /// - Complexity: O(*n*) in the number of items in the table.
  public func read<Item: Codable & Equatable>(
    from table: String? = nil, filter: (Item) throws -> Bool = { _ in true }
  ) throws -> [Item] {
    try reading(Item.self, table) { try $0.read(filter) }
  }

  /// As ``read(from:filter:)``, without blocking the task.
  public func read<Item: Codable & Equatable & Sendable>(
    from table: String? = nil, filter: @escaping @Sendable (Item) throws -> Bool = { _ in true }
  ) async throws -> [Item] {
    try await reading(Item.self, table) { try $0.read(filter) }
  }

  /// Reads what can be read of a table, and says what cannot.
  ///
  /// - Parameters:
  ///   - type: The type of the items.
  ///   - table: The table, or nil for that of the type.
  /// - Throws: `SQLiteError`.
  public func readReport<Item: Codable & Equatable>(
    of type: Item.Type, from table: String? = nil
  ) throws -> (items: [Item], undecodable: [UndecodableItem]) {
    try reading(type, table) { try $0.report() }
  }

  /// As ``readReport(of:from:)``, without blocking the task.
  public func readReport<Item: Codable & Equatable & Sendable>(
    of type: Item.Type, from table: String? = nil
  ) async throws -> (items: [Item], undecodable: [UndecodableItem]) {
    try await reading(type, table) { try $0.report() }
  }

  /// Returns whether an item that equals one is stored.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - table: The table, or nil for that of the type.
  /// - Throws: `SQLiteError`.
  /// - Complexity: O(log *n*) for a type that is `Hashable`, else O(*n*).
  public func contains<Item: Codable & Equatable>(
    item: Item, in table: String? = nil
  ) throws -> Bool {
    // Keys may have to be made.
    try writing(Item.self, table) { try !$0.positions(of: item).isEmpty }
  }

  /// As ``contains(item:in:)``, without blocking the task.
  public func contains<Item: Codable & Equatable & Sendable>(
    item: Item, in table: String? = nil
  ) async throws -> Bool {
    try await writing(Item.self, table) { try !$0.positions(of: item).isEmpty }
  }

  /// The number of values in a table, whether they can be read or not.
  ///
  /// - Parameters:
  ///   - type: The type of the items.
  ///   - table: The table, or nil for that of the type.
  /// - Throws: `SQLiteError`.
  public func count<Item: Codable & Equatable>(
    of type: Item.Type, in table: String? = nil
  ) throws -> Int {
    try reading(type, table) { try $0.count() }
  }

  /// As ``count(of:in:)``, without blocking the task.
  public func count<Item: Codable & Equatable & Sendable>(
    of type: Item.Type, in table: String? = nil
  ) async throws -> Int {
    try await reading(type, table) { try $0.count() }
  }

  /// Deletes the values of a table that cannot be read as items.
  ///
  /// - Parameters:
  ///   - table: The table, or nil for that of the type.
  ///   - type: The type of the items.
  /// - Returns: What was deleted.
  /// - Throws: `SQLiteError`.
  @discardableResult
  public func removeUndecodable<Item: Codable & Equatable>(
    in table: String? = nil, as type: Item.Type
  ) throws -> [UndecodableItem] {
    try writing(type, table) { try $0.removeUndecodable() }
  }

  /// As ``removeUndecodable(in:as:)``, without blocking the task.
  @discardableResult
  public func removeUndecodable<Item: Codable & Equatable & Sendable>(
    in table: String? = nil, as type: Item.Type
  ) async throws -> [UndecodableItem] {
    try await writing(type, table) { try $0.removeUndecodable() }
  }
}

extension ItemCollection {
  func read(_ filter: (Item) throws -> Bool) throws -> [Item] {
    var items: [Item] = []
    var count = 0
    var first: UndecodableItem?
    try forEach({ if try filter($0.item) { items.append($0.item) } }) { undecodable in
      count += 1
      first = first ?? undecodable
    }
    if let first { throw CodableStoreError.undecodable(table: name, count: count, first: first) }
    return items
  }

  func removeUndecodable() throws -> [UndecodableItem] {
    let undecodable = try report().undecodable
    try remove(undecodable.map(\.position))
    return undecodable
  }

  func report() throws -> (items: [Item], undecodable: [UndecodableItem]) {
    var report: (items: [Item], undecodable: [UndecodableItem]) = ([], [])
    try forEach({ report.items.append($0.item) }, undecodable: { report.undecodable.append($0) })
    return report
  }
}
