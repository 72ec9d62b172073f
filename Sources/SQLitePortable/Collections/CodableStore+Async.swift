import SQLiteCore

extension CodableStore {
  /// As the blocking ``read(from:filter:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - table: The table, or nil for that of the type.
  ///   - filter: Says which items to take; it runs on a thread of the database's own.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func read<Item: Codable & Equatable & Sendable>(
    from table: String? = nil, filter: @escaping @Sendable (Item) throws -> Bool = { _ in true }
  ) async throws -> [Item] {
    let name = try self.table(of: Item.self, table)
    return try await database.read { [self] in try collection(of: Item.self, name, $0).read(filter)
    }
  }

  /// As the blocking ``readReport(of:from:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - type: The type of the items.
  ///   - table: The table, or nil for that of the type.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func readReport<Item: Codable & Equatable & Sendable>(
    of type: Item.Type, from table: String? = nil
  ) async throws -> ReadReport<Item> {
    let name = try self.table(of: type, table)
    return try await database.read { [self] in try collection(of: Item.self, name, $0).report() }
  }

  /// As the blocking ``contains(item:in:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - table: The table, or nil for that of the type.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func contains<Item: Codable & Equatable & Sendable>(
    item: Item, in table: String? = nil
  ) async throws -> Bool {
    let name = try self.table(of: Item.self, table)
    return try await database.write { [self] in
      try !collection(of: Item.self, name, $0).positions(of: item).isEmpty
    }
  }

  /// As the blocking ``insert(on:item:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - table: The table, or nil for that of the type.
  ///   - item: The item.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func insert<Item: Codable & Equatable & Sendable>(
    on table: String? = nil, item: Item
  ) async throws {
    try await insert(on: table, items: [item])
  }

  /// As the blocking ``insert(on:items:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - table: The table, or nil for that of the type.
  ///   - items: The items.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func insert<Item: Codable & Equatable & Sendable>(
    on table: String? = nil, items: [Item]
  ) async throws {
    let name = try self.table(of: Item.self, table)
    try await database.write { [self] in try collection(of: Item.self, name, $0).insert(items) }
  }

  /// As the blocking ``update(item:from:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - table: The table, or nil for that of the type.
  /// - Returns: How many items were replaced.
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func update<Item: Codable & Equatable & Sendable>(
    item: Item, from table: String? = nil
  ) async throws -> Int {
    try await update(items: [item], from: table)
  }

  /// As the blocking ``update(items:from:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - items: The items.
  ///   - table: The table, or nil for that of the type.
  /// - Returns: How many items were replaced.
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func update<Item: Codable & Equatable & Sendable>(
    items: [Item], from table: String? = nil
  ) async throws -> Int {
    let name = try self.table(of: Item.self, table)
    return try await database.write { [self] in
      try collection(of: Item.self, name, $0).update(items)
    }
  }

  /// As the blocking ``updateAllItems(of:from:changes:filter:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - type: The type of the items.
  ///   - table: The table, or nil for that of the type.
  ///   - changes: Makes the new item of the old one, on a thread of the database's own.
  ///   - filter: Says which items to change, on a thread of the database's own.
  /// - Returns: How many items were changed.
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func updateAllItems<Item: Codable & Equatable & Sendable>(
    of type: Item.Type, from table: String? = nil,
    changes: @escaping @Sendable (Item) throws -> Item,
    filter: @escaping @Sendable (Item) throws -> Bool = { _ in true }
  ) async throws -> Int {
    let name = try self.table(of: type, table)
    return try await database.write { [self] in
      try collection(of: Item.self, name, $0).updateAll(changes, filter)
    }
  }

  /// As the blocking ``delete(item:from:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - table: The table, or nil for that of the type.
  /// - Returns: How many items were deleted.
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func delete<Item: Codable & Equatable & Sendable>(
    item: Item, from table: String? = nil
  ) async throws -> Int {
    try await delete(items: [item], from: table)
  }

  /// As the blocking ``delete(items:from:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - items: The items.
  ///   - table: The table, or nil for that of the type.
  /// - Returns: How many items were deleted.
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func delete<Item: Codable & Equatable & Sendable>(
    items: [Item], from table: String? = nil
  ) async throws -> Int {
    let name = try self.table(of: Item.self, table)
    return try await database.write { [self] in
      try collection(of: Item.self, name, $0).delete(items)
    }
  }

  /// As the blocking ``deleteAllItems(of:from:filter:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - type: The type of the items.
  ///   - table: The table, or nil for that of the type.
  ///   - filter: Says which items to delete, on a thread of the database's own.
  /// - Returns: How many items were deleted.
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func deleteAllItems<Item: Codable & Equatable & Sendable>(
    of type: Item.Type, from table: String? = nil,
    filter: @escaping @Sendable (Item) throws -> Bool = { _ in true }
  ) async throws -> Int {
    let name = try self.table(of: type, table)
    return try await database.write { [self] in
      try collection(of: Item.self, name, $0).deleteAll(filter)
    }
  }

  /// As the blocking ``count(of:in:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - type: The type of the items.
  ///   - table: The table, or nil for that of the type.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func count<Item: Codable & Equatable & Sendable>(
    of type: Item.Type, in table: String? = nil
  ) async throws -> Int {
    let name = try self.table(of: type, table)
    return try await database.read { [self] in try collection(of: Item.self, name, $0).count() }
  }

  /// As the blocking ``removeUndecodable(in:as:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - table: The table, or nil for that of the type.
  ///   - type: The type of the items.
  /// - Returns: What was deleted.
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func removeUndecodable<Item: Codable & Equatable & Sendable>(
    in table: String? = nil, as type: Item.Type
  ) async throws -> [UndecodableItem] {
    let name = try self.table(of: type, table)
    return try await database.write { [self] in
      try collection(of: Item.self, name, $0).removeUndecodable()
    }
  }

  /// As the blocking ``tableNames()``, suspending the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func tableNames() async throws -> [String] {
    try await database.read { try CollectionCatalog(connection: $0).names() }
  }
}
