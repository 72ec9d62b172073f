import SQLiteCore
import SQLiteMapping

extension MagicData {
  /// Fetches all objects of a type, blocking the thread.
  ///
  /// - Parameter type: The objects' type.
  /// - Returns: The objects, sorted by z_index. That is the order in which they were first saved,
  ///   unless you assign `Int` primary values yourself.
  /// - Throws: ``MagicError``, for example if a stored value can't be converted to the type of its
  ///   property, or `SQLiteError`.
  public func object<Object: MagicObject>(of type: Object.Type) throws -> [Object] {
    try objects(of: type)
  }

  /// Fetches all objects of a type. Suspends the task meanwhile.
  ///
  /// - Parameter type: The objects' type.
  /// - Returns: The objects, sorted by z_index. That is the order in which they were first saved,
  ///   unless you assign `Int` primary values yourself.
  /// - Throws: The errors of the blocking ``object(of:)``, and `CancellationError` if the task was
  ///   cancelled.
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
  /// - Returns: The object with everything that it references.
  /// - Throws: ``MagicError/notFound(type:primary:)`` if there is no such object, another
  ///   ``MagicError``, for example if a stored value can't be converted to the type of its
  ///   property, or `SQLiteError`.
  @inlinable  // See ``FoundRow``.
  public func object<Object: MagicObject>(
    of type: Object.Type, primary: Object.PrimaryValue
  ) throws -> Object {
    let row = try row(type, Object.primary(primary))
    if row.isPresent { return try row.object(type) }
    return try graphObject(type, row, Object.primary(primary))
  }

  /// Fetches the object with a primary value. Suspends the task meanwhile.
  ///
  /// - Parameters:
  ///   - type: The object's type.
  ///   - primary: The value of its `@PrimaryMagicValue`.
  /// - Returns: The object with everything that it references.
  /// - Throws: The errors of the blocking ``object(of:primary:)``, and `CancellationError` if the
  ///   task was cancelled.
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
  /// - Returns: The object with everything that it references, or nil if the store contains no
  ///   object with that value.
  /// - Throws: ``MagicError``, for example if a stored value can't be converted to the type of its
  ///   property, or `SQLiteError`.
  @inlinable  // See ``FoundRow``.
  public func object<Object: MagicObject>(
    of type: Object.Type, ifPresent primary: Object.PrimaryValue
  ) throws -> Object? {
    let row = try row(type, Object.primary(primary))
    if row.isPresent { return try row.object(type) }
    return try graphObject(type, row, ifPresent: Object.primary(primary))
  }

  /// Fetches the object with a primary value if there is one. Suspends the task meanwhile.
  ///
  /// - Parameters:
  ///   - type: The object's type.
  ///   - primary: The value of its `@PrimaryMagicValue`.
  /// - Returns: The object with everything that it references, or nil if the store contains no
  ///   object with that value.
  /// - Throws: The errors of the blocking ``object(of:ifPresent:)``, and `CancellationError` if the
  ///   task was cancelled.
  nonisolated(nonsending) public func object<Object: MagicObject>(
    of type: Object.Type, ifPresent primary: Object.PrimaryValue
  ) async throws -> Object? {
    try await fetch(primaryRequest(type, Object.primary(primary))).first
  }

  /// Fetches objects with everything that they reference, blocking the thread.
  ///
  /// Reading their properties doesn't access the database, except for the content of an
  /// ``AsyncMagical``. This call is equivalent to fetching a ``Query`` with these parts:
  ///
  ///     let north = try magic.objects(of: Zone.self, where: \.$latitude > 60)
  ///
  /// - Parameters:
  ///   - type: The objects' type.
  ///   - filter: The condition that the objects must match, or nil for all objects.
  ///   - order: The sort keys, the most significant first.
  ///   - limit: The maximum number of objects, or nil for no maximum.
  ///   - offset: The number of objects to skip first.
  /// - Returns: The objects in the order of the sort keys or, without sort keys, of their z_index.
  /// - Throws: ``MagicError``, for example if a stored value can't be converted to the type of its
  ///   property, or `SQLiteError`.
  public func objects<Object: MagicObject>(
    of type: Object.Type, where filter: Filter<Object>? = nil,
    orderedBy order: [SortKey<Object>] = [],
    limit: Int? = nil, offset: Int = 0
  ) throws -> [Object] {
    try fetch(Query(filter, order, limit, offset))
  }

  /// Fetches objects with everything that they reference. Suspends the task meanwhile.
  ///
  /// For details, see the blocking ``objects(of:where:orderedBy:limit:offset:)``.
  ///
  /// - Parameters:
  ///   - type: The objects' type.
  ///   - filter: The condition that the objects must match, or nil for all objects.
  ///   - order: The sort keys, the most significant first.
  ///   - limit: The maximum number of objects, or nil for no maximum.
  ///   - offset: The number of objects to skip first.
  /// - Returns: The objects in the order of the sort keys or, without sort keys, of their z_index.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was
  ///   cancelled.
  nonisolated(nonsending) public func objects<Object: MagicObject>(
    of type: Object.Type, where filter: Filter<Object>? = nil,
    orderedBy order: [SortKey<Object>] = [],
    limit: Int? = nil, offset: Int = 0
  ) async throws -> [Object] {
    try await fetch(Query(filter, order, limit, offset))
  }

  /// Returns whether an object with a primary value exists, blocking the thread.
  ///
  /// - Parameters:
  ///   - type: The object's type.
  ///   - primary: The value of its `@PrimaryMagicValue`.
  /// - Returns: True if the store contains an object with that value.
  /// - Throws: ``MagicError``, for example if the type has no primary value, or `SQLiteError`.
  public func has<Object: MagicObject>(
    of type: Object.Type, primary: Object.PrimaryValue
  ) throws -> Bool {
    let query = try ObjectQuery(self, Object.self, primary: Object.primary(primary))
    return try read(query.plan, query.count) > 0
  }

  /// Returns whether an object with a primary value exists. Suspends the task meanwhile.
  ///
  /// - Parameters:
  ///   - type: The object's type.
  ///   - primary: The value of its `@PrimaryMagicValue`.
  /// - Returns: True if the store contains an object with that value.
  /// - Throws: The errors of the blocking ``has(of:primary:)``, and `CancellationError` if the task
  ///   was cancelled.
  nonisolated(nonsending) public func has<Object: MagicObject>(
    of type: Object.Type, primary: Object.PrimaryValue
  ) async throws -> Bool {
    let query = try ObjectQuery(self, Object.self, primary: Object.primary(primary))
    return try await read(query.plan) { try query.count($0) } > 0
  }

  /// Returns the number of objects of a type that match a filter, blocking the thread.
  ///
  /// - Parameters:
  ///   - type: The objects' type.
  ///   - filter: The condition that the objects must match, or nil for all objects.
  /// - Returns: The number of objects.
  /// - Throws: ``MagicError``, for example if the store was closed, or `SQLiteError`.
  public func count<Object: MagicObject>(
    of type: Object.Type, where filter: Filter<Object>? = nil
  ) throws -> Int {
    try fetch(Query<Object>(filter: filter?.node).count)
  }

  /// Returns the number of objects of a type that match a filter. Suspends the task meanwhile.
  ///
  /// - Parameters:
  ///   - type: The objects' type.
  ///   - filter: The condition that the objects must match, or nil for all objects.
  /// - Returns: The number of objects.
  /// - Throws: The errors of the blocking ``count(of:where:)``, and `CancellationError` if the task
  ///   was cancelled.
  nonisolated(nonsending) public func count<Object: MagicObject>(
    of type: Object.Type, where filter: Filter<Object>? = nil
  ) async throws -> Int {
    try await fetch(Query<Object>(filter: filter?.node).count)
  }

  /// Returns a request for the object with a primary value. It matches at most one object.
  private func primaryRequest<Object: MagicObject>(
    _ type: Object.Type, _ primary: any MagicPrimaryValue
  ) -> Request<[Object]> {
    Query.request { try ObjectQuery($0, Object.self, primary: primary) }
  }

  /// Fetches a row by primary key if one row holds the whole object. This avoids the general query
  /// path of ``fetch(_:)-(Request<Result>)`` (benchmark `point`).
  ///
  /// - Returns: The result, which is inconclusive if the object may need more than one row or if
  ///   its table may be incomplete.
  @usableFromInline func row<Object: MagicObject>(
    _ type: Object.Type, _ primary: any MagicPrimaryValue
  ) throws -> FoundRow {
    let plan = try plan(Object.self)
    guard plan.primary != nil, !plan.needsContext, isReady(plan) else {
      return FoundRow(plan.shape, nil, isConclusive: false)
    }
    let value = try plan.stored(primary: primary)
    var found: ObjectStorage?
    try read(plan, isOneStatement: true) { connection in
      if isReady(plan) { return found = try storage(plan, value, connection) }
      let query = try ObjectQuery(self, Object.self, primary: primary)
      found = try query.fetch(connection).firstStorage
    }
    return FoundRow(plan.shape, found, isConclusive: true)
  }

  /// Fetches an object with its related objects, unless the lookup of its row was conclusive.
  ///
  /// The caller calls this method if the lookup found no row.
  ///
  /// - Returns: The object, or nil if it doesn't exist.
  @usableFromInline func graphObject<Object: MagicObject>(
    _ type: Object.Type, _ row: FoundRow, ifPresent primary: any MagicPrimaryValue
  ) throws -> Object? {
    if row.isConclusive { return nil }
    return try fetch(primaryRequest(type, primary)).first
  }

  /// Fetches an object like ``graphObject(_:_:ifPresent:)``.
  ///
  /// - Throws: ``MagicError/notFound(type:primary:)`` if it doesn't exist, and the errors of the
  ///   fetch.
  @usableFromInline func graphObject<Object: MagicObject>(
    _ type: Object.Type, _ row: FoundRow, _ primary: any MagicPrimaryValue
  ) throws -> Object {
    guard let object = try graphObject(type, row, ifPresent: primary) else {
      throw MagicError.notFound(type: "\(type)", primary: "\(primary)")
    }
    return object
  }

  private func storage(
    _ plan: ObjectPlan, _ primary: Value, _ connection: Connection
  ) throws -> ObjectStorage? {
    var statement = try connection.statement(SQL(unchecked: plan.selectionByPrimary))
    try statement.bind(primary, at: 1)
    guard try statement.step() else { return nil }
    let storage = try plan.storage(of: statement, in: StoreContent(of: self))
    if connection.mayUndoReads { forgetFetched([storage], afterRollbackOn: connection) }
    return storage
  }
}

/// The result of a lookup by primary key of an object that is stored in a single row.
///
/// The caller creates the object, because it knows the type. An unspecialized generic function
/// would look up the metadata of optionals and results for each object (benchmark `point`).
@usableFromInline struct FoundRow {
  private let shape: ObjectShape
  private let storage: ObjectStorage?
  /// Whether the lookup is conclusive: the row is the whole object, or its absence means that there
  /// is no object.
  let isConclusive: Bool

  init(_ shape: ObjectShape, _ storage: ObjectStorage?, isConclusive: Bool) {
    self.shape = shape
    self.storage = storage
    self.isConclusive = isConclusive
  }

  @usableFromInline var isPresent: Bool { storage != nil }

  /// Creates the object from the row, which must be present.
  ///
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if instances of the type have different
  ///   properties.
  @inlinable func object<Object: MagicObject>(_ type: Object.Type) throws -> Object {
    try unsafe withUnsafeTemporaryAllocation(of: type, capacity: 1) { room in
      guard let start = room.baseAddress, unsafe initialize(UnsafeMutableRawPointer(start)) else {
        return try bound(type)
      }
      return unsafe start.move()
    }
  }

  /// Initializes memory with the object in the row.
  ///
  /// - Returns: False if there is no row or the object may not consist of cells only. The memory
  ///   then remains uninitialized.
  @usableFromInline @unsafe func initialize(_ memory: UnsafeMutableRawPointer) -> Bool {
    guard let storage, let layout = shape.layout else { return false }
    unsafe layout.initialize(memory, .storage(storage), CellIndex(slot: 0))
    return true
  }

  /// Creates an object with its `init()` and binds its properties to the row.
  @usableFromInline func bound<Object: MagicObject>(_ type: Object.Type) throws -> Object {
    guard let storage else { throw MagicError.notSaved(type: "\(type)") }
    return try shape.bound(type, to: _MagicCell(storage))
  }
}

extension Array where Element: MagicObject {
  /// Returns the objects that satisfy a condition. The condition is Swift code that runs in memory.
  ///
  /// To avoid fetching the other objects at all, pass a ``Filter`` to the fetch instead.
  ///
  /// - Parameter isIncluded: Returns whether to include an object in the result.
  /// - Returns: The included objects, in their order in the array.
  /// - Throws: Any error that `isIncluded` throws.
  public func `where`(_ isIncluded: (Element) throws -> Bool) rethrows -> [Element] {
    try filter(isIncluded)
  }
}
