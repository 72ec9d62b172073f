import SQLiteCore

// Creation of the objects of a fetch from its rows.
extension FetchContext {
  /// Returns the objects that the query itself returned, without related objects, in the order of
  /// the query.
  func objects<Object: MagicObject>(of type: Object.Type) throws -> [Object] {
    try objects(type, group.tableIndexes[ObjectIdentifier(type)].map { tables[$0].found } ?? [])
  }

  /// Returns objects of the fetch.
  ///
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)`` if the fetch doesn't contain one of them.
  func objects<Object: MagicObject>(
    _ type: Object.Type, _ zIndexes: ArraySlice<Int64>
  ) throws -> [Object] {
    // With a capacity of zero, the array would be the shared empty array. The standard library
    // writes its count nevertheless, which ThreadSanitizer reports.
    if zIndexes.isEmpty { return [] }
    let index = try table(of: type, zIndexes[zIndexes.startIndex])
    let table = tables[index]
    return try unsafe Array(unsafeUninitializedCapacity: zIndexes.count) { objects, count in
      guard var object = objects.baseAddress else { return }
      for zIndex in zIndexes {
        let row = try row(zIndex, in: table)
        if let layout = table.shape.layout {
          unsafe initialize(UnsafeMutableRawPointer(object), layout, index, row)
        } else {
          unsafe object.initialize(to: try self.object(type, at: row))
        }
        count += 1
        unsafe object += 1
      }
    }
  }

  /// Returns an object of the fetch.
  ///
  /// - Throws: ``MagicError/missingTarget(type:zIndex:)`` if the fetch doesn't contain it.
  func object<Object: MagicObject>(_ type: Object.Type, _ zIndex: Int64) throws -> Object {
    guard let object = try objects(type, [zIndex]).first else {
      throw MagicError.missingTarget(type: "\(type)", zIndex: zIndex)
    }
    return object
  }

  /// Initializes memory with the object that a to-one relation references.
  ///
  /// - Parameters:
  ///   - memory: Uninitialized memory for an object of the type.
  ///   - type: The object's type.
  ///   - zIndex: The object's z_index.
  ///   - relation: The property that references the object.
  /// - Returns: False if the type may not consist of cells only. The memory then remains
  ///   uninitialized.
  @unsafe func initialize(
    _ memory: UnsafeMutableRawPointer, _ type: ObjectIdentifier, _ zIndex: Int64,
    from relation: CellIndex
  ) -> Bool {
    guard relation.table < tables.count else { return false }
    let index = tables[relation.table].targets[relation.slot]
    guard index >= 0 else { return false }
    let table = tables[index]
    guard table.type == type, let layout = table.shape.layout, let row = table.numbers[zIndex]
    else { return false }
    unsafe initialize(memory, layout, index, row + table.start)
    return true
  }

  /// Initializes memory with an object that consists of cells only.
  @unsafe private func initialize(
    _ memory: UnsafeMutableRawPointer, _ layout: CellLayout, _ table: Int, _ row: Int
  ) {
    let storage = storages[row]
    storage.markInstantiated()
    if storage.shape.needsContext {
      unsafe layout.initialize(memory, .row(self), CellIndex(table: table, row: row))
    } else {
      unsafe layout.initialize(memory, .storage(storage), CellIndex(slot: 0))
    }
  }

  /// Creates an object with its `init()`. For a class, returns the same instance as long as it is
  /// alive.
  private func object<Object: MagicObject>(_ type: Object.Type, at row: Int) throws -> Object {
    let storage = storages[row]
    let shape = storage.shape
    if shape.isClass, let known = group.instance(at: row) as? Object { return known }
    storage.markInstantiated()
    let cell =
      shape.needsContext || group.isCreatedByProgram
      ? _MagicCell(.row(self), CellIndex(table: 0, row: row)) : _MagicCell(storage)
    let object = try shape.bound(type, to: cell)
    guard shape.isClass else { return object }
    return group.register(object as AnyObject, at: row) as? Object ?? object
  }

  /// Creates the object at a row as a type-erased value.
  func live(at row: Int) throws -> _LiveValue {
    func make<Object: MagicObject>(_ type: Object.Type) throws -> _LiveValue {
      _LiveValue(try object(type, at: row))
    }
    return try make(storages[row].shape.type)
  }
}

// Relations of fetched objects, which are created when they are read.
extension FetchContext {
  /// Creates the collection of a property that hasn't been set since the fetch.
  func collection<Collection: MagicCollection>(
    _ type: Collection.Type, of storage: ObjectStorage, slot: Int
  ) throws -> Collection {
    let links = links(of: storage, slot: slot)
    let objects = try objects(Collection.Target.self, links.targets)
    if let list = objects as? Collection { return list }
    var next = 0
    return try Collection(
      magicLinks: links.map { key, _ in
        next += 1
        return _MagicLink(key, objects[next - 1])
      })
  }

  /// Creates the collection of a property that has been set since the fetch.
  func collection<Collection: MagicCollection>(
    _ type: Collection.Type, of targets: [RelationTarget]
  ) throws -> Collection {
    try Collection(
      magicLinks: targets.map { target in
        _MagicLink(target.key, try object(Collection.Target.self, target))
      })
  }

  /// Creates the object of a property that has been set since the fetch.
  ///
  /// - Throws: ``WeakObjectReference/Released`` if the object was released, because the reference
  ///   has been replaced in the meantime.
  func object<Object: MagicObject>(
    _ type: Object.Type, _ target: RelationTarget
  ) throws -> Object {
    switch target.end {
    case .fetched(let zIndex): return try object(type, zIndex)
    case .other(let live):
      guard let object = live.value as? Object else { throw MagicError.notSaved(type: "\(type)") }
      return object
    case .weakReference(let weakReference):
      let (context, row) = try context(of: weakReference)
      return try context.object(type, at: row)
    }
  }
}

extension _MagicCell {
  /// Initializes memory with the object that a relation of a fetched object references.
  ///
  /// - Parameters:
  ///   - memory: Uninitialized memory for an object of the type.
  ///   - type: The relation's type.
  /// - Returns: False if the cell contains no such relation, or the type may not consist of cells
  ///   only. The memory then remains uninitialized.
  @usableFromInline @unsafe func initialize(
    _ memory: UnsafeMutableRawPointer, as type: ObjectIdentifier
  ) -> Bool {
    guard case .row(let context) = owner else { return false }
    let target = context.storage(at: index).read(index.slot) { form -> Int64? in
      if case .reference(let zIndex) = form { zIndex } else { nil }
    }
    guard let target else { return false }
    return unsafe context.initialize(memory, type, target, from: index)
  }
}
