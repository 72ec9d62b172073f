import SQLiteCore

extension CodableStore {
  /// Inserts an item behind the others of its table, which is made if need be.
  ///
  ///     try store.insert(item: ricardo)
  ///     try store.insert(on: "VIP", item: steve)
  ///
  /// - Parameters:
  ///   - table: The table, or nil for that of the type.
  ///   - item: The item. Another one that equals it may be there.
  /// - Throws: What encoding the item throws, or `SQLiteError`.
  public func insert<Item: Codable & Equatable>(on table: String? = nil, item: Item) throws {
    try insert(on: table, items: CollectionOfOne(item))
  }

  /// As ``insert(on:item:)``, without blocking the task.
  public func insert<Item: Codable & Equatable & Sendable>(
    on table: String? = nil, item: Item
  ) async throws {
    try await insert(on: table, items: [item])
  }

  /// Inserts items behind the others of their table, all or none of them.
  ///
  /// - Parameters:
  ///   - table: The table, or nil for that of the type.
  ///   - items: The items.
  /// - Throws: What encoding an item throws, or `SQLiteError`.
  /// - Complexity: O(*m*) in the number of items that are inserted, up to the index.
  public func insert<Items: Sequence>(
    on table: String? = nil, items: Items
  ) throws where Items.Element: Codable & Equatable {
    try writing(Items.Element.self, table) { try $0.insert(items) }
  }

  /// As ``insert(on:items:)``, without blocking the task.
  public func insert<Item: Codable & Equatable & Sendable>(
    on table: String? = nil, items: [Item]
  ) async throws {
    try await writing(Item.self, table) { try $0.insert(items) }
  }

  /// Replaces each item that equals one.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - table: The table, or nil for that of the type.
  /// - Returns: How many items were replaced.
  /// - Throws: What encoding the item throws, or `SQLiteError`.
  /// - Complexity: O(log *n*) for a type that is `Hashable`, else O(*n*).
  @discardableResult
  public func update<Item: Codable & Equatable>(
    item: Item, from table: String? = nil
  ) throws -> Int {
    try update(items: CollectionOfOne(item), from: table)
  }

  /// As ``update(item:from:)``, without blocking the task.
  @discardableResult
  public func update<Item: Codable & Equatable & Sendable>(
    item: Item, from table: String? = nil
  ) async throws -> Int {
    try await update(items: [item], from: table)
  }

  /// Replaces the items that equal one of several, all or none of them.
  ///
  /// - Parameters:
  ///   - items: The items.
  ///   - table: The table, or nil for that of the type.
  /// - Returns: How many items were replaced.
  /// - Throws: What encoding an item throws, or `SQLiteError`.
  @discardableResult
  public func update<Items: Sequence>(
    items: Items, from table: String? = nil
  ) throws -> Int where Items.Element: Codable & Equatable {
    try writing(Items.Element.self, table) { try $0.update(items) }
  }

  /// As ``update(items:from:)``, without blocking the task.
  @discardableResult
  public func update<Item: Codable & Equatable & Sendable>(
    items: [Item], from table: String? = nil
  ) async throws -> Int {
    try await writing(Item.self, table) { try $0.update(items) }
  }

  /// Changes all items that a filter takes.
  ///
  /// - Parameters:
  ///   - type: The type of the items.
  ///   - table: The table, or nil for that of the type.
  ///   - changes: Makes the new item of the old one.
  ///   - filter: Says which items to change.
  /// - Returns: How many items were changed.
  /// - Throws: What the functions or encoding an item throw, or `SQLiteError`; then none is changed.
  @discardableResult
  public func updateAllItems<Item: Codable & Equatable>(
    of type: Item.Type, from table: String? = nil, changes: (Item) throws -> Item,
    filter: (Item) throws -> Bool = { _ in true }
  ) throws -> Int {
    try writing(type, table) { try $0.updateAll(changes, filter) }
  }

  /// As ``updateAllItems(of:from:changes:filter:)``, without blocking the task.
  @discardableResult
  public func updateAllItems<Item: Codable & Equatable & Sendable>(
    of type: Item.Type, from table: String? = nil,
    changes: @escaping @Sendable (Item) throws -> Item,
    filter: @escaping @Sendable (Item) throws -> Bool = { _ in true }
  ) async throws -> Int {
    try await writing(type, table) { try $0.updateAll(changes, filter) }
  }

  /// Deletes each item that equals one.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - table: The table, or nil for that of the type.
  /// - Returns: How many items were deleted.
  /// - Throws: `SQLiteError`.
  /// - Complexity: O(log *n*) for a type that is `Hashable`, else O(*n*).
  @discardableResult
  public func delete<Item: Codable & Equatable>(
    item: Item, from table: String? = nil
  ) throws -> Int {
    try delete(items: CollectionOfOne(item), from: table)
  }

  /// As ``delete(item:from:)``, without blocking the task.
  @discardableResult
  public func delete<Item: Codable & Equatable & Sendable>(
    item: Item, from table: String? = nil
  ) async throws -> Int {
    try await delete(items: [item], from: table)
  }

  /// Deletes each item that equals one of several.
  ///
  /// - Parameters:
  ///   - items: The items.
  ///   - table: The table, or nil for that of the type.
  /// - Returns: How many items were deleted.
  /// - Throws: `SQLiteError`.
  @discardableResult
  public func delete<Items: Sequence>(
    items: Items, from table: String? = nil
  ) throws -> Int where Items.Element: Codable & Equatable {
    try writing(Items.Element.self, table) { try $0.delete(items) }
  }

  /// As ``delete(items:from:)``, without blocking the task.
  @discardableResult
  public func delete<Item: Codable & Equatable & Sendable>(
    items: [Item], from table: String? = nil
  ) async throws -> Int {
    try await writing(Item.self, table) { try $0.delete(items) }
  }

  /// Deletes all items that a filter takes.
  ///
  /// - Parameters:
  ///   - type: The type of the items.
  ///   - table: The table, or nil for that of the type.
  ///   - filter: Says which items to delete.
  /// - Returns: How many items were deleted.
  /// - Throws: What the filter throws, or `SQLiteError`; then none is deleted.
  @discardableResult
  public func deleteAllItems<Item: Codable & Equatable>(
    of type: Item.Type, from table: String? = nil, filter: (Item) throws -> Bool = { _ in true }
  ) throws -> Int {
    try writing(type, table) { try $0.deleteAll(filter) }
  }

  /// As ``deleteAllItems(of:from:filter:)``, without blocking the task.
  @discardableResult
  public func deleteAllItems<Item: Codable & Equatable & Sendable>(
    of type: Item.Type, from table: String? = nil,
    filter: @escaping @Sendable (Item) throws -> Bool = { _ in true }
  ) async throws -> Int {
    try await writing(type, table) { try $0.deleteAll(filter) }
  }
}

extension ItemCollection {
  func update(_ items: some Sequence<Item>) throws -> Int {
    var count = 0
    for item in items {
      let positions = try positions(of: item)
      try replace(positions.map { ($0, item) })
      count += positions.count
    }
    return count
  }

  func updateAll(
    _ changes: (Item) throws -> Item, _ filter: (Item) throws -> Bool
  ) throws -> Int {
    let changed = try stored(where: filter).map { ($0.position, try changes($0.item)) }
    try replace(changed)
    return changed.count
  }

  func delete(_ items: some Sequence<Item>) throws -> Int {
    var count = 0
    for item in items {
      let positions = try positions(of: item)
      try remove(positions)
      count += positions.count
    }
    return count
  }

  func deleteAll(_ filter: (Item) throws -> Bool) throws -> Int {
    let found = try stored(where: filter).map(\.position)
    try remove(found)
    return found.count
  }
}
