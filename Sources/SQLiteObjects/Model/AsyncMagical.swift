import SQLiteCore
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
      Release.forms(
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
    let live = LiveValue((value as? any AssetValue)?.resting ?? value)
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
  /// Of a collection that ``get()`` has fetched, or that was saved, the difference to that is saved;
  /// otherwise the value replaces what is in the store.
  ///
  /// - Parameter value: The value.
  public func set(_ value: Element) {
    let live = LiveValue((value as? any AssetValue)?.resting ?? value)
    _ = box.state.withLock { state in
      let former = state
      state.set(live)
      return former
    }
  }

  /// The value if it was set, or the objects to request it from.
  ///
  /// - Throws: ``MagicError/detachedValue(type:)`` if there is neither,
  ///   ``MagicError/unresolvedRelation(type:property:)`` if the value was decoded and not resolved.
  func known() throws -> Known {
    let state = try folded()
    switch state.content {
    case .set(let live):
      let asset = (live.value as? any AssetValue)?.handedOut
      guard let value = asset as? Element ?? live.value as? Element else { break }
      return .value(value)
    case .stored(let source): return .source(try source.objects, state)
    case .decoded(let keys):
      throw MagicError.unresolvedRelation(type: "\(Self.self)", property: keys.property)
    case .unset: break
    }
    throw MagicError.detachedValue(type: "\(Element.self)")
  }

  /// A value that was set, or the objects to request it from and the changes to be made to it.
  enum Known {
    case value(Element)
    case source(RelatedObjects, LazyState)
  }

  /// Notes a change of a collection.
  func change(_ change: LinkEdit<LiveValue>) where Element: MagicCollection {
    // One that was never set has nothing.
    let none = try? Element(magicLinks: [])
    box.state.withLock { state in
      if case .unset = state.content, let none { state.content = .set(LiveValue(none)) }
      state.change(change)
    }
  }

  /// Notes the links of a collection that a fetch has shown.
  ///
  /// - Parameters:
  ///   - links: The links that were in the store.
  ///   - objects: The objects that they lead to.
  ///   - state: The state before the fetch.
  func show(_ links: [Link], _ objects: RelatedObjects, _ state: LazyState)
  where Element: MagicCollection {
    let links = LinkTargets(links.map { ($0.place, $0.target) }, Element.arrangement)
    box.state.withLock { current in
      guard case .stored(let place) = current.content, place.zIndex == objects.zIndex else {
        return
      }
      // Changes that were saved meanwhile were shown, too: what the store has is not known then.
      let isKnown = current.saved == state.saved
      current.base =
        isKnown
        ? LazyLinks(store: objects.store.identity, owner: objects.zIndex, links: links) : nil
    }
  }
}

extension AsyncMagical: LazyValue {
  package static var role: PropertyRole { .of(Element.self) }

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

  package func saved(_ state: LazyState, _ base: LazyLinks?) {
    _ = box.state.withLock { current in
      let former = current
      current.settle(state, base: base)
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
    box = Box(LazyState(.set(LiveValue(Element(handle)))))
  }

  package var pending: PendingAsset? {
    get throws { try (state.live?.value as? Element)?.pending }
  }

  // What it holds is at rest, and handed out by `get()`.
  package var resting: AsyncMagical { self }
  package var handedOut: AsyncMagical { self }
}
