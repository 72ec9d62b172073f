import SQLiteCore
import SQLiteMapping
import SQLiteRelations

/// A value that is loaded on demand instead of together with its object.
///
///     @MagicValue var photo: AsyncMagical<MagicAsset<Data>>
///     …
///     let photo = try await person.photo.get()
///
/// Use it for assets, objects and collections of objects. Copies share the value. If you neither
/// set nor change the value, saving the object leaves it unchanged in the store.
///
/// You can change a collection without fetching it:
///
///     playlist.songs.append(song)
///     try await magic.update(playlist)
///
/// The save applies such changes to the collection's current contents in the store. Until
/// then, the methods of this type include them in their results, but queries of the collection
/// throw ``MagicError/unsavedChanges(type:)``.
public struct AsyncMagical<Element: Codable> {
  package let box: LazyBox

  /// Creates a lazy value from a value in memory, which is saved with its object.
  ///
  /// - Parameter value: The value.
  public init(value: Element) {
    let live = _LiveValue((value as? any AssetValue)?.withoutContent ?? value)
    box = LazyBox(LazyState(.set(live), number: 1))
  }

  package init(source: LazySource?) {
    box = LazyBox(LazyState(source.map { .stored($0) } ?? .unset))
  }

  package init(unresolved keys: RelationKeys) {
    box = LazyBox(LazyState(.decoded(keys)))
  }

  /// Creates an unset value. Fetching it throws ``MagicError/detachedValue(type:)`` until you set
  /// it. A change such as `append(_:)` treats an unset collection as empty.
  public init() {
    box = LazyBox(LazyState(.unset))
  }

  /// Sets the value, which is saved with the object.
  ///
  /// If the value is a collection that was saved before or fetched by `get()`, the save writes only
  /// what you have added, removed or moved since. Otherwise the value replaces what the store
  /// contains.
  ///
  /// - Parameter value: The new value.
  public func set(_ value: Element) {
    let live = _LiveValue((value as? any AssetValue)?.withoutContent ?? value)
    box.set(live)
  }

  /// Records a change of the collection, for the next save to write.
  func change(_ change: LinkEdit<_LiveValue>) where Element: MagicCollection {
    // A value that was never set is an empty collection.
    let none = try? Element(magicLinks: [])
    box.change(change, orEmpty: none.map { _LiveValue($0) })
  }
}

extension AsyncMagical: Sendable where Element: Sendable {}

extension AsyncMagical: LazyValue {
  package static var role: _PropertyRole { .of(Element.self) }
}

extension AsyncMagical: MagicRelation where Element: MagicRelation {
  /// The type of the related objects.
  public typealias Target = Element.Target
}

extension AsyncMagical: Codable {
  /// Creates a value by decoding it from external data, such as JSON.
  ///
  /// - Parameter decoder: The decoder to read from.
  /// - Throws: Any error of the decoder or of the value's `init(from:)`.
  public init(from decoder: any Decoder) throws {
    self.init(value: try Element(from: decoder))
  }

  /// Encodes the value if it was set, else null. A relation that wasn't set isn't fetched, but the
  /// content of a saved asset is read, blocking the thread.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: Any error of the encoder, or of the value's own `encode(to:)`.
  public func encode(to encoder: any Encoder) throws {
    try (box.folded().live?.value as? Element).encode(to: encoder)
  }
}

extension AsyncMagical: AssetValue where Element: AssetValue {
  package init(_ handle: AssetHandle?) {
    box = LazyBox(LazyState(.set(_LiveValue(Element(handle)))))
  }

  package var pending: PendingAsset? {
    get throws { try (box.state.live?.value as? Element)?.pending }
  }

  // A lazy asset stores no loaded content. Only the asset that `get()` returns does.
  package var withoutContent: AsyncMagical { self }
  package var sharingContent: AsyncMagical { self }
}

// Changes of a collection without fetching it. They don't access the database: the next save of the
// object applies them. Without a save, they are lost.

extension AsyncMagical where Element: MagicCollection {
  /// Removes all links to an object from the collection at the next save.
  ///
  /// An array may contain the object several times, and a dictionary may contain it for several
  /// keys. The object itself remains in the store.
  ///
  /// - Parameter object: The object to remove from the collection.
  public func remove(_ object: Element.Target) {
    change(.remove(_LiveValue(object)))
  }

  /// Removes all objects that the collection contains at the next save, including objects that were
  /// added concurrently.
  public func removeAll() {
    change(.removeAll)
  }
}

extension AsyncMagical {
  /// Appends an object at the next save, after objects that were appended concurrently.
  ///
  ///     playlist.songs.append(song)
  ///     try await magic.update(playlist)
  ///
  /// - Parameter object: The object, which is saved too.
  public func append<Object: MagicObject>(_ object: Object) where Element == [Object] {
    change(.add([_LiveValue(object)], at: nil))
  }

  /// Appends objects at the next save, after objects that were appended concurrently.
  ///
  /// - Parameter objects: The objects, which are saved too.
  public func append<Object: MagicObject>(
    contentsOf objects: some Sequence<Object>
  ) where Element == [Object] {
    change(.add(objects.map { _LiveValue($0) }, at: nil))
  }

  /// Inserts an object at the next save. The position is counted in the list at that time.
  ///
  /// - Parameters:
  ///   - object: The object, which is saved too.
  ///   - position: The number of objects before the new one. Beyond the end, the object is
  ///     appended. A negative position inserts the object at the start.
  /// - Complexity: O(`position`) at the save.
  public func insert<Object: MagicObject>(_ object: Object, at position: Int)
  where Element == [Object] {
    change(.add([_LiveValue(object)], at: position))
  }

  /// Inserts an object into the set at the next save, unless the set then contains it.
  ///
  /// - Parameter object: The object, which is saved too.
  public func insert<Object: MagicObject>(_ object: Object) where Element == MagicalSet<Object> {
    change(.add([_LiveValue(object)], at: nil))
  }

  /// Inserts objects into the set at the next save, except those that the set then contains.
  ///
  /// - Parameter objects: The objects, which are saved too.
  public func insert<Object: MagicObject>(
    contentsOf objects: some Sequence<Object>
  ) where Element == MagicalSet<Object> {
    change(.add(objects.map { _LiveValue($0) }, at: nil))
  }

  /// At the next save, sets the object for a key of the dictionary, or removes the key if the
  /// object is nil.
  ///
  ///     try shop.roles.set(ada, forKey: "till")
  ///
  /// - Parameters:
  ///   - object: The object, which is saved too, or nil to remove the key.
  ///   - key: The key, which must not be nil.
  /// - Throws: `SQLiteError` or an encoding error if the key is nil or can't be stored.
  public func set<Key: Codable & Hashable, Object: MagicObject>(
    _ object: Object?, forKey key: Key
  ) throws where Element == [Key: Object] {
    let stored = try stored(key: key)
    change(object.map { .put(_LiveValue($0), key: stored) } ?? .removeKey(stored))
  }

  /// Returns the stored form of a key.
  ///
  /// - Throws: `SQLiteError` or an encoding error if the key is nil or can't be stored.
  func stored<Key: Codable>(key: Key) throws -> Value {
    let stored = try ColumnStorage.stored(key)
    guard !stored.isNull else {
      throw SQLiteError(.mismatch, "a dictionary of objects cannot have nil as a key")
    }
    return stored
  }
}
