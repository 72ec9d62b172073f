import SQLiteCore

extension MagicData {
  /// Saves an object and everything that it references in one transaction, blocking the thread.
  ///
  /// **Objects in the store.** Only the properties that you have set since the last save or fetch
  /// are written. Concurrent changes to other properties survive.
  ///
  /// **New objects.** A new object is inserted. If the store already contains an object with the
  /// same primary value, that object is overwritten with all values and links of the new one. To
  /// throw instead, call `insert(_:)-(Object)`. If several new objects have the same primary value,
  /// the last one that is written determines the values, and all of them then refer to the same
  /// row.
  ///
  /// **Collections of objects.** Only additions and removals since the last save or fetch are
  /// written, so concurrent ones survive. In an array, new elements follow those that concurrent
  /// saves have inserted at the same position. If one save moves an element and another removes it,
  /// the element is removed. If two saves move an element, the later one determines its position.
  /// In a dictionary, each key is merged separately, and the later save determines its value. Fetch
  /// the object again to see concurrent changes. A collection of plain values is a single value in
  /// one column, so the later save replaces it.
  ///
  /// **Assets and lazy relations.** If you assign an asset or a lazy relation from another
  /// property, the save uses the value that the other property had in the store before, so you can
  /// swap two of them.
  ///
  /// You can't change the `Int` primary value of an object that is in the store. You can change a
  /// `String` or `UUID` primary value.
  ///
  /// - Parameter object: The object to save.
  /// - Returns: The object's z_index.
  /// - Throws: ``MagicError``, `AssetError` or `SQLiteError`. Then nothing is saved, and the next
  ///   call saves the same changes.
  @discardableResult
  public func update<Object: MagicObject>(_ object: Object) throws -> Int {
    try update([object]).first ?? 0
  }

  /// Saves an object and everything that it references in one transaction. Suspends the task
  /// meanwhile.
  ///
  /// For details, see the blocking ``update(_:)-(Object)``.
  ///
  /// - Parameter object: The object to save.
  /// - Returns: The object's z_index.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was
  ///   cancelled.
  @discardableResult
  nonisolated(nonsending) public func update<Object: MagicObject>(
    _ object: Object
  ) async throws -> Int {
    try await update([object]).first ?? 0
  }

  /// Saves objects and everything that they reference in one transaction, blocking the thread.
  ///
  /// Each object is saved as by `update(_:)-(Object)`.
  ///
  /// - Parameter objects: The objects to save.
  /// - Returns: The z_index values of the objects, in the same order.
  /// - Throws: ``MagicError``, `AssetError` or `SQLiteError`. Then nothing is saved.
  @discardableResult
  public func update<Object: MagicObject>(_ objects: some Sequence<Object>) throws -> [Int] {
    try save(SaveGraph(objects, for: self))
  }

  /// Saves objects and everything that they reference in one transaction. Suspends the task
  /// meanwhile.
  ///
  /// For details, see the blocking `update(_:)-(Sequence<Object>)`.
  ///
  /// - Parameter objects: The objects to save.
  /// - Returns: The z_index values of the objects, in the same order.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was
  ///   cancelled.
  @discardableResult
  nonisolated(nonsending) public func update<Object: MagicObject>(
    _ objects: some Sequence<Object>
  ) async throws -> [Int] {
    try await save(SaveGraph(objects, for: self))
  }

  /// Saves a new object and everything that it references in one transaction, blocking the thread.
  ///
  /// Neither this object nor a new object that it references overwrites an existing object.
  /// Referenced objects that are already in the store are saved as if by `update(_:)-(Object)`.
  ///
  /// - Parameter object: The object to insert. An object that was removed counts as new.
  /// - Returns: The object's z_index.
  /// - Throws: ``MagicError/alreadySaved(type:primary:)`` if the object is already in the store, or
  ///   if the store contains an object with the primary value of a new one; another ``MagicError``,
  ///   `AssetError` or `SQLiteError`. Then nothing is saved.
  @discardableResult
  public func insert<Object: MagicObject>(_ object: Object) throws -> Int {
    try insert([object]).first ?? 0
  }

  /// Saves a new object and everything that it references in one transaction. Suspends the task
  /// meanwhile.
  ///
  /// For details, see the blocking ``insert(_:)-(Object)``.
  ///
  /// - Parameter object: The object to insert. An object that was removed counts as new.
  /// - Returns: The object's z_index.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was
  ///   cancelled.
  @discardableResult
  nonisolated(nonsending) public func insert<Object: MagicObject>(
    _ object: Object
  ) async throws -> Int {
    try await insert([object]).first ?? 0
  }

  /// Saves new objects and everything that they reference in one transaction, blocking the thread.
  ///
  /// - Parameter objects: The objects to insert.
  /// - Returns: The z_index values of the objects, in the same order.
  /// - Throws: The errors of `insert(_:)-(Object)`, also if two of the objects have the same
  ///   primary value. Then nothing is saved.
  @discardableResult
  public func insert<Object: MagicObject>(_ objects: some Sequence<Object>) throws -> [Int] {
    try save(SaveGraph(objects, for: self, insertsOnly: true))
  }

  /// Saves new objects and everything that they reference in one transaction. Suspends the task
  /// meanwhile.
  ///
  /// - Parameter objects: The objects to insert.
  /// - Returns: The z_index values of the objects, in the same order.
  /// - Throws: The errors of the blocking `insert(_:)-(Sequence<Object>)`, and `CancellationError`
  ///   if the task was cancelled.
  @discardableResult
  nonisolated(nonsending) public func insert<Object: MagicObject>(
    _ objects: some Sequence<Object>
  ) async throws -> [Int] {
    try await save(SaveGraph(objects, for: self, insertsOnly: true))
  }

  /// Saves an object only if its row and its links haven't changed since it was fetched or saved,
  /// blocking the thread.
  ///
  /// All properties are compared, including relations and collections, whether or not you have
  /// changed them. For an ``AsyncMagical`` collection, the links are compared if they were fetched
  /// or saved with the object. Other lazy properties and the related objects themselves aren't
  /// compared. The comparison uses the object's last known state in this store, even if you have
  /// saved the object in another store since. A new object is a conflict if the store contains an
  /// object with its primary value.
  ///
  /// - Parameters:
  ///   - object: The object to save.
  ///   - isUnchanged: Whether to check for concurrent changes. Pass `false` to save in any case.
  /// - Returns: The object's z_index.
  /// - Throws: ``MagicError/conflict(type:zIndex:)`` if the row or the links have changed, the
  ///   object was removed, or a new object has the primary value of an existing one; another
  ///   ``MagicError``, `AssetError` or `SQLiteError`. Then nothing is saved.
  @discardableResult
  public func update<Object: MagicObject>(_ object: Object, ifUnchanged isUnchanged: Bool) throws
    -> Int
  {
    try save(SaveGraph([object], for: self, ifUnchanged: isUnchanged)).first ?? 0
  }

  /// Saves an object only if its row and its links haven't changed since it was fetched or saved.
  /// Suspends the task meanwhile.
  ///
  /// For details, see the blocking ``update(_:ifUnchanged:)``.
  ///
  /// - Parameters:
  ///   - object: The object to save.
  ///   - isUnchanged: Whether to check for concurrent changes. Pass `false` to save in any case.
  /// - Returns: The object's z_index.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was
  ///   cancelled.
  @discardableResult
  nonisolated(nonsending) public func update<Object: MagicObject>(
    _ object: Object, ifUnchanged isUnchanged: Bool
  ) async throws -> Int {
    try await save(SaveGraph([object], for: self, ifUnchanged: isUnchanged)).first ?? 0
  }

  /// Updates the object in the store that has the same values in some unique properties, or inserts
  /// a new object if there is none, blocking the thread.
  ///
  ///     try magic.update(Person(email: "ann@example.org", name: "Ann"), matching: [\.$email])
  ///
  /// The matching object in the store gets all values and links of `object` except the primary
  /// value. `object` gets the primary value from the store, and then refers to the same row. A nil
  /// value matches nothing.
  ///
  /// An object that was already fetched from or saved in this store is saved as if by
  /// `update(_:)-(Object)`, and so are the objects that `object` references.
  ///
  /// - Parameters:
  ///   - object: The object to save.
  ///   - properties: Properties that are declared `PropertyTrait.unique(_:_:)` together, or the
  ///     primary value.
  /// - Returns: The object's z_index.
  /// - Throws: ``MagicError/alreadySaved(type:primary:)`` if no object matches but one has the same
  ///   primary value; ``MagicError/unsuitableType(type:reason:)`` if the properties aren't unique;
  ///   another ``MagicError``, `AssetError` or `SQLiteError`. Then nothing is saved.
  @discardableResult
  public func update<Object: MagicObject>(
    _ object: Object, matching properties: [PartialKeyPath<Object>]
  ) throws -> Int {
    try update([object], matching: properties).first ?? 0
  }

  /// Updates the object in the store that has the same values in some unique properties, or inserts
  /// a new object if there is none. Suspends the task meanwhile.
  ///
  /// For details, see the blocking ``update(_:matching:)-(Object,_)``.
  ///
  /// - Parameters:
  ///   - object: The object to save.
  ///   - properties: Properties that are declared `PropertyTrait.unique(_:_:)` together, or the
  ///     primary value.
  /// - Returns: The object's z_index.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was
  ///   cancelled.
  @discardableResult
  nonisolated(nonsending) public func update<Object: MagicObject>(
    _ object: Object, matching properties: [PartialKeyPath<Object>]
  ) async throws -> Int {
    try await update([object], matching: properties).first ?? 0
  }

  /// Saves objects like `update(_:matching:)-(Object,_)`, all in one transaction, blocking the
  /// thread.
  ///
  /// - Parameters:
  ///   - objects: The objects to save. If several match the same object, the last one determines
  ///     the values.
  ///   - properties: Properties that are declared `PropertyTrait.unique(_:_:)` together, or the
  ///     primary value.
  /// - Returns: The z_index values of the objects, in the same order.
  /// - Throws: The errors of `update(_:matching:)-(Object,_)`. Then nothing is saved.
  @discardableResult
  public func update<Object: MagicObject>(
    _ objects: some Sequence<Object>, matching properties: [PartialKeyPath<Object>]
  ) throws -> [Int] {
    let names = try plan(Object.self).uniqueNames(properties)
    return try save(SaveGraph(objects, for: self, matching: names))
  }

  /// Saves objects like `update(_:matching:)-(Object,_)`, all in one transaction. Suspends the task
  /// meanwhile.
  ///
  /// - Parameters:
  ///   - objects: The objects to save. If several match the same object, the last one determines
  ///     the values.
  ///   - properties: Properties that are declared `PropertyTrait.unique(_:_:)` together, or the
  ///     primary value.
  /// - Returns: The z_index values of the objects, in the same order.
  /// - Throws: The errors of the blocking `update(_:matching:)-(Sequence<Object>,_)`, and
  ///   `CancellationError` if the task was cancelled.
  @discardableResult
  nonisolated(nonsending) public func update<Object: MagicObject>(
    _ objects: some Sequence<Object>, matching properties: [PartialKeyPath<Object>]
  ) async throws -> [Int] {
    let names = try plan(Object.self).uniqueNames(properties)
    return try await save(SaveGraph(objects, for: self, matching: names))
  }

  private func save(_ graph: SaveGraph) throws -> [Int] {
    var graph = graph
    while true {
      do {
        let staged = try graph.stagingAssets(for: self)
        return try write { try staged.write(on: $0, in: self) }
      } catch is SaveGraph.Outdated {
        graph = try SaveGraph(rereading: graph, for: self)
      }
    }
  }

  nonisolated(nonsending) private func save(_ graph: SaveGraph) async throws -> [Int] {
    var graph = graph
    while true {
      do {
        let staged =
          graph.isPlain
          ? graph : try await assets.work { [graph] in try graph.stagingAssets(for: self) }
        return try await write { try staged.write(on: $0, in: self) }
      } catch is SaveGraph.Outdated {
        graph = try SaveGraph(rereading: graph, for: self)
      }
    }
  }

  /// Runs `body` in a transaction, and retries once if the cached schema is stale.
  func write<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try retryingAfterSchemaChange {
      try database.reportingClosedStore { try database.write { try body($0) } }
    }
  }

  /// Runs `body` in a transaction, and retries once if the cached schema is stale. Suspends the
  /// task meanwhile.
  nonisolated(nonsending) func write<Result: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await retryingAfterSchemaChange {
      try await database.reportingClosedStore { try await database.write { try body($0) } }
    }
  }
}

extension ObjectPlan {
  /// Returns the names of properties that are unique together.
  ///
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if no trait declares them unique.
  fileprivate func uniqueNames<Object: MagicObject>(
    _ paths: [PartialKeyPath<Object>]
  ) throws -> [String] {
    let names = try zip(paths, PropertyCollector.names(of: paths)).map { path, name in
      if let name { return name }
      throw MagicError.unsuitableType(
        type: typeName, reason: "\(path) is not one of its properties")
    }
    let isPrimary = primary.map { names == [properties[$0].name] } ?? false
    let isUnique = rows.indexes.contains { $0.isUnique && Set($0.columns) == Set(names) }
    guard names.isEmpty || isPrimary || isUnique else {
      throw MagicError.unsuitableType(
        type: typeName,
        reason:
          "no trait declares “\(names.joined(separator: ", "))” as unique; add the trait "
          + ".unique(…)")
    }
    return names
  }
}
