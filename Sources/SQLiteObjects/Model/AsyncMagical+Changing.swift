import SQLiteCore
import SQLiteRelations

// Changes of a collection that is not fetched for them. None of them reads or writes the database: they
// are made in the store with the next save of the object, or lost if that never comes.

extension AsyncMagical where Element: MagicCollection {
  /// Removes an object from the collection, however often and by whatever keys it is there.
  ///
  /// The object itself stays in the store.
  ///
  /// - Parameter object: The object.
  public func remove(_ object: Element.Target) {
    change(.remove(LiveValue(object)))
  }

  /// Removes all objects that the collection has when the change is saved, those included that others
  /// have added meanwhile.
  public func removeAll() {
    change(.removeAll)
  }
}

extension AsyncMagical {
  /// Adds an object at the end, behind those that others have added before the change is saved.
  ///
  ///     playlist.songs.append(song)
  ///     try await magic.update(playlist)
  ///
  /// - Parameter object: The object. It is saved with the change.
  public func append<Object: MagicObject>(_ object: Object) where Element == [Object] {
    change(.add([LiveValue(object)], at: nil))
  }

  /// Adds objects at the end, behind those that others have added before the change is saved.
  ///
  /// - Parameter objects: The objects. They are saved with the change.
  public func append<Object: MagicObject>(
    contentsOf objects: some Sequence<Object>
  ) where Element == [Object] {
    change(.add(objects.map { LiveValue($0) }, at: nil))
  }

  /// Inserts an object at a place that is counted off when the change is saved.
  ///
  /// - Parameters:
  ///   - object: The object. It is saved with the change.
  ///   - place: How many objects come before it; the end, if there are less.
  /// - Complexity: O(`place`) when it is saved.
  public func insert<Object: MagicObject>(_ object: Object, at place: Int)
  where Element == [Object] {
    change(.add([LiveValue(object)], at: place))
  }

  /// Inserts an object into a set, unless it is there.
  ///
  /// - Parameter object: The object. It is saved with the change.
  public func insert<Object: MagicObject>(_ object: Object) where Element == MagicalSet<Object> {
    change(.add([LiveValue(object)], at: nil))
  }

  /// Inserts those of some objects into a set that are not there.
  ///
  /// - Parameter objects: The objects. They are saved with the change.
  public func insert<Object: MagicObject>(
    contentsOf objects: some Sequence<Object>
  ) where Element == MagicalSet<Object> {
    change(.add(objects.map { LiveValue($0) }, at: nil))
  }

  /// Lets a key of a dictionary lead to an object, or to none.
  ///
  ///     try shop.roles.set(ada, forKey: "till")
  ///
  /// - Parameters:
  ///   - object: The object, which is saved with the change, or nil to remove the key.
  ///   - key: The key.
  /// - Throws: ``SQLiteError`` or `EncodingError` if the key cannot be stored.
  public func set<Key: Codable & Hashable, Object: MagicObject>(
    _ object: Object?, forKey key: Key
  ) throws where Element == [Key: Object] {
    let place = try place(of: key)
    change(object.map { .put(LiveValue($0), key: place) } ?? .removeKey(place))
  }

  /// Fetches the object that a key of a dictionary leads to, and no other; nil if there is none. Blocks
  /// the thread.
  ///
  /// - Parameter key: The key.
  /// - Throws: ``MagicError`` or ``SQLiteError``; `EncodingError` if the key cannot be stored.
  public func value<Key: Codable & Hashable, Object: MagicObject>(
    forKey key: Key
  ) throws -> Object? where Element == [Key: Object] {
    switch try known() {
    case .value(let value): return value[key]
    case .source(let source, let state):
      let place = try place(of: key)
      let links = try source.store.read { try source.links(place, $0) }
      let items = try items(links, source, state).filter { $0.place == place }
      return try fetch(items, source).first?.object
    }
  }

  /// As the blocking ``value(forKey:)``, suspending the task.
  ///
  /// - Parameter key: The key.
  /// - Throws: As the blocking form, or `CancellationError`.
  nonisolated(nonsending) public func value<Key: Codable & Hashable, Object: MagicObject>(
    forKey key: Key
  ) async throws -> Object? where Element == [Key: Object] {
    switch try known() {
    case .value(let value): return value[key]
    case .source(let source, let state):
      let place = try place(of: key)
      let links = try await source.store.read { try source.links(place, $0) }
      let items = try items(links, source, state).filter { $0.place == place }
      return try await fetch(items, source).first?.object
    }
  }

  /// What is stored for a key.
  private func place<Key: Codable>(of key: Key) throws -> Value {
    let place = try ValueCoding.stored(key)
    guard !place.isNull else {
      throw SQLiteError(.mismatch, "nil is no key of a dictionary of objects")
    }
    return place
  }
}
