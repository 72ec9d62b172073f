import SQLiteCore

extension CodableStore {
  /// Inserts an item at the end of its table, and creates the table if necessary.
  ///
  ///     try store.insert(item: ricardo)
  ///     try store.insert(on: "VIP", item: steve)
  ///
  /// - Parameters:
  ///   - table: The table, or nil for the table of the type.
  ///   - item: The item to insert, even if the table already contains an equal one.
  /// - Throws: Any error that encoding the item throws, `SQLiteError` if the database can't be
  ///   written, or ``CodableStoreError/sameName(_:_:)`` if `table` is nil and another type uses the
  ///   table that is named after the type.
  @available(
    *, noasync,
    message: "blocks the thread; `await` needs a nonisolated, Sendable item type, in a function"
  )
  public func insert<Item: Codable & Equatable>(on table: String? = nil, item: Item) throws {
    try insert(on: table, items: CollectionOfOne(item))
  }

  /// Inserts an item at the end of its table, and suspends the task meanwhile.
  ///
  /// See the blocking ``insert(on:item:)`` for details.
  ///
  /// - Parameters:
  ///   - table: The table, or nil for the table of the type.
  ///   - item: The item to insert, even if the table already contains an equal one.
  /// - Throws: The errors of the blocking form, or `CancellationError`.
  public func insert<Item: Codable & Equatable & Sendable>(
    on table: String? = nil, item: Item
  ) async throws {
    try await insert(on: table, items: [item])
  }

  /// Inserts items at the end of their table, in one transaction. Creates the table if necessary.
  ///
  /// - Parameters:
  ///   - table: The table, or nil for the table of the type.
  ///   - items: The items to insert.
  /// - Throws: Any error that encoding an item throws, `SQLiteError` if the database can't be
  ///   written, or ``CodableStoreError/sameName(_:_:)`` if `table` is nil and another type uses the
  ///   table that is named after the type. No item is then inserted.
  /// - Complexity: O(*m* log *n*) for *m* new items in a table of *n* items.
  @available(
    *, noasync,
    message:
      "blocks the thread; `await` needs an array with a nonisolated, Sendable item type, in a function"
  )
  public func insert<Items: Sequence>(
    on table: String? = nil, items: Items
  ) throws where Items.Element: Codable & Equatable {
    try writing(Items.Element.self, table) { try $0.insert(items) }
  }

  /// Inserts items at the end of their table, in one transaction, and suspends the task meanwhile.
  ///
  /// See the blocking ``insert(on:items:)`` for details.
  ///
  /// - Parameters:
  ///   - table: The table, or nil for the table of the type.
  ///   - items: The items to insert.
  /// - Throws: The errors of the blocking form, or `CancellationError`.
  public func insert<Item: Codable & Equatable & Sendable>(
    on table: String? = nil, items: [Item]
  ) async throws {
    try await writing(Item.self, table) { try $0.insert(items) }
  }

  /// Replaces each stored item that equals `item` with `item`.
  ///
  /// - Parameters:
  ///   - item: The new item.
  ///   - table: The table, or nil for the table of the type.
  /// - Returns: The number of replaced items.
  /// - Throws: Any error that encoding the item throws, `SQLiteError` if the database can't be
  ///   written, or ``CodableStoreError/sameName(_:_:)`` if `table` is nil and another type uses the
  ///   table that is named after the type.
  /// - Complexity: O(log *n*) if the type is `Hashable`, otherwise O(*n*). The first lookup in a
  ///   process may have to compute the keys of all items.
  @available(
    *, noasync,
    message: "blocks the thread; `await` needs a nonisolated, Sendable item type, in a function"
  )
  @discardableResult
  public func update<Item: Codable & Equatable>(
    item: Item, from table: String? = nil
  ) throws -> Int {
    try update(items: CollectionOfOne(item), from: table)
  }

  /// Replaces each stored item that equals `item` with `item`, and suspends the task meanwhile.
  ///
  /// See the blocking ``update(item:from:)`` for details.
  ///
  /// - Parameters:
  ///   - item: The new item.
  ///   - table: The table, or nil for the table of the type.
  /// - Returns: The number of replaced items.
  /// - Throws: The errors of the blocking form, or `CancellationError`.
  @discardableResult
  public func update<Item: Codable & Equatable & Sendable>(
    item: Item, from table: String? = nil
  ) async throws -> Int {
    try await update(items: [item], from: table)
  }

  /// Replaces each stored item that equals one of `items` with that item, in one transaction.
  ///
  /// - Parameters:
  ///   - items: The new items.
  ///   - table: The table, or nil for the table of the type.
  /// - Returns: The number of replaced items.
  /// - Throws: Any error that encoding an item throws, `SQLiteError` if the database can't be
  ///   written, or ``CodableStoreError/sameName(_:_:)`` if `table` is nil and another type uses the
  ///   table that is named after the type. No item is then replaced.
  @available(
    *, noasync,
    message:
      "blocks the thread; `await` needs an array with a nonisolated, Sendable item type, in a function"
  )
  @discardableResult
  public func update<Items: Sequence>(
    items: Items, from table: String? = nil
  ) throws -> Int where Items.Element: Codable & Equatable {
    try writing(Items.Element.self, table) { try $0.update(items) }
  }

  /// Replaces each stored item that equals one of `items` with that item, in one transaction, and
  /// suspends the task meanwhile.
  ///
  /// See the blocking ``update(items:from:)`` for details.
  ///
  /// - Parameters:
  ///   - items: The new items.
  ///   - table: The table, or nil for the table of the type.
  /// - Returns: The number of replaced items.
  /// - Throws: The errors of the blocking form, or `CancellationError`.
  @discardableResult
  public func update<Item: Codable & Equatable & Sendable>(
    items: [Item], from table: String? = nil
  ) async throws -> Int {
    try await writing(Item.self, table) { try $0.update(items) }
  }

  /// Replaces all items that pass a filter, in one transaction. Skips values that can't be decoded.
  ///
  /// - Parameters:
  ///   - type: The type of the items.
  ///   - table: The table, or nil for the table of the type.
  ///   - changes: A closure that returns the new item for an old one.
  ///   - filter: A closure that returns whether to change an item.
  /// - Returns: The number of changed items.
  /// - Throws: Any error that a closure or encoding an item throws, `SQLiteError` if the database
  ///   can't be written, or ``CodableStoreError/sameName(_:_:)`` if `table` is nil and another type
  ///   uses the table that is named after the type. No item is then changed.
  @available(
    *, noasync,
    message:
      "blocks the thread; `await` needs a nonisolated, Sendable item type and closures, in a function"
  )
  @discardableResult
  public func updateAllItems<Item: Codable & Equatable>(
    of type: Item.Type, from table: String? = nil, changes: (Item) throws -> Item,
    filter: (Item) throws -> Bool = { _ in true }
  ) throws -> Int {
    try writing(type, table) { try $0.updateAll(changes, filter) }
  }

  /// Replaces all items that pass a filter, in one transaction, and suspends the task meanwhile.
  /// Skips values that can't be decoded.
  ///
  /// See the blocking ``updateAllItems(of:from:changes:filter:)`` for details.
  ///
  /// - Parameters:
  ///   - type: The type of the items.
  ///   - table: The table, or nil for the table of the type.
  ///   - changes: A closure that returns the new item for an old one.
  ///   - filter: A closure that returns whether to change an item.
  /// - Returns: The number of changed items.
  /// - Throws: The errors of the blocking form, or `CancellationError`.
  @discardableResult
  public func updateAllItems<Item: Codable & Equatable & Sendable>(
    of type: Item.Type, from table: String? = nil,
    changes: @escaping @Sendable (Item) throws -> Item,
    filter: @escaping @Sendable (Item) throws -> Bool = { _ in true }
  ) async throws -> Int {
    try await writing(type, table) { try $0.updateAll(changes, filter) }
  }

  /// Deletes each stored item that equals `item`.
  ///
  /// - Parameters:
  ///   - item: The item to delete.
  ///   - table: The table, or nil for the table of the type.
  /// - Returns: The number of deleted items.
  /// - Throws: `SQLiteError` if the database can't be written, or
  ///   ``CodableStoreError/sameName(_:_:)`` if `table` is nil and another type uses the table that
  ///   is named after the type.
  /// - Complexity: O(log *n*) if the type is `Hashable`, otherwise O(*n*). The first lookup in a
  ///   process may have to compute the keys of all items.
  @available(
    *, noasync,
    message: "blocks the thread; `await` needs a nonisolated, Sendable item type, in a function"
  )
  @discardableResult
  public func delete<Item: Codable & Equatable>(
    item: Item, from table: String? = nil
  ) throws -> Int {
    try delete(items: CollectionOfOne(item), from: table)
  }

  /// Deletes each stored item that equals `item`, and suspends the task meanwhile.
  ///
  /// See the blocking ``delete(item:from:)`` for details.
  ///
  /// - Parameters:
  ///   - item: The item to delete.
  ///   - table: The table, or nil for the table of the type.
  /// - Returns: The number of deleted items.
  /// - Throws: The errors of the blocking form, or `CancellationError`.
  @discardableResult
  public func delete<Item: Codable & Equatable & Sendable>(
    item: Item, from table: String? = nil
  ) async throws -> Int {
    try await delete(items: [item], from: table)
  }

  /// Deletes the stored items that equal one of `items`, in one transaction.
  ///
  /// - Parameters:
  ///   - items: The items to delete.
  ///   - table: The table, or nil for the table of the type.
  /// - Returns: The number of deleted items.
  /// - Throws: `SQLiteError` if the database can't be written, or
  ///   ``CodableStoreError/sameName(_:_:)`` if `table` is nil and another type uses the table that
  ///   is named after the type. No item is then deleted.
  @available(
    *, noasync,
    message:
      "blocks the thread; `await` needs an array with a nonisolated, Sendable item type, in a function"
  )
  @discardableResult
  public func delete<Items: Sequence>(
    items: Items, from table: String? = nil
  ) throws -> Int where Items.Element: Codable & Equatable {
    try writing(Items.Element.self, table) { try $0.delete(items) }
  }

  /// Deletes the stored items that equal one of `items`, in one transaction, and suspends the task
  /// meanwhile.
  ///
  /// See the blocking ``delete(items:from:)`` for details.
  ///
  /// - Parameters:
  ///   - items: The items to delete.
  ///   - table: The table, or nil for the table of the type.
  /// - Returns: The number of deleted items.
  /// - Throws: The errors of the blocking form, or `CancellationError`.
  @discardableResult
  public func delete<Item: Codable & Equatable & Sendable>(
    items: [Item], from table: String? = nil
  ) async throws -> Int {
    try await writing(Item.self, table) { try $0.delete(items) }
  }

  /// Deletes all items that pass a filter, in one transaction. Skips values that can't be decoded.
  ///
  /// - Parameters:
  ///   - type: The type of the items.
  ///   - table: The table, or nil for the table of the type.
  ///   - filter: A closure that returns whether to delete an item.
  /// - Returns: The number of deleted items.
  /// - Throws: Any error that `filter` throws, `SQLiteError` if the database can't be written, or
  ///   ``CodableStoreError/sameName(_:_:)`` if `table` is nil and another type uses the table that
  ///   is named after the type. No item is then deleted.
  @available(
    *, noasync,
    message:
      "blocks the thread; `await` needs a nonisolated, Sendable item type and closures, in a function"
  )
  @discardableResult
  public func deleteAllItems<Item: Codable & Equatable>(
    of type: Item.Type, from table: String? = nil, filter: (Item) throws -> Bool = { _ in true }
  ) throws -> Int {
    try writing(type, table) { try $0.deleteAll(filter) }
  }

  /// Deletes all items that pass a filter, in one transaction, and suspends the task meanwhile.
  /// Skips values that can't be decoded.
  ///
  /// See the blocking ``deleteAllItems(of:from:filter:)`` for details.
  ///
  /// - Parameters:
  ///   - type: The type of the items.
  ///   - table: The table, or nil for the table of the type.
  ///   - filter: A closure that returns whether to delete an item.
  /// - Returns: The number of deleted items.
  /// - Throws: The errors of the blocking form, or `CancellationError`.
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
