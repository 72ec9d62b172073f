import SQLiteCore
import SQLiteMapping

extension MagicData {
  /// Fetches all objects of a type, blocking the thread.
  ///
  /// - Parameter type: The objects' type.
  /// - Returns: The objects in the order in which they were first saved.
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func object<Object: MagicObject>(of type: Object.Type) throws -> [Object] {
    try objects(of: type)
  }

  /// As ``object(of:)``, without blocking the task. Throws `CancellationError` too.
  nonisolated(nonsending) public func object<Object: MagicObject>(
    of type: Object.Type
  ) async throws -> [Object] {
    try await objects(of: type)
  }

  /// Fetches the object with a primary value, blocking the thread.
  ///
  /// - Parameters:
  ///   - type: The object's type.
  ///   - primary: The value of its `@PrimaryMagicValue`.
  /// - Throws: ``MagicError/notFound(type:primary:)`` if there is none, ``MagicError`` or `SQLiteError`.
  public func object<Object: MagicObject>(
    of type: Object.Type, primary: Object.PrimaryValue
  ) throws -> Object {
    let plan = try plan(Object.self)
    if isOneRow(plan) {
      // Not as an optional, whose metadata would be looked up (benchmark `point`).
      if let storage = try storage(type, plan, Object.primary(primary)) {
        return try plan.shape.object(type, of: storage)
      }
    } else if let object = try object(of: type, ifPresent: primary) {
      return object
    }
    throw MagicError.notFound(type: "\(type)", primary: "\(primary)")
  }

  /// As ``object(of:primary:)``, without blocking the task. Throws `CancellationError` too.
  nonisolated(nonsending) public func object<Object: MagicObject>(
    of type: Object.Type, primary: Object.PrimaryValue
  ) async throws -> Object {
    guard let object = try await object(of: type, ifPresent: primary) else {
      throw MagicError.notFound(type: "\(type)", primary: "\(primary)")
    }
    return object
  }

  /// Fetches the object with a primary value if there is one, blocking the thread.
  ///
  /// - Parameters:
  ///   - type: The object's type.
  ///   - primary: The value of its `@PrimaryMagicValue`.
  /// - Returns: The object, or nil if the store has none with that value.
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func object<Object: MagicObject>(
    of type: Object.Type, ifPresent primary: Object.PrimaryValue
  ) throws -> Object? {
    let plan = try plan(Object.self)
    let primary = Object.primary(primary)
    guard isOneRow(plan) else {
      let query = try Query<Object>(self, primary: primary)
      return try query.objects(fetched(query)).first
    }
    return try storage(type, plan, primary).map { try plan.shape.object(type, of: $0) }
  }

  /// As ``object(of:ifPresent:)``, without blocking the task. Throws `CancellationError` too.
  nonisolated(nonsending) public func object<Object: MagicObject>(
    of type: Object.Type, ifPresent primary: Object.PrimaryValue
  ) async throws -> Object? {
    let query = try Query<Object>(self, primary: Object.primary(primary))
    return try query.objects(try await fetched(query)).first
  }

  /// Fetches objects with all that they lead to, blocking the thread.
  ///
  /// The content of an ``AsyncMagical`` stays in the store; everything else is there when a property is read.
  ///
  ///     let north = try magic.objects(of: Zone.self, where: \.$latitude > 60)
  ///
  /// - Parameters:
  ///   - type: The objects' type.
  ///   - filter: The condition that they fulfil.
  ///   - order: The sort keys, the most significant first.
  ///   - limit: The most objects to fetch.
  ///   - offset: How many to pass over first.
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func objects<Object: MagicObject>(
    of type: Object.Type, where filter: Filter<Object>? = nil,
    orderedBy order: [SortKey<Object>] = [],
    limit: Int? = nil, offset: Int = 0
  ) throws -> [Object] {
    let query = try Query<Object>(self, filter, order, limit, offset)
    return try query.objects(fetched(query))
  }

  /// As ``objects(of:where:orderedBy:limit:offset:)``, without blocking the task.
  /// Throws `CancellationError` too.
  nonisolated(nonsending) public func objects<Object: MagicObject>(
    of type: Object.Type, where filter: Filter<Object>? = nil,
    orderedBy order: [SortKey<Object>] = [],
    limit: Int? = nil, offset: Int = 0
  ) async throws -> [Object] {
    let query = try Query<Object>(self, filter, order, limit, offset)
    return try query.objects(try await fetched(query))
  }

  /// Returns whether there is an object with a primary value, blocking the thread.
  ///
  /// - Parameters:
  ///   - type: The object's type.
  ///   - primary: The value of its `@PrimaryMagicValue`.
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func has<Object: MagicObject>(
    of type: Object.Type, primary: Object.PrimaryValue
  ) throws -> Bool {
    let query = try Query<Object>(self, primary: Object.primary(primary))
    return try reading(plan(Object.self), query.count) > 0
  }

  /// As ``has(of:primary:)``, without blocking the task. Throws `CancellationError` too.
  nonisolated(nonsending) public func has<Object: MagicObject>(
    of type: Object.Type, primary: Object.PrimaryValue
  ) async throws -> Bool {
    let query = try Query<Object>(self, primary: Object.primary(primary))
    return try await reading(plan(Object.self)) { try query.count($0) } > 0
  }

  /// Counts objects, blocking the thread.
  ///
  /// - Parameters:
  ///   - type: The objects' type.
  ///   - filter: The condition that they fulfil.
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func count<Object: MagicObject>(
    of type: Object.Type, where filter: Filter<Object>? = nil
  ) throws -> Int {
    try reading(plan(Object.self), Query<Object>(self, filter).count)
  }

  /// As ``count(of:where:)``, without blocking the task. Throws `CancellationError` too.
  nonisolated(nonsending) public func count<Object: MagicObject>(
    of type: Object.Type, where filter: Filter<Object>? = nil
  ) async throws -> Int {
    let query = try Query<Object>(self, filter)
    return try await reading(plan(Object.self)) { try query.count($0) }
  }

  /// Reads the rows that a query finds; by one statement without a transaction if that is enough.
  private func fetched<Object: MagicObject>(_ query: Query<Object>) throws -> Fetched {
    guard let sql = query.plainSelection else {
      return try reading(plan(Object.self)) { try query.fetch($0) }
    }
    return try onceMoreIfTablesChanged {
      try ofOneContent {
        try database.query(sql) { try self.ofOneContent($0) { try query.fetch(sql, $0) } }
      }
    } again: {
      try reading(plan(Object.self)) { try query.fetch($0) }
    }
  }

  /// As the blocking form, without blocking the task.
  nonisolated(nonsending) private func fetched<Object: MagicObject>(
    _ query: Query<Object>
  ) async throws -> Fetched {
    guard let sql = query.plainSelection else {
      return try await reading(plan(Object.self)) { try query.fetch($0) }
    }
    return try await onceMoreIfTablesChanged {
      try await ofOneContent {
        try await database.query(sql) { try self.ofOneContent($0) { try query.fetch(sql, $0) } }
      }
    } again: {
      try await reading(plan(Object.self)) { try query.fetch($0) }
    }
  }

  /// Returns whether one row of a table that lacks nothing has all of an object.
  private func isOneRow(_ plan: ObjectPlan) -> Bool {
    plan.primary != nil && !plan.needsContext && isReady(plan)
  }

  /// Reads the row with a primary value, of a type that leads to no others: as ``fetched(_:)``, without the
  /// cost of a query that may be of any shape (benchmark `point`).
  private func storage<Object: MagicObject>(
    _ type: Object.Type, _ plan: ObjectPlan, _ primary: any MagicPrimaryValue
  ) throws -> ObjectStorage? {
    let value = try plan.stored(primary: primary)
    return try onceMoreIfTablesChanged {
      try storage(plan, value)
    } again: {
      let query = try Query<Object>(self, primary: primary)
      return try reading(plan) { try query.fetch($0) }.firstStorage
    }
  }

  private func storage(_ plan: ObjectPlan, _ primary: Value) throws -> ObjectStorage? {
    var storage: ObjectStorage?
    try ofOneContent {
      try database.select { connection in
        var statement = try connection.statement(SQL(unchecked: plan.selectionByPrimary))
        try statement.bind(primary, at: 1)
        guard try statement.step() else { return }
        let found = try plan.storage(of: statement, in: StoreContent(of: self))
        try checkContent(connection)
        if connection.mayUndoReads { forgetFetched([found], afterRollbackOn: connection) }
        storage = found
      }
    }
    return storage
  }
}

extension Array where Element: MagicObject {
  /// The objects that a condition holds for: a filter in memory, in Swift.
  ///
  /// A ``Filter`` given to the fetch finds them without fetching the others.
  ///
  /// - Parameter isIncluded: Returns whether an object is wanted.
  public func `where`(_ isIncluded: (Element) throws -> Bool) rethrows -> [Element] {
    try filter(isIncluded)
  }
}
