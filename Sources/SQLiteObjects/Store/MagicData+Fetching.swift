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

  /// The suspending form of ``object(of:)``. Also throws `CancellationError`.
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
  @inlinable  // See ``FoundRow``.
  public func object<Object: MagicObject>(
    of type: Object.Type, primary: Object.PrimaryValue
  ) throws -> Object {
    let row = try row(type, Object.primary(primary))
    if row.isPresent { return try row.object(type) }
    return try graphObject(type, row, Object.primary(primary))
  }

  /// The suspending form of ``object(of:primary:)``. Also throws `CancellationError`.
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
  @inlinable  // See ``FoundRow``.
  public func object<Object: MagicObject>(
    of type: Object.Type, ifPresent primary: Object.PrimaryValue
  ) throws -> Object? {
    let row = try row(type, Object.primary(primary))
    if row.isPresent { return try row.object(type) }
    return try graphObject(type, row, ifPresent: Object.primary(primary))
  }

  /// The suspending form of ``object(of:ifPresent:)``. Also throws `CancellationError`.
  nonisolated(nonsending) public func object<Object: MagicObject>(
    of type: Object.Type, ifPresent primary: Object.PrimaryValue
  ) async throws -> Object? {
    try await fetch(primaryRequest(type, Object.primary(primary))).first
  }

  /// Fetches objects with everything that they reference, blocking the thread.
  ///
  /// Reading their properties doesn't access the database, except for the content of an ``AsyncMagical``. The same as
  /// fetching a ``Query``, with its parts as arguments:
  ///
  ///     let north = try magic.objects(of: Zone.self, where: \.$latitude > 60)
  ///
  /// - Parameters:
  ///   - type: The objects' type.
  ///   - filter: The condition that they match; nil for all objects.
  ///   - order: The sort keys, the most significant first.
  ///   - limit: The maximum number of objects.
  ///   - offset: The number of objects to skip first.
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func objects<Object: MagicObject>(
    of type: Object.Type, where filter: Filter<Object>? = nil,
    orderedBy order: [SortKey<Object>] = [],
    limit: Int? = nil, offset: Int = 0
  ) throws -> [Object] {
    try fetch(Query(filter, order, limit, offset))
  }

  /// The suspending form of ``objects(of:where:orderedBy:limit:offset:)``. Also throws `CancellationError`.
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
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func has<Object: MagicObject>(
    of type: Object.Type, primary: Object.PrimaryValue
  ) throws -> Bool {
    let query = try ObjectQuery(self, Object.self, primary: Object.primary(primary))
    return try read(query.plan, query.count) > 0
  }

  /// The suspending form of ``has(of:primary:)``. Also throws `CancellationError`.
  nonisolated(nonsending) public func has<Object: MagicObject>(
    of type: Object.Type, primary: Object.PrimaryValue
  ) async throws -> Bool {
    let query = try ObjectQuery(self, Object.self, primary: Object.primary(primary))
    return try await read(query.plan) { try query.count($0) } > 0
  }

  /// Returns the number of objects, blocking the thread.
  ///
  /// - Parameters:
  ///   - type: The objects' type.
  ///   - filter: The condition that they match; nil for all objects.
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func count<Object: MagicObject>(
    of type: Object.Type, where filter: Filter<Object>? = nil
  ) throws -> Int {
    try fetch(Query<Object>(filter: filter?.node).count)
  }

  /// The suspending form of ``count(of:where:)``. Also throws `CancellationError`.
  nonisolated(nonsending) public func count<Object: MagicObject>(
    of type: Object.Type, where filter: Filter<Object>? = nil
  ) async throws -> Int {
    try await fetch(Query<Object>(filter: filter?.node).count)
  }

  /// The request for the objects with a primary value: one or none.
  private func primaryRequest<Object: MagicObject>(
    _ type: Object.Type, _ primary: any MagicPrimaryValue
  ) -> Request<[Object]> {
    Query.request { try ObjectQuery($0, Object.self, primary: primary) }
  }

  /// Looks for the row with a primary value, if one row has all of an object: as ``fetch(_:)-(Request<Result>)``, without the
  /// cost of a query that may be of any shape (benchmark `point`).
  @usableFromInline func row<Object: MagicObject>(
    _ type: Object.Type, _ primary: any MagicPrimaryValue
  ) throws -> FoundRow {
    let plan = try plan(Object.self)
    guard plan.primary != nil, !plan.needsContext, isReady(plan) else {
      return FoundRow(plan.shape, nil, isAll: false)
    }
    let value = try plan.stored(primary: primary)
    var found: ObjectStorage?
    try read(plan, isOneStatement: true) { connection in
      if isReady(plan) { return found = try storage(plan, value, connection) }
      let query = try ObjectQuery(self, Object.self, primary: primary)
      found = try query.fetch(connection).firstStorage
    }
    return FoundRow(plan.shape, found, isAll: true)
  }

  /// Fetches the object whose row was not found, unless it is known by that that there is none.
  @usableFromInline func graphObject<Object: MagicObject>(
    _ type: Object.Type, _ row: FoundRow, ifPresent primary: any MagicPrimaryValue
  ) throws -> Object? {
    if row.isAll { return nil }
    return try fetch(primaryRequest(type, primary)).first
  }

  /// As ``graphObject(_:_:ifPresent:)``, or throws if there is none.
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

/// The row of an object that one row has all of.
///
/// The object is made where its type is known: by a generic function that is not, the metadata of optionals and
/// results would be looked up for each (benchmark `point`).
@usableFromInline struct FoundRow {
  private let shape: ObjectShape
  private let storage: ObjectStorage?
  /// Whether the row, or that there is none, is all that is to be known.
  let isAll: Bool

  init(_ shape: ObjectShape, _ storage: ObjectStorage?, isAll: Bool) {
    self.shape = shape
    self.storage = storage
    self.isAll = isAll
  }

  @usableFromInline var isPresent: Bool { storage != nil }

  /// Makes the object of a row that is present.
  ///
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if its properties are not always the same.
  @inlinable func object<Object: MagicObject>(_ type: Object.Type) throws -> Object {
    try unsafe withUnsafeTemporaryAllocation(of: type, capacity: 1) { room in
      guard let start = room.baseAddress, unsafe initialize(UnsafeMutableRawPointer(start)) else {
        return try bound(type)
      }
      return unsafe start.move()
    }
  }

  /// Makes an object that is nothing but cells; returns false for another one.
  @usableFromInline @unsafe func initialize(_ memory: UnsafeMutableRawPointer) -> Bool {
    guard let storage, let layout = shape.layout else { return false }
    unsafe layout.initialize(memory, .storage(storage), CellIndex(slot: 0))
    return true
  }

  /// Makes an object by its `init()`.
  @usableFromInline func bound<Object: MagicObject>(_ type: Object.Type) throws -> Object {
    guard let storage else { throw MagicError.notSaved(type: "\(type)") }
    return try shape.bound(type, to: _MagicCell(storage))
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
