import SQLiteCore

extension MagicData {
  /// Fetches the values of one property, without their objects, blocking the thread.
  ///
  ///     let cities = try magic.values(of: \Team.$city, orderedBy: [.ascending(\.$city)], isDistinct: true)
  ///
  /// - Parameters:
  ///   - path: A property that is no relation, such as `\Team.$city`.
  ///   - filter: The condition on the objects; nil for all.
  ///   - order: The order of the values.
  ///   - isDistinct: Whether each value comes once.
  ///   - limit: The most values to fetch.
  ///   - offset: The number of values to pass over first.
  /// - Throws: ``MagicError`` or ``SQLiteError``.
  public func values<Object: MagicObject, Column: MagicColumn>(
    of path: KeyPath<Object, Column>, where filter: Filter<Object>? = nil,
    orderedBy order: [SortKey<Object>] = [], isDistinct: Bool = false, limit: Int? = nil,
    offset: Int = 0
  ) throws -> [Column.Value] {
    let query = try Query<Object>(self, filter, order, limit, offset)
    let operand = Operand(path)
    return try reading(Object.self) {
      try query.values(of: operand, isDistinct: isDistinct, $0)
    }.map { try Column.value(from: $0) }
  }

  /// As ``values(of:where:orderedBy:isDistinct:limit:offset:)``, without blocking the task.
  nonisolated(nonsending) public func values<Object: MagicObject, Column: MagicColumn>(
    of path: KeyPath<Object, Column>, where filter: Filter<Object>? = nil,
    orderedBy order: [SortKey<Object>] = [], isDistinct: Bool = false, limit: Int? = nil,
    offset: Int = 0
  ) async throws -> [Column.Value] {
    let query = try Query<Object>(self, filter, order, limit, offset)
    let operand = Operand(path)
    return try await reading(Object.self) {
      try query.values(of: operand, isDistinct: isDistinct, $0)
    }.map { try Column.value(from: $0) }
  }
}

extension MagicData {
  /// Calculates one value of many objects, blocking the thread.
  ///
  ///     let total = try magic.aggregate(.sum(\Player.$goals), where: \.$age < 20)
  ///
  /// - Parameters:
  ///   - aggregate: The value to calculate.
  ///   - filter: The condition on the objects; nil for all.
  /// - Throws: ``MagicError`` or ``SQLiteError``.
  public func aggregate<Object: MagicObject, Result>(
    _ aggregate: Aggregate<Object, Result>, where filter: Filter<Object>? = nil
  ) throws -> Result {
    let query = try Query<Object>(self, filter)
    return try single(aggregate, reading(Object.self) { try query.aggregate(aggregate, $0) })
  }

  /// As ``aggregate(_:where:)``, without blocking the task.
  nonisolated(nonsending) public func aggregate<Object: MagicObject, Result>(
    _ aggregate: Aggregate<Object, Result>, where filter: Filter<Object>? = nil
  ) async throws -> Result {
    let query = try Query<Object>(self, filter)
    return try single(aggregate, await reading(Object.self) { try query.aggregate(aggregate, $0) })
  }

  /// Calculates one value of each group of objects, blocking the thread.
  ///
  ///     for (title, age) in try magic.aggregate(.average(\Player.$age), by: \.$team.$title) { … }
  ///
  /// - Parameters:
  ///   - aggregate: The value to calculate.
  ///   - key: The property whose values make the groups.
  ///   - filter: The condition on the objects; nil for all.
  /// - Returns: The groups, in the order of their keys' stored forms.
  /// - Throws: ``MagicError`` or ``SQLiteError``.
  public func aggregate<Object: MagicObject, Result, Key: MagicColumn>(
    _ aggregate: Aggregate<Object, Result>, by key: KeyPath<Object, Key>,
    where filter: Filter<Object>? = nil
  ) throws -> [(key: Key.Value, value: Result)] {
    let query = try Query<Object>(self, filter)
    let group = Operand(key)
    return try groups(
      aggregate, Key.self, reading(Object.self) { try query.aggregate(aggregate, by: group, $0) })
  }

  /// As ``aggregate(_:by:where:)``, without blocking the task.
  nonisolated(nonsending) public func aggregate<Object: MagicObject, Result, Key: MagicColumn>(
    _ aggregate: Aggregate<Object, Result>, by key: KeyPath<Object, Key>,
    where filter: Filter<Object>? = nil
  ) async throws -> [(key: Key.Value, value: Result)] {
    let query = try Query<Object>(self, filter)
    let group = Operand(key)
    return try groups(
      aggregate, Key.self,
      await reading(Object.self) { try query.aggregate(aggregate, by: group, $0) })
  }

  private func single<Object: MagicObject, Result>(
    _ aggregate: Aggregate<Object, Result>, _ rows: [(key: Value, value: Value)]
  ) throws -> Result {
    try aggregate.result(rows.first?.value ?? .null)
  }

  private func groups<Object: MagicObject, Result, Key: MagicColumn>(
    _ aggregate: Aggregate<Object, Result>, _ key: Key.Type, _ rows: [(key: Value, value: Value)]
  ) throws -> [(key: Key.Value, value: Result)] {
    try rows.map { (try key.value(from: $0.key), try aggregate.result($0.value)) }
  }
}
