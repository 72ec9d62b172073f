import SQLiteCore
import SQLiteMapping
import SQLiteRelations
import Synchronization

/// A value that is not fetched with its object, but when it is asked for.
///
///     @MagicValue var photo: AsyncMagical<MagicAsset<Data>>
///     …
///     let photo = try await person.photo.get()
///
/// For assets, objects and collections of objects. Copies share the value. As long as it was neither
/// set nor changed, saving the object leaves it alone.
///
/// A collection can be changed without being fetched:
///
///     playlist.songs.append(song)
///     try await magic.update(playlist)
///
/// Such changes are made in the store when the object is saved, to what the collection is then. Until then
/// whatever is asked of the value shows them.
public struct AsyncMagical<Element: Codable>: Sendable {
  /// Shared by the copies.
  private final class Box: Sendable {
    /// A value's `deinit` may ask for the value: so none goes while this is locked.
    let state: Mutex<LazyState>

    init(_ state: LazyState) {
      self.state = Mutex(state)
    }

    deinit {
      IterativeRelease.forms(
        state.withLock { state in
          let held = state.held
          state = LazyState(.unset)
          return held
        })
    }
  }

  private let box: Box

  /// Makes a value that is known.
  ///
  /// - Parameter value: The value.
  public init(value: Element) {
    let live = _LiveValue((value as? any AssetValue)?.resting ?? value)
    box = Box(LazyState(.set(live), number: 1))
  }

  package init(source: LazySource?) {
    box = Box(LazyState(source.map { .stored($0) } ?? .unset))
  }

  package init(unresolved keys: RelationKeys) {
    box = Box(LazyState(.decoded(keys)))
  }

  /// Makes a value that is set later.
  public init() {
    box = Box(LazyState(.unset))
  }

  /// Sets the value, to be saved with the object.
  ///
  /// Of a collection that `get()` has fetched, or that was saved, the difference to that is saved;
  /// otherwise the value replaces what is in the store.
  ///
  /// - Parameter value: The value.
  public func set(_ value: Element) {
    let live = _LiveValue((value as? any AssetValue)?.resting ?? value)
    _ = box.state.withLock { state in
      let former = state
      state.set(live)
      return former
    }
  }

  /// Notes a change of a collection.
  func change(_ change: LinkEdit<_LiveValue>) where Element: MagicCollection {
    // A value that was never set has no objects.
    let none = try? Element(magicLinks: [])
    box.state.withLock { state in
      if case .unset = state.content, let none { state.content = .set(_LiveValue(none)) }
      state.change(change)
    }
  }

  /// Notes the links of a collection that a fetch has shown.
  ///
  /// - Parameters:
  ///   - links: The links that were in the store.
  ///   - state: The state before the fetch.
  func show(_ links: LazyLinks, after state: LazyState) {
    box.state.withLock { current in
      guard current.source?.zIndex == links.owner else { return }
      // The fetch has shown changes that were saved meanwhile, too: the links before them are not known.
      current.base = current.saved == state.saved ? links : nil
    }
  }
}

extension AsyncMagical: LazyValue {
  package static var role: _PropertyRole { .of(Element.self) }

  package var state: LazyState { box.state.withLock { $0 } }

  package func folded() throws -> LazyState {
    let state = state
    if state.edits.isEmpty || state.live == nil { return state }
    let folded = try state.folded()
    _ = box.state.withLock { current in
      let former = current
      if current.number == state.number, current.edits.count == state.edits.count {
        current.content = folded.content
        current.edits = []
      }
      return former
    }
    return folded
  }

  package func saved(_ state: LazyState, _ base: LazyLinks?, leftAt source: LazySource?) {
    _ = box.state.withLock { current in
      let former = current
      current.settle(state, base: base, source: source)
      return former
    }
  }

  package func unsaved(_ state: LazyState) {
    _ = box.state.withLock { current in
      let former = current
      current.unsettle(state)
      return former
    }
  }
}

extension AsyncMagical: MagicRelation where Element: MagicRelation {
  /// The type of the objects.
  public typealias Target = Element.Target
}

extension AsyncMagical: Codable {
  /// Reads a value from outside the store.
  public init(from decoder: any Decoder) throws {
    self.init(value: try Element(from: decoder))
  }

  /// Writes the value if it is known, else null.
  public func encode(to encoder: any Encoder) throws {
    try (folded().live?.value as? Element).encode(to: encoder)
  }
}

extension AsyncMagical: AssetValue where Element: AssetValue {
  package init(_ handle: AssetHandle?) {
    box = Box(LazyState(.set(_LiveValue(Element(handle)))))
  }

  package var pending: PendingAsset? {
    get throws { try (state.live?.value as? Element)?.pending }
  }

  // It keeps no content that was read: `get()` hands that out.
  package var resting: AsyncMagical { self }
  package var handedOut: AsyncMagical { self }
}

// Changes of a collection that is not fetched for them. None of them reads or writes the database: the
// next save of the object makes them in the store; without one they are lost.

extension AsyncMagical where Element: MagicCollection {
  /// Removes an object from the collection, however often and by whatever keys it is there.
  ///
  /// The object itself stays in the store.
  ///
  /// - Parameter object: The object.
  public func remove(_ object: Element.Target) {
    change(.remove(_LiveValue(object)))
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
    change(.add([_LiveValue(object)], at: nil))
  }

  /// Adds objects at the end, behind those that others have added before the change is saved.
  ///
  /// - Parameter objects: The objects. They are saved with the change.
  public func append<Object: MagicObject>(
    contentsOf objects: some Sequence<Object>
  ) where Element == [Object] {
    change(.add(objects.map { _LiveValue($0) }, at: nil))
  }

  /// Inserts an object at a position that is counted off when the change is saved.
  ///
  /// - Parameters:
  ///   - object: The object. It is saved with the change.
  ///   - position: The number of objects before it. If there are fewer, it is added at the end; a negative
  ///     position is the start.
  /// - Complexity: O(`position`) when it is saved.
  public func insert<Object: MagicObject>(_ object: Object, at position: Int)
  where Element == [Object] {
    change(.add([_LiveValue(object)], at: position))
  }

  /// Inserts an object into a set, unless it is there.
  ///
  /// - Parameter object: The object. It is saved with the change.
  public func insert<Object: MagicObject>(_ object: Object) where Element == MagicalSet<Object> {
    change(.add([_LiveValue(object)], at: nil))
  }

  /// Inserts objects into a set, except those that are there.
  ///
  /// - Parameter objects: The objects. They are saved with the change.
  public func insert<Object: MagicObject>(
    contentsOf objects: some Sequence<Object>
  ) where Element == MagicalSet<Object> {
    change(.add(objects.map { _LiveValue($0) }, at: nil))
  }

  /// Sets or removes the object of a key of a dictionary.
  ///
  ///     try shop.roles.set(ada, forKey: "till")
  ///
  /// - Parameters:
  ///   - object: The object, which is saved with the change, or nil to remove the key.
  ///   - key: The key.
  /// - Throws: `SQLiteError` or `EncodingError` if the key cannot be stored.
  public func set<Key: Codable & Hashable, Object: MagicObject>(
    _ object: Object?, forKey key: Key
  ) throws where Element == [Key: Object] {
    let stored = try stored(key: key)
    change(object.map { .put(_LiveValue($0), key: stored) } ?? .removeKey(stored))
  }

  /// The stored form of a key.
  func stored<Key: Codable>(key: Key) throws -> Value {
    let stored = try Storage.stored(key)
    guard !stored.isNull else {
      throw SQLiteError(.mismatch, "a dictionary of objects cannot have nil as a key")
    }
    return stored
  }
}
