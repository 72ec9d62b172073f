import SQLiteCore

extension MagicData {
  /// Saves an object with all that it leads to, and overwrites the one in the store that has the same
  /// primary value, in one transaction, blocking the thread.
  ///
  /// An object that is in the store gets what was set since it was saved or fetched, and nothing else,
  /// so that others' changes of other properties stay. One that is not is inserted; if the store has
  /// one with the same primary value, that one gets all values, and its links become the object's:
  /// `insert(_:)-(Object)` refuses that. Of several
  /// new objects with one primary value the last that is written gives its values, and all of them are that
  /// object from then on.
  ///
  /// Of a collection of objects the difference to what was saved or fetched is written, so that what
  /// others have added or removed meanwhile stays so. In an array, what is inserted comes behind what
  /// others have inserted at the same position; an element that one has moved and another removed is gone; one
  /// that both have moved is where the later one has put it. In a dictionary each key is on its own,
  /// and the later one sets it. The object shows others' changes once it is fetched anew. A collection of
  /// plain values is one value in one column: the later one sets it.
  ///
  /// An asset or a lazy relation that was assigned from another property means what was there before
  /// anything is saved, so that two can be swapped. The `Int` primary value of an object that is in the
  /// store must not be changed; a `String` or a `UUID` may be.
  ///
  /// - Parameter object: The object.
  /// - Returns: The object's z_index.
  /// - Throws: ``MagicError``, `AssetError` or `SQLiteError`; then nothing is saved, and the next call
  ///   saves the same changes.
  @discardableResult
  public func update<Object: MagicObject>(_ object: Object) throws -> Int {
    try update([object]).first ?? 0
  }

  /// As ``update(_:)-(Object)``, without blocking the task. Throws `CancellationError` too.
  @discardableResult
  nonisolated(nonsending) public func update<Object: MagicObject>(
    _ object: Object
  ) async throws -> Int {
    try await update([object]).first ?? 0
  }

  /// Saves objects with all that they lead to, in one transaction, blocking the thread.
  ///
  /// - Parameter objects: The objects.
  /// - Returns: The objects' z_index values.
  /// - Throws: ``MagicError``, `AssetError` or `SQLiteError`; then nothing is saved.
  @discardableResult
  public func update<Object: MagicObject>(_ objects: some Sequence<Object>) throws -> [Int] {
    try save(SaveGraph(objects, for: self))
  }

  /// As `update(_:)-(Sequence<Object>)`, without blocking the task. Throws `CancellationError` too.
  @discardableResult
  nonisolated(nonsending) public func update<Object: MagicObject>(
    _ objects: some Sequence<Object>
  ) async throws -> [Int] {
    try await save(SaveGraph(objects, for: self))
  }

  /// Saves a new object with all that it leads to, in one transaction, blocking the thread.
  ///
  /// Nothing that is in the store is overwritten by an object that is not: neither by this one nor by
  /// new ones that it leads to. Objects that it leads to and that are in the store are saved as
  /// `update(_:)-(Object)` saves them.
  ///
  /// - Parameter object: The object. One that was removed is new again.
  /// - Returns: The object's z_index.
  /// - Throws: ``MagicError/alreadySaved(type:primary:)`` if the object is in the store, or another one
  ///   with its primary value; ``MagicError``, `AssetError` or `SQLiteError`; then nothing is saved.
  @discardableResult
  public func insert<Object: MagicObject>(_ object: Object) throws -> Int {
    try insert([object]).first ?? 0
  }

  /// As ``insert(_:)-(Object)``, without blocking the task. Throws `CancellationError` too.
  @discardableResult
  nonisolated(nonsending) public func insert<Object: MagicObject>(
    _ object: Object
  ) async throws -> Int {
    try await insert([object]).first ?? 0
  }

  /// Saves new objects with all that they lead to, in one transaction, blocking the thread: all of them
  /// or none.
  ///
  /// - Parameter objects: The objects.
  /// - Returns: The objects' z_index values.
  /// - Throws: As `insert(_:)-(Object)`, also if two of them have one primary value; then nothing is
  ///   saved.
  @discardableResult
  public func insert<Object: MagicObject>(_ objects: some Sequence<Object>) throws -> [Int] {
    try save(SaveGraph(objects, for: self, insertsOnly: true))
  }

  /// As `insert(_:)-(Sequence<Object>)`, without blocking the task. Throws `CancellationError` too.
  @discardableResult
  nonisolated(nonsending) public func insert<Object: MagicObject>(
    _ objects: some Sequence<Object>
  ) async throws -> [Int] {
    try await save(SaveGraph(objects, for: self, insertsOnly: true))
  }

  /// Saves an object if its row and its links are still as they were when it was fetched or saved,
  /// blocking the thread.
  ///
  /// All properties are compared, changed or not, relations and collections included; of an
  /// ``AsyncMagical`` collection the links, if they were fetched or saved with the object. The objects
  /// that are reached are not, nor is what a lazy property leads to that is no collection. They are
  /// compared with what they were in this store, whatever was saved in another. A new object is a conflict if the store has one with its primary value.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - isUnchanged: False to save in any case.
  /// - Returns: The object's z_index.
  /// - Throws: ``MagicError/conflict(type:zIndex:)`` if somebody has changed the row or the
  ///   links since, or has removed the object;
  ///   ``MagicError``, `AssetError` or `SQLiteError`; then nothing is saved.
  @discardableResult
  public func update<Object: MagicObject>(_ object: Object, ifUnchanged isUnchanged: Bool) throws
    -> Int
  {
    try save(SaveGraph([object], for: self, ifUnchanged: isUnchanged)).first ?? 0
  }

  /// As ``update(_:ifUnchanged:)``, without blocking the task. Throws `CancellationError` too.
  @discardableResult
  nonisolated(nonsending) public func update<Object: MagicObject>(
    _ object: Object, ifUnchanged isUnchanged: Bool
  ) async throws -> Int {
    try await save(SaveGraph([object], for: self, ifUnchanged: isUnchanged)).first ?? 0
  }

  /// Saves an object as the one in the store that has the same values in other unique properties, or as a new
  /// one if there is none, blocking the thread.
  ///
  ///     try magic.update(Person(email: "ann@example.org", name: "Ann"), matching: [\.$email])
  ///
  /// The one in the store gets all values and links of the object but its primary value. That the object
  /// gets from the store: the two are one from then on. An object that the store knows already is saved as
  /// `update(_:)-(Object)` saves it, and so are the others that it leads to. A nil matches nothing.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - properties: Properties that are `PropertyTrait.unique(_:_:)` together, or the primary value.
  /// - Returns: The object's z_index.
  /// - Throws: ``MagicError/alreadySaved(type:primary:)`` if no object matches, and one has its primary value;
  ///   ``MagicError/unsuitableType(type:reason:)`` if the properties are not unique; ``MagicError``,
  ///   `AssetError` or `SQLiteError`; then nothing is saved.
  @discardableResult
  public func update<Object: MagicObject>(
    _ object: Object, matching properties: [PartialKeyPath<Object>]
  ) throws -> Int {
    try update([object], matching: properties).first ?? 0
  }

  /// As ``update(_:matching:)-(Object,_)``, without blocking the task. Throws `CancellationError` too.
  @discardableResult
  nonisolated(nonsending) public func update<Object: MagicObject>(
    _ object: Object, matching properties: [PartialKeyPath<Object>]
  ) async throws -> Int {
    try await update([object], matching: properties).first ?? 0
  }

  /// Saves objects as `update(_:matching:)-(Object,_)` does, in one transaction, blocking the thread: all of
  /// them or none.
  ///
  /// - Parameters:
  ///   - objects: The objects. Of several that match one object the last gives its values.
  ///   - properties: Properties that are `PropertyTrait.unique(_:_:)` together, or the primary value.
  /// - Returns: The objects' z_index values.
  /// - Throws: As `update(_:matching:)-(Object,_)`; then nothing is saved.
  @discardableResult
  public func update<Object: MagicObject>(
    _ objects: some Sequence<Object>, matching properties: [PartialKeyPath<Object>]
  ) throws -> [Int] {
    let names = try plan(Object.self).uniqueNames(properties)
    return try save(SaveGraph(objects, for: self, matching: names))
  }

  /// As `update(_:matching:)-(Sequence<Object>,_)`, without blocking the task. Throws `CancellationError`
  /// too.
  @discardableResult
  nonisolated(nonsending) public func update<Object: MagicObject>(
    _ objects: some Sequence<Object>, matching properties: [PartialKeyPath<Object>]
  ) async throws -> [Int] {
    let names = try plan(Object.self).uniqueNames(properties)
    return try await save(SaveGraph(objects, for: self, matching: names))
  }

  private func save(_ graph: SaveGraph) throws -> [Int] {
    let graph = try graph.stagingAssets(for: self)
    return try write { try graph.write(on: $0, in: self) }
  }

  nonisolated(nonsending) private func save(_ graph: SaveGraph) async throws -> [Int] {
    let staged =
      graph.isPlain ? graph : try await assets.work { try graph.stagingAssets(for: self) }
    return try await write { try staged.write(on: $0, in: self) }
  }

  /// Writes in a transaction, once more if it fails on tables that others have changed.
  func write<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try retryingAfterSchemaChange {
      try database.reportingClosure { try database.write { try body($0) } }
    }
  }

  /// The suspending form of ``write(_:)``.
  nonisolated(nonsending) func write<Result: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await retryingAfterSchemaChange {
      try await database.reportingClosure { try await database.write { try body($0) } }
    }
  }
}

extension ObjectPlan {
  /// The names of properties of which no two objects have the same values.
  ///
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if no trait says so.
  fileprivate func uniqueNames<Object: MagicObject>(
    _ paths: [PartialKeyPath<Object>]
  ) throws -> [String] {
    let names = try zip(paths, PropertyCollector.names(of: paths)).map { path, name in
      if let name { return name }
      throw MagicError.unsuitableType(
        type: typeName, reason: "\(path) leads to none of its properties")
    }
    let isPrimary = primary.map { names == [properties[$0].name] } ?? false
    let isUnique = rows.indexes.contains { $0.isUnique && Set($0.columns) == Set(names) }
    guard names.isEmpty || isPrimary || isUnique else {
      throw MagicError.unsuitableType(
        type: typeName,
        reason:
          "no trait says that “\(names.joined(separator: ", "))” is unique, by which objects are "
          + "to be found")
    }
    return names
  }
}
