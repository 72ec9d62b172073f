import SQLiteCore

extension CodableStore {
  /// Returns the items of a table that pass a filter, in the order in which you inserted them.
  ///
  ///     let people: [Person] = try store.read()
  ///     let adults: [Person] = try store.read { $0.age >= 18 }
  ///
  /// - Parameters:
  ///   - table: The table, or nil for the table of the type. A missing table has no items.
  ///   - filter: A closure that returns whether to include an item.
  /// - Returns: The items for which `filter` returns true.
  /// - Throws: ``CodableStoreError/undecodable(table:count:first:)`` if a value can't be decoded as
  ///   an item, ``CodableStoreError/sameName(_:_:)`` if `table` is nil and another type uses the
  ///   table that is named after the type, `SQLiteError` if the database can't be read, or any
  ///   error that `filter` throws.
  /// - Complexity: O(*n*) in the number of items in the table.
  @available(
    *, noasync,
    message:
      "blocks the thread; `await` needs a nonisolated, Sendable item type and closures, in a function"
  )
  public func read<Item: Codable & Equatable>(
    from table: String? = nil, filter: (Item) throws -> Bool = { _ in true }
  ) throws -> [Item] {
    try reading(Item.self, table) { try $0.read(filter) }
  }

  /// Returns the items of a table that pass a filter, and suspends the task meanwhile.
  ///
  /// See the blocking ``read(from:filter:)`` for details.
  ///
  /// - Parameters:
  ///   - table: The table, or nil for the table of the type. A missing table has no items.
  ///   - filter: A closure that returns whether to include an item.
  /// - Returns: The items for which `filter` returns true.
  /// - Throws: The errors of the blocking form, or `CancellationError`.
  public func read<Item: Codable & Equatable & Sendable>(
    from table: String? = nil, filter: @escaping @Sendable (Item) throws -> Bool = { _ in true }
  ) async throws -> [Item] {
    try await reading(Item.self, table) { try $0.read(filter) }
  }

  /// Returns the items of a table, and a report of the values that can't be decoded.
  ///
  /// - Parameters:
  ///   - type: The type of the items.
  ///   - table: The table, or nil for the table of the type.
  /// - Returns: The items, and the values that can't be decoded, each with the reason.
  /// - Throws: `SQLiteError` if the database can't be read, or ``CodableStoreError/sameName(_:_:)``
  ///   if `table` is nil and another type uses the table that is named after the type.
  @available(
    *, noasync,
    message: "blocks the thread; `await` needs a nonisolated, Sendable item type, in a function"
  )
  public func readReport<Item: Codable & Equatable>(
    of type: Item.Type, from table: String? = nil
  ) throws -> (items: [Item], undecodable: [UndecodableItem]) {
    try reading(type, table) { try $0.report() }
  }

  /// Returns the items of a table, and a report of the values that can't be decoded. Suspends the
  /// task meanwhile.
  ///
  /// - Parameters:
  ///   - type: The type of the items.
  ///   - table: The table, or nil for the table of the type.
  /// - Returns: The items, and the values that can't be decoded, each with the reason.
  /// - Throws: The errors of the blocking form, or `CancellationError`.
  public func readReport<Item: Codable & Equatable & Sendable>(
    of type: Item.Type, from table: String? = nil
  ) async throws -> (items: [Item], undecodable: [UndecodableItem]) {
    try await reading(type, table) { try $0.report() }
  }

  /// Returns whether a table contains an item that equals `item`.
  ///
  /// - Parameters:
  ///   - item: The item to find.
  ///   - table: The table, or nil for the table of the type.
  /// - Returns: True if there is such an item.
  /// - Throws: `SQLiteError` if the database can't be read or written, because the call may write
  ///   the keys of the index; ``CodableStoreError/sameName(_:_:)`` if `table` is nil and another
  ///   type uses the table that is named after the type.
  /// - Complexity: O(log *n*) if the type is `Hashable`, otherwise O(*n*). The first lookup in a
  ///   process may have to compute the keys of all items.
  @available(
    *, noasync,
    message: "blocks the thread; `await` needs a nonisolated, Sendable item type, in a function"
  )
  public func contains<Item: Codable & Equatable>(
    item: Item, in table: String? = nil
  ) throws -> Bool {
    // A write, because the keys may have to be recomputed.
    try writing(Item.self, table) { try !$0.positions(of: item).isEmpty }
  }

  /// Returns whether a table contains an item that equals `item`, and suspends the task meanwhile.
  ///
  /// See the blocking ``contains(item:in:)`` for details.
  ///
  /// - Parameters:
  ///   - item: The item to find.
  ///   - table: The table, or nil for the table of the type.
  /// - Returns: True if there is such an item.
  /// - Throws: The errors of the blocking form, or `CancellationError`.
  public func contains<Item: Codable & Equatable & Sendable>(
    item: Item, in table: String? = nil
  ) async throws -> Bool {
    try await writing(Item.self, table) { try !$0.positions(of: item).isEmpty }
  }

  /// Returns the number of values in a table, including those that can't be decoded.
  ///
  /// - Parameters:
  ///   - type: The type of the items.
  ///   - table: The table, or nil for the table of the type.
  /// - Returns: The number of values, or 0 if the table is missing.
  /// - Throws: `SQLiteError` if the database can't be read, or ``CodableStoreError/sameName(_:_:)``
  ///   if `table` is nil and another type uses the table that is named after the type.
  @available(
    *, noasync,
    message: "blocks the thread; `await` needs a nonisolated, Sendable item type, in a function"
  )
  public func count<Item: Codable & Equatable>(
    of type: Item.Type, in table: String? = nil
  ) throws -> Int {
    try reading(type, table) { try $0.count() }
  }

  /// Returns the number of values in a table, including those that can't be decoded, and suspends
  /// the task meanwhile.
  ///
  /// - Parameters:
  ///   - type: The type of the items.
  ///   - table: The table, or nil for the table of the type.
  /// - Returns: The number of values, or 0 if the table is missing.
  /// - Throws: The errors of the blocking form, or `CancellationError`.
  public func count<Item: Codable & Equatable & Sendable>(
    of type: Item.Type, in table: String? = nil
  ) async throws -> Int {
    try await reading(type, table) { try $0.count() }
  }

  /// Deletes the values of a table that can't be decoded as items.
  ///
  /// - Parameters:
  ///   - table: The table, or nil for the table of the type.
  ///   - type: The type of the items.
  /// - Returns: The deleted values, each with the reason why it can't be decoded.
  /// - Throws: `SQLiteError` if the database can't be written, or
  ///   ``CodableStoreError/sameName(_:_:)`` if `table` is nil and another type uses the table that
  ///   is named after the type.
  @available(
    *, noasync,
    message: "blocks the thread; `await` needs a nonisolated, Sendable item type, in a function"
  )
  @discardableResult
  public func removeUndecodable<Item: Codable & Equatable>(
    in table: String? = nil, as type: Item.Type
  ) throws -> [UndecodableItem] {
    try writing(type, table) { try $0.removeUndecodable() }
  }

  /// Deletes the values of a table that can't be decoded as items, and suspends the task meanwhile.
  ///
  /// - Parameters:
  ///   - table: The table, or nil for the table of the type.
  ///   - type: The type of the items.
  /// - Returns: The deleted values, each with the reason why it can't be decoded.
  /// - Throws: The errors of the blocking form, or `CancellationError`.
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
