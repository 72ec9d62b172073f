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
  fileprivate enum State: Sendable {
    case unset
    case stored(LazySource)
    case set(LiveValue)
  }

  /// Shared by the copies.
  fileprivate final class Box: Sendable {
    let state: Mutex<State>

    init(_ state: State) {
      self.state = Mutex(state)
    }
  }

  private let box: Box

  /// Makes a value that is known.
  ///
  /// - Parameter value: The value.
  public init(value: Element) {
    box = Box(.set(LiveValue((value as? any AssetValue)?.resting ?? value)))
  }

  package init(source: LazySource) {
    box = Box(.stored(source))
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
    box.state.withLock { $0 = .set(live) }
  }

  /// The value that was set since it was fetched, or nil.
  package var live: LiveValue? {
    if case .set(let live) = box.state.withLock({ $0 }) { live } else { nil }
  }

  private func known() throws -> (value: Element?, source: LazySource?) {
    switch box.state.withLock({ $0 }) {
    case .set(let live):
      let asset = (live.value as? any AssetValue)?.handedOut
      return (asset as? Element ?? live.value as? Element, nil)
    case .stored(let source): return (nil, source)
    case .unset: throw MagicError.detachedValue(type: "\(Element.self)")
    }
  }

  /// Fetches the value, blocking the thread. Each call fetches anew, unless the value was set.
  ///
  /// - Throws: ``MagicError`` or ``SQLiteError``.
  public func get() throws -> Element {
    let (value, source) = try known()
    if let value { return value }
    guard let source else { throw MagicError.detachedValue(type: "\(Element.self)") }
    return try source.value(Element.self, of: source.store.database.read(source.load))
  }

  /// Fetches the value, suspending the task. Each call fetches anew, unless the value was set.
  ///
  /// - Throws: ``MagicError``, ``SQLiteError`` or `CancellationError`.
  nonisolated(nonsending) public func get() async throws -> Element {
    let (value, source) = try known()
    if let value { return value }
    guard let source else { throw MagicError.detachedValue(type: "\(Element.self)") }
    return try source.value(
      Element.self, of: await source.store.database.read { try source.load($0) })
  }
}

extension AsyncMagical: LazyValue {
  package static var role: PropertyRole { .of(Element.self) }
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
    self.init(value: Element(handle))
  }

  package var pending: PendingAsset? {
    get throws { try (live?.value as? Element)?.pending }
  }

  // What it holds is at rest, and handed out by `get()`.
  package var resting: AsyncMagical { self }
  package var handedOut: AsyncMagical { self }
}
