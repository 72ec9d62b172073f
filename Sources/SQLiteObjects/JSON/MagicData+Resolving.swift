import SQLiteCore

extension CodingUserInfoKey {
  /// The key of a decoder's `userInfo` for the store in which the objects of relations are looked
  /// up.
  ///
  ///     let decoder = JSONDecoder()
  ///     decoder.userInfo[.magicData] = magic
  ///     let person = try decoder.decode(Person.self, from: json)
  ///
  /// Decoding a relation runs one query, which blocks the thread. If an object isn't in the store,
  /// decoding throws ``MagicError/notFound(type:primary:)``.
  public static let magicData: CodingUserInfoKey = {
    guard let key = CodingUserInfoKey(rawValue: "MagicData.store") else {
      // Programmer error: Swift accepts every string as a key.
      fatalError("CodingUserInfoKey rejects the key of the store")
    }
    return key
  }()
}

extension MagicData {
  /// Replaces the keys in the relations of a decoded object with the objects in this store,
  /// blocking the thread.
  ///
  ///     let person = try JSONDecoder().decode(Person.self, from: json)
  ///     try magic.resolve(person)
  ///     try magic.update(person)
  ///
  /// In JSON, a relation consists of the keys of its objects: their primary values, or their
  /// z_index values if the type has no primary value. You can't save an object before its keys are
  /// resolved. Reading an unresolved property stops the program with a message. The value of an
  /// unresolved ``AsyncMagical`` throws ``MagicError/unresolvedRelation(type:property:)`` instead.
  /// A decoder with `CodingUserInfoKey.magicData` resolves the keys itself.
  ///
  /// - Parameter object: A decoded object. Relations that are already resolved don't change.
  /// - Throws: ``MagicError/notFound(type:primary:)`` if the store contains no object with one of
  ///   the keys, another ``MagicError``, or `SQLiteError`.
  public func resolve<Object: MagicObject>(_ object: Object) throws {
    for relation in try relations(of: object) {
      try relation.set(relation.type, try targets(relation.type, relation.keys))
    }
  }

  /// Replaces the keys in the relations of a decoded object with the objects in this store.
  /// Suspends the task meanwhile.
  ///
  /// For details, see the blocking ``resolve(_:)``.
  ///
  /// - Parameter object: A decoded object. Relations that are already resolved don't change.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was
  ///   cancelled.
  nonisolated(nonsending) public func resolve<Object: MagicObject>(_ object: Object) async throws {
    for relation in try relations(of: object) {
      try relation.set(relation.type, try await targets(relation.type, relation.keys))
    }
  }

  private func relations<Object: MagicObject>(of object: Object) throws -> [UnresolvedRelation] {
    try PropertyCollector.entries(of: object).compactMap { entry in
      guard case .live(let live) = entry.cell.form, let keys = live.unresolvedKeys,
        let type = entry.type.role.target
      else { return nil }
      return UnresolvedRelation(entry: entry, keys: keys, type: type)
    }
  }

  /// Returns the value of a relation that is being decoded, with the objects that the keys identify
  /// in this store. Blocks the thread.
  ///
  /// - Throws: ``MagicError/notFound(type:primary:)`` if the store contains no object with one of
  ///   the keys, ``MagicError/missingValue(type:property:)`` if the relation requires an object and
  ///   there are no keys, another ``MagicError``, or `SQLiteError`.
  package func relation<Relation, Object: MagicObject>(
    _ type: Relation.Type, to target: Object.Type, _ keys: RelationKeys
  ) throws -> _LiveValue {
    let objects = try keys.objects(target, among: targets(target, keys))
    guard let value = try RelationMaker.value(type, objects) else {
      throw MagicError.missingValue(type: "\(target)", property: keys.property)
    }
    return value
  }

  private func targets<Object: MagicObject>(
    _ type: Object.Type, _ keys: RelationKeys
  ) throws -> [Value: any MagicObject] {
    let query = try ObjectQuery(
      self, QueryParts(keys: keys.targets.map(\.target), of: plan(type)))
    return try index(FetchContext(self, read(plan(type), query.load)).objects(of: type))
  }

  nonisolated(nonsending) private func targets<Object: MagicObject>(
    _ type: Object.Type, _ keys: RelationKeys
  ) async throws -> [Value: any MagicObject] {
    let query = try ObjectQuery(
      self, QueryParts(keys: keys.targets.map(\.target), of: plan(type)))
    let graph = try await read(plan(type)) { try query.load($0) }
    return try index(FetchContext(self, graph).objects(of: type))
  }

  private func index<Object: MagicObject>(_ objects: [Object]) throws -> [Value: any MagicObject] {
    var index: [Value: any MagicObject] = [:]
    for object in objects {
      for target in try RelationKeys(of: object).targets { index[target.target] = object }
    }
    return index
  }
}

extension MagicData: RelationResolver {}

/// A relation of a decoded object, with keys to resolve.
private struct UnresolvedRelation {
  let entry: PropertyCollector.Entry
  let keys: RelationKeys
  let type: any MagicObject.Type

  /// Sets the relation to the objects that have its keys.
  func set<Object: MagicObject>(
    _ type: Object.Type, _ objects: [Value: any MagicObject]
  ) throws {
    let targets = try keys.objects(type, among: objects)
    guard let value = try entry.type.relation(to: targets) else {
      throw MagicError.missingValue(type: "\(type)", property: entry.name)
    }
    entry.cell.set(.live(value))
  }
}

extension RelationKeys {
  /// Returns the objects that the keys identify, each with its key in a dictionary, in the order of
  /// the keys.
  ///
  /// - Throws: ``MagicError/notFound(type:primary:)`` if an object is missing.
  fileprivate func objects<Object: MagicObject>(
    _ type: Object.Type, among objects: [Value: any MagicObject]
  ) throws -> [(key: Value, object: Object)] {
    try targets.map { key, target in
      guard let object = objects[target] as? Object else {
        throw MagicError.notFound(type: "\(type)", primary: "\(target)")
      }
      return (key, object)
    }
  }
}

extension MagicProperty {
  /// Returns a value of the property that references the objects. Returns nil if the property can't
  /// reference objects of this type, or if it requires an object and `targets` is empty.
  fileprivate static func relation<Object: MagicObject>(
    to targets: [(key: SQLiteCore.Value, object: Object)]
  ) throws -> _LiveValue? {
    try RelationMaker.value(Value.self, targets)
  }
}

/// A type that wraps the type of a relation, such as `Optional` or ``AsyncMagical``.
private protocol RelationWrapper {
  static func relation<Object: MagicObject>(
    to targets: [(key: SQLiteCore.Value, object: Object)]
  ) throws -> _LiveValue?
}

extension Optional: RelationWrapper {
  fileprivate static func relation<Object: MagicObject>(
    to targets: [(key: SQLiteCore.Value, object: Object)]
  ) throws -> _LiveValue? {
    try RelationMaker.value(Wrapped.self, targets)
  }
}

extension AsyncMagical: RelationWrapper {
  fileprivate static func relation<Object: MagicObject>(
    to targets: [(key: SQLiteCore.Value, object: Object)]
  ) throws -> _LiveValue? {
    let live = try RelationMaker.value(Element.self, targets)
    return (live?.value as? Element).map { _LiveValue(AsyncMagical(value: $0)) }
  }
}

private enum RelationMaker {
  static func value<Object: MagicObject>(
    _ type: Any.Type, _ targets: [(key: SQLiteCore.Value, object: Object)]
  ) throws -> _LiveValue? {
    if let type = type as? any RelationWrapper.Type { return try type.relation(to: targets) }
    if type == Object.self { return targets.first.map { _LiveValue($0.object) } }
    guard let type = type as? any MagicCollection<Object>.Type else { return nil }
    return try collection(type, targets)
  }

  private static func collection<Collection: MagicCollection>(
    _ type: Collection.Type, _ targets: [(key: SQLiteCore.Value, object: Collection.Target)]
  ) throws -> _LiveValue {
    do {
      return _LiveValue(try Collection(magicLinks: targets.map { _MagicLink($0.key, $0.object) }))
    } catch {
      // Coders encode a number that is a dictionary's key as text.
      let links = targets.map { _MagicLink(number($0.key) ?? $0.key, $0.object) }
      return _LiveValue(try Collection(magicLinks: links))
    }
  }

  private static func number(_ key: SQLiteCore.Value) -> SQLiteCore.Value? {
    guard case .text(let text) = key else { return nil }
    return Int64(text).map { .integer($0) } ?? Double(text).map { .real($0) }
  }
}
