import SQLiteCore
import Synchronization

/// A value that is not fetched with its object, but when it is asked for.
///
///     @MagicValue var photo: AsyncMagical<MagicAsset<Data>>
///     …
///     let photo = try await person.photo.get()
///
/// For assets, objects and collections of objects. Copies share the value. As long as it was neither
/// asked for nor set, saving the object leaves it alone.
public struct AsyncMagical<Element: Codable>: Sendable {
  /// What is known of the value.
  private enum State: Sendable {
    case unset
    case stored(LazySource)
    case decoded(RelationKeys)
    case set(LiveValue, changes: Int)
  }

  /// Shared by the copies.
  private final class Box: Sendable {
    /// A value's `deinit` may ask for the value: so none goes while this is locked.
    let state: Mutex<State>

    init(_ state: State) {
      self.state = Mutex(state)
    }

    deinit {
      Release.forms(
        state.withLock { state in
          guard case .set(let live, _) = state else { return [] }
          state = .unset
          return [.live(live)]
        })
    }
  }

  private let box: Box

  /// Makes a value that is known.
  ///
  /// - Parameter value: The value.
  public init(value: Element) {
    box = Box(.set(LiveValue((value as? any AssetValue)?.resting ?? value), changes: 1))
  }

  package init(source: LazySource?) {
    box = Box(source.map { .stored($0) } ?? .unset)
  }

  package init(unresolved keys: RelationKeys) {
    box = Box(.decoded(keys))
  }

  /// Makes a value that is set later.
  public init() {
    box = Box(.unset)
  }

  /// Sets the value, to be saved with the object.
  ///
  /// - Parameter value: The value.
  public func set(_ value: Element) {
    let live = LiveValue((value as? any AssetValue)?.resting ?? value)
    _ = box.state.withLock { state in
      let former = state
      if case .set(_, let changes) = former {
        state = .set(live, changes: changes + 1)
      } else {
        state = .set(live, changes: 1)
      }
      return former
    }
  }

  /// The value if it was set, or where it is.
  ///
  /// - Throws: ``MagicError/detachedValue(type:)`` if there is neither,
  ///   ``MagicError/unresolvedRelation(type:property:)`` if the value was decoded and not resolved.
  func known() throws -> Known {
    switch box.state.withLock({ $0 }) {
    case .set(let live, _):
      let asset = (live.value as? any AssetValue)?.handedOut
      guard let value = asset as? Element ?? live.value as? Element else { break }
      return .value(value)
    case .stored(let source): return .source(source)
    case .decoded(let keys):
      throw MagicError.unresolvedRelation(type: "\(Self.self)", property: keys.property)
    case .unset: break
    }
    throw MagicError.detachedValue(type: "\(Element.self)")
  }

  /// A value that was set, or where to fetch it from.
  enum Known {
    case value(Element)
    case source(LazySource)
  }
}

extension AsyncMagical: LazyValue {
  package static var role: PropertyRole { .of(Element.self) }

  package var live: LiveValue? {
    if case .set(let live, _) = box.state.withLock({ $0 }) { live } else { nil }
  }

  package var source: LazySource? {
    if case .stored(let source) = box.state.withLock({ $0 }) { source } else { nil }
  }

  package var keys: RelationKeys? {
    if case .decoded(let keys) = box.state.withLock({ $0 }) { keys } else { nil }
  }

  package var changes: Int {
    if case .set(_, let changes) = box.state.withLock({ $0 }) { changes } else { 0 }
  }

  package func unsaved(after changes: Int) {
    box.state.withLock { state in
      if case .set(let live, let later) = state { state = .set(live, changes: later + changes) }
    }
  }

  package func saved(after changes: Int) {
    box.state.withLock { state in
      if case .set(let live, changes) = state { state = .set(live, changes: 0) }
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
    try (live?.value as? Element).encode(to: encoder)
  }
}

extension AsyncMagical: AssetValue where Element: AssetValue {
  package init(_ handle: AssetHandle?) {
    box = Box(.set(LiveValue(Element(handle)), changes: 0))
  }

  package var pending: PendingAsset? {
    get throws { try (live?.value as? Element)?.pending }
  }

  // What it holds is at rest, and handed out by `get()`.
  package var resting: AsyncMagical { self }
  package var handedOut: AsyncMagical { self }
}
