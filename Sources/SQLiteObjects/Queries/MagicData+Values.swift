import SQLiteCore

extension MagicData {
  /// Fetches the values of one property, without their objects, blocking the thread.
  ///
  ///     let cities = try magic.values(of: \Team.$city, orderedBy: [.ascending(\.$city)], isDistinct: true)
  ///
  /// - Parameters:
  ///   - path: A property that is no relation, such as `\Team.$city`.
  ///   - filter: What the objects have in common.
  ///   - order: What the values are sorted by.
  ///   - isDistinct: Whether each value comes once.
  ///   - limit: The most values to fetch.
  ///   - offset: How many to pass over first.
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

  /// As the blocking ``values(of:where:orderedBy:isDistinct:limit:offset:)``, suspending the task.
  ///
  /// - Parameters:
  ///   - path: A property that is no relation, such as `\Team.$city`.
  ///   - filter: What the objects have in common.
  ///   - order: What the values are sorted by.
  ///   - isDistinct: Whether each value comes once.
  ///   - limit: The most values to fetch.
  ///   - offset: How many to pass over first.
  /// - Throws: ``MagicError``, ``SQLiteError`` or `CancellationError`.
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
