import SQLiteCore
import SQLiteRelations

extension AsyncMagical {
  /// Returns the value if it was set, or the related objects in the store.
  ///
  /// - Throws: ``MagicError/detachedValue(type:)`` if the value was never set and its object never
  ///   saved, ``MagicError/unresolvedRelation(type:property:)`` if the value was decoded and not
  ///   resolved, ``MagicError/closed`` if the store was released, or ``MagicError/restored(type:)``
  ///   if the store's contents have been replaced since the object was fetched.
  func known() throws -> Known {
    let state = try box.folded()
    if let objects = try state.objects(of: Element.self) { return .source(objects, state) }
    let asset = (state.live?.value as? any AssetValue)?.sharingContent
    guard let value = asset as? Element ?? state.live?.value as? Element else {
      throw MagicError.detachedValue(type: "\(Element.self)")
    }
    return .value(value)
  }

  /// A value that was set, or the related objects in the store with the changes to apply to them.
  enum Known {
    case value(Element)
    case source(RelatedObjects, LazyState)
  }

  /// Fetches the value, blocking the thread. Each call fetches it again, unless the value was set.
  ///
  /// - Returns: The related object or the collection. A collection includes unsaved changes.
  /// - Throws: ``MagicError``, such as ``MagicError/missingTarget(type:zIndex:)`` if the object or
  ///   a related object was removed, ``MagicError/detachedValue(type:)`` if the value was never set
  ///   and its object never saved, or ``MagicError/closed`` if the store was closed; or
  ///   `SQLiteError`.
  public func get() throws -> Element { try value.get() }

  /// Fetches the value, suspending the task. Each call fetches it again, unless the value was set.
  ///
  /// For details, see the blocking ``get()``.
  ///
  /// - Returns: The related object or the collection. A collection includes unsaved changes.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending) public func get() async throws -> Element { try await value.get() }

  private var value: LazyAnswer<Element> {
    get throws {
      switch try known() {
      case .value(let value): return .known(value)
      case .source(let objects, let state):
        return objects.request {
          try objects.targets($0)
        } then: {
          .known(try value(of: $0, objects, state))
        }
      }
    }
  }

  /// Creates the related object or the collection from the result of a read. A collection includes
  /// the unsaved changes.
  ///
  /// - Throws: ``MagicError/lostTarget(type:property:zIndex:)`` if the related object doesn't
  ///   exist.
  private func value(
    of found: RelatedObjects.ReadResult, _ objects: RelatedObjects, _ state: LazyState
  ) throws -> Element {
    func object<Object: MagicObject>(_ type: Object.Type) throws -> Any? {
      try objects.links(to: type, found).first?.object
    }
    func collection<Collection: MagicCollection>(_ type: Collection.Type) throws -> Any? {
      let links = try objects.links(to: Collection.Target.self, found)
      let targets = LinkTargets(
        found.links.map { ($0.place, $0.target) }, Collection.arrangement)
      box.show(
        LazyLinks(store: objects.store.identity, owner: objects.zIndex, links: targets),
        after: state)
      return try Collection(magicLinks: links).applying(state.changes, in: objects.store.identity)
    }
    let made: Any? =
      if let type = Element.self as? any MagicObject.Type {
        try object(type)
      } else if let type = Element.self as? any MagicCollection.Type {
        try collection(type)
      } else {
        nil
      }
    guard let value = made as? Element else {
      throw MagicError.lostTarget(
        type: objects.relation.owner.typeName, property: objects.relation.property.name,
        zIndex: objects.zIndex)
    }
    return value
  }
}

extension AsyncMagical where Element: MagicCollection {
  /// Returns the number of objects without fetching them, blocking the thread.
  ///
  ///     let number = try owner.items.count()
  ///
  /// An object that an array contains several times is counted several times. Unsaved changes are
  /// included. To count objects that match a filter, fetch `owner.items.where(…).count`.
  ///
  /// - Throws: ``MagicError``, such as ``MagicError/closed`` if the store was closed, or
  ///   ``MagicError/detachedValue(type:)`` if the value was never set and its object never saved;
  ///   or `SQLiteError`.
  public func count() throws -> Int { try number().get() }

  /// Returns the number of objects without fetching them, suspending the task.
  ///
  /// For details, see the blocking ``count()``.
  ///
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was
  ///   cancelled.
  nonisolated(nonsending) public func count() async throws -> Int { try await number().get() }

  private func number() throws -> LazyAnswer<Int> {
    switch try known() {
    case .value(let value): return .known(try value.magicLinks.count)
    case .source(let objects, let state):
      if let added = state.edits.isEmpty ? 0 : addedCount(state) {
        return objects.request(isOneStatement: true) {
          try objects.count($0)
        } then: {
          .known($0.count + added)
        }
      }
      return objects.request {
        try objects.links($0)
      } then: {
        .known(try items($0.links, objects, state).count)
      }
    }
  }

  /// Fetches objects at a range of positions, blocking the thread.
  ///
  ///     let part = try owner.items.objects(limit: 20, offset: 40)
  ///
  /// Unsaved changes are included. For a filter or another order, fetch `owner.items.where(…)`.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of objects, or nil for all.
  ///   - offset: The number of objects to skip.
  /// - Returns: The objects in the order of the collection. For a dictionary, pairs of a key and an
  ///   object.
  /// - Throws: ``MagicError``, such as ``MagicError/closed`` if the store was closed, or
  ///   ``MagicError/detachedValue(type:)`` if the value was never set and its object never saved;
  ///   or `SQLiteError`.
  public func objects(limit: Int? = nil, offset: Int = 0) throws -> [Element.MagicItem] {
    try part(limit, offset).get()
  }

  /// Fetches objects at a range of positions, suspending the task.
  ///
  /// For details, see the blocking ``objects(limit:offset:)``.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of objects, or nil for all.
  ///   - offset: The number of objects to skip.
  /// - Returns: The objects in the order of the collection. For a dictionary, pairs of a key and an
  ///   object.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending) public func objects(
    limit: Int? = nil, offset: Int = 0
  ) async throws -> [Element.MagicItem] {
    try await part(limit, offset).get()
  }

  private func part(_ limit: Int?, _ offset: Int) throws -> LazyAnswer<[Element.MagicItem]> {
    try items(Relation.Page(limit: limit, offset: offset)) { count in
      let start = min(max(0, offset), count)
      return start..<start + min(max(0, limit ?? count), count - start)
    }
  }

  /// Fetches a random object of the collection without fetching the others, blocking the thread.
  ///
  /// - Returns: The object, or a pair of a key and an object if the collection is a dictionary; nil
  ///   if the collection is empty.
  /// - Throws: ``MagicError``, such as ``MagicError/closed`` if the store was closed, or
  ///   ``MagicError/detachedValue(type:)`` if the value was never set and its object never saved;
  ///   or `SQLiteError`.
  public func randomValue() throws -> Element.MagicItem? { try random(nil).get() }

  /// Fetches a random object of the collection without fetching the others, suspending the task.
  ///
  /// - Returns: The object, or a pair of a key and an object if the collection is a dictionary; nil
  ///   if the collection is empty.
  /// - Throws: The errors of the blocking ``randomValue()``, and `CancellationError` if the task
  ///   was cancelled.
  nonisolated(nonsending) public func randomValue() async throws -> Element.MagicItem? {
    try await random(nil).get()
  }

  fileprivate func random(_ range: Range<Int>?) throws -> LazyAnswer<Element.MagicItem?> {
    try items { count in
      let range = range ?? 0..<count
      guard range.lowerBound >= 0, range.upperBound <= count else {
        throw MagicError.outOfRange(count: count)
      }
      return range.randomElement().map { $0..<$0 + 1 } ?? 0..<0
      // Not a key path: in generic code, each call would create it.
    }.map { $0.first }
  }

  /// Returns the items at a range of positions.
  ///
  /// - Parameters:
  ///   - page: The page of links at these positions, or nil if it depends on the number of items.
  ///   - positions: A closure that returns the positions in a collection with a given number of
  ///     items.
  private func items(
    _ page: Relation.Page? = nil, at positions: @escaping @Sendable (Int) throws -> Range<Int>
  ) throws -> LazyAnswer<[Element.MagicItem]> {
    switch try known() {
    case .value(let value):
      let links = try value.magicLinks
      return .known(try links[positions(links.count)].map { try Element.magicItem(of: $0) })
    case .source(let objects, let state) where state.edits.isEmpty:
      return objects.request { connection in
        if let page { return try objects.targets(connection, page) }
        let count = try objects.count(connection).count
        let range = try positions(count)
        var found = try objects.targets(
          connection, Relation.Page(limit: range.count, offset: range.lowerBound))
        found.count = count
        return found
      } then: {
        // Nothing was read if the store has no table of links yet. Check the positions in this case
        // too.
        if $0.links.isEmpty { _ = try positions($0.count) }
        return .known(try items(of: $0, objects))
      }
    case .source(let objects, let state):
      return objects.request {
        try objects.links($0)
      } then: {
        let items = try items($0.links, objects, state)
        return try fetching(items[positions(items.count)], objects)
      }
    }
  }
}

extension AsyncMagical
where Element: MagicCollection & RandomAccessCollection, Element.Index == Int {
  /// Fetches a random object from a range of positions without fetching the others, blocking the
  /// thread.
  ///
  /// - Parameter range: The positions, starting at 0.
  /// - Returns: The object at a random position in the range, or nil if the range is empty.
  /// - Throws: ``MagicError/outOfRange(count:)`` if the range isn't within the positions of the
  ///   collection, another ``MagicError``, or `SQLiteError`.
  public func randomValue(in range: Range<Int>) throws -> Element.MagicItem? {
    try random(range).get()
  }

  /// Fetches a random object from a range of positions without fetching the others, suspending the
  /// task.
  ///
  /// - Parameter range: The positions, starting at 0.
  /// - Returns: The object at a random position in the range, or nil if the range is empty.
  /// - Throws: The errors of the blocking ``randomValue(in:)``, and `CancellationError` if the task
  ///   was cancelled.
  nonisolated(nonsending) public func randomValue(
    in range: Range<Int>
  ) async throws -> Element.MagicItem? {
    try await random(range).get()
  }
}

extension AsyncMagical {
  /// Fetches the object for a key of the dictionary without fetching the others, blocking the
  /// thread.
  ///
  /// - Parameter key: The key.
  /// - Returns: The object, or nil if the dictionary doesn't contain the key.
  /// - Throws: ``MagicError``, such as ``MagicError/closed`` if the store was closed, or
  ///   ``MagicError/detachedValue(type:)`` if the value was never set and its object never saved;
  ///   `SQLiteError`, or an encoding error if the key can't be stored.
  public func value<Key: Codable & Hashable, Object: MagicObject>(
    forKey key: Key
  ) throws -> Object? where Element == [Key: Object] {
    try object(forKey: key).get()
  }

  /// Fetches the object for a key of the dictionary without fetching the others, suspending the
  /// task.
  ///
  /// - Parameter key: The key.
  /// - Returns: The object, or nil if the dictionary doesn't contain the key.
  /// - Throws: The errors of the blocking ``value(forKey:)``, and `CancellationError` if the task
  ///   was cancelled.
  nonisolated(nonsending) public func value<Key: Codable & Hashable, Object: MagicObject>(
    forKey key: Key
  ) async throws -> Object? where Element == [Key: Object] {
    try await object(forKey: key).get()
  }

  private func object<Key: Codable & Hashable, Object: MagicObject>(
    forKey key: Key
  ) throws -> LazyAnswer<Object?> where Element == [Key: Object] {
    switch try known() {
    case .value(let value): return .known(value[key])
    case .source(let objects, let state):
      let stored = try stored(key: key)
      return objects.request {
        try objects.links($0, objects.relation.keys.page(at: stored))
      } then: {
        let items = try items($0.links, objects, state).filter { $0.key == stored }
        return try fetching(items[...], objects).map { $0.first?.value }
      }
    }
  }
}

// Collections with unsaved changes: the links are read without their objects, the changes are
// applied to them, and only the requested objects are fetched.
extension AsyncMagical where Element: MagicCollection {
  /// Returns the items of a collection: stored links after applying the unsaved changes.
  func items(
    _ links: [StoredLink], _ objects: RelatedObjects, _ state: LazyState
  ) throws -> [LazyItem] {
    let store = objects.store.identity
    var items = links.map { LazyItem.stored($0, store) }
    try LazyItem.apply(state.changes, to: &items, Element.arrangement, in: store)
    return items
  }

  /// Returns the objects of items, each with its key if the collection is a dictionary. Fetches the
  /// objects of stored links, and skips those that have been removed since the links were read.
  func fetching(
    _ items: ArraySlice<LazyItem>, _ objects: RelatedObjects
  ) throws -> LazyAnswer<[Element.MagicItem]> {
    let links = items.compactMap(\.link)
    guard !links.isEmpty else { return .known(try joined(items, [], [])) }
    return objects.request {
      try objects.present(links, $0)
    } then: {
      .known(try joined(items, $0.links, objects.links(to: Element.Target.self, $0)))
    }
  }

  /// Combines the fetched objects and the objects that were added to the collection, in the order
  /// of the items.
  private func joined(
    _ items: ArraySlice<LazyItem>, _ links: [StoredLink], _ fetched: [_MagicLink<Element.Target>]
  ) throws -> [Element.MagicItem] {
    var next = 0
    return try items.compactMap { item in
      switch item {
      case .added(let key, let target):
        return try Element.magicItem(of: _MagicLink.make(key, target))
      case .stored(let link, _):
        // The read skipped links to objects that were removed in the meantime.
        guard next < links.count, links[next] == link else { return nil }
        next += 1
        return try Element.magicItem(of: fetched[next - 1])
      }
    }
  }

  func items(
    of found: RelatedObjects.ReadResult, _ objects: RelatedObjects
  ) throws -> [Element.MagicItem] {
    try objects.links(to: Element.Target.self, found).map { try Element.magicItem(of: $0) }
  }

  /// Returns the number of objects that the changes add to an array. Returns nil if there are other
  /// changes, or if the collection isn't an array.
  private func addedCount(_ state: LazyState) -> Int? {
    Element.arrangement == .list ? LinkEdit.addedCount(state.changes) : nil
  }
}

extension LazyState {
  /// The related objects in the store, or nil if the value was set.
  ///
  /// - Parameter type: The type of the value.
  /// - Throws: ``MagicError/detachedValue(type:)`` if the value was never set and its object never
  ///   saved, ``MagicError/unresolvedRelation(type:property:)`` if the value was decoded and not
  ///   resolved, ``MagicError/closed`` if the store was released, or ``MagicError/restored(type:)``
  ///   if the store's contents have been replaced since the object was fetched.
  func objects(of type: Any.Type) throws -> RelatedObjects? {
    switch content {
    case .set: return nil
    case .stored(let source): return try source.objects
    case .decoded(let keys):
      throw MagicError.unresolvedRelation(type: "AsyncMagical<\(type)>", property: keys.property)
    case .unset: throw MagicError.detachedValue(type: "\(type)")
    }
  }
}
