import SQLiteCore
import SQLiteRelations

// Changes of a collection that is not fetched for them. None of them reads or writes the database: the
// next save of the object makes them in the store; without one they are lost.

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

  /// Inserts an object at a position that is counted off when the change is saved.
  ///
  /// - Parameters:
  ///   - object: The object. It is saved with the change.
  ///   - position: The number of objects before it; the end, if there are fewer.
  /// - Complexity: O(`position`) when it is saved.
  public func insert<Object: MagicObject>(_ object: Object, at position: Int)
  where Element == [Object] {
    change(.add([LiveValue(object)], at: position))
  }

  /// Inserts an object into a set, unless it is there.
  ///
  /// - Parameter object: The object. It is saved with the change.
  public func insert<Object: MagicObject>(_ object: Object) where Element == MagicalSet<Object> {
    change(.add([LiveValue(object)], at: nil))
  }

  /// Inserts objects into a set, except those that are there.
  ///
  /// - Parameter objects: The objects. They are saved with the change.
  public func insert<Object: MagicObject>(
    contentsOf objects: some Sequence<Object>
  ) where Element == MagicalSet<Object> {
    change(.add(objects.map { LiveValue($0) }, at: nil))
  }

  /// Sets or removes the object of a key of a dictionary.
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
    let place = try stored(key: key)
    change(object.map { .put(LiveValue($0), key: place) } ?? .removeKey(place))
  }

  /// The stored form of a key.
  func stored<Key: Codable>(key: Key) throws -> Value {
    let place = try ValueCoding.stored(key)
    guard !place.isNull else {
      throw SQLiteError(.mismatch, "nil is no key of a dictionary of objects")
    }
    return place
  }
}
