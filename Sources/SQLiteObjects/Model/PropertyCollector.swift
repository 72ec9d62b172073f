/// Finds the wrappers of an object by the one thing that all objects have: their `encode(to:)`.
final class PropertyCollector: Encoder {
  /// A property as it was met.
  struct Entry {
    let name: String
    let cell: _MagicCell
    let type: any MagicProperty.Type
  }

  private(set) var entries: [Entry] = []
  /// The key of the value that is being encoded, nil outside of one.
  fileprivate var key: (any CodingKey)?
  /// Whether to stop at the first property.
  private let onlyFirst: Bool
  /// The first cell that the wrappers are to lead to and the number of cells, if they are to be bound.
  private var binding: (cell: _MagicCell, count: Int)?
  /// The number of wrappers that were met.
  private var count = 0

  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  init(onlyFirst: Bool = false) {
    self.onlyFirst = onlyFirst
  }

  /// Ends the search for the first property.
  private struct Found: Error {}

  /// The wrappers of an object in the order in which it encodes them.
  static func entries<Object: MagicObject>(of object: Object) throws -> [Entry] {
    let collector = PropertyCollector()
    try object.encode(to: collector)
    return collector.entries
  }

  /// The cell of an object's first wrapper, by which its storage is found.
  static func firstCell<Object: MagicObject>(of object: Object) -> _MagicCell? {
    if let known = KnownCells.of(object) { return known.layout.withCells(of: object) { $0[0] } }
    let collector = PropertyCollector(onlyFirst: true)
    // The collector throws when it has found one; an object that cannot be encoded has none.
    try? object.encode(to: collector)
    return collector.entries.first?.cell
  }

  /// Makes the wrappers of an object lead to the cells of a storage.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - cell: The first cell.
  ///   - count: The number of cells.
  /// - Returns: How many wrappers there were.
  static func bind<Object: MagicObject>(
    _ object: Object, to cell: _MagicCell, count: Int
  ) throws -> Int {
    let collector = PropertyCollector()
    collector.binding = (cell, count)
    try object.encode(to: collector)
    return collector.count
  }

  /// Refuses a type with wrappers that its `encode(to:)` leaves out, as a subclass that inherits it does:
  /// they would silently not be stored.
  static func refuseHiddenWrappers<Object: MagicObject>(
    of object: Object, _ entries: [Entry]
  ) throws {
    var mirror: Mirror? = Mirror(reflecting: object)
    while let level = mirror {
      for (label, value) in level.children {
        guard let property = value as? any MagicProperty,
          !entries.contains(where: { $0.cell == property.cell })
        else { continue }
        // A wrapper's own name begins with an underscore.
        let name = label?.drop { $0 == "_" } ?? ""
        throw MagicError.unsuitableType(
          type: "\(type(of: object))",
          reason: "its encode(to:) leaves out “\(name)”; a subclass must encode its own properties")
      }
      mirror = level.superclassMirror
    }
  }

  /// Takes a wrapper, if the encoder is a collector.
  static func take<Property: MagicProperty>(
    _ property: Property, _ encoder: any Encoder
  ) throws -> Bool {
    guard let collector = encoder as? PropertyCollector else { return false }
    guard let key = collector.key else { return true }
    if let (cell, count) = collector.binding {
      guard collector.count < count, property.cell.bind(to: cell.at(collector.count)) else {
        collector.key = nil
        return true
      }
    } else {
      collector.entries.append(
        Entry(name: key.stringValue, cell: property.cell, type: Property.self))
    }
    collector.count += 1
    collector.key = nil
    if collector.onlyFirst { throw Found() }
    return true
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    // A container asked for while a value is encoded belongs to that value, which is no wrapper.
    KeyedEncodingContainer(CollectingContainer<Key>(collector: self, counts: key == nil))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { IgnoringContainer(collector: self) }
  func singleValueContainer() -> any SingleValueEncodingContainer {
    IgnoringContainer(collector: self)
  }
}

private struct CollectingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let collector: PropertyCollector
  let counts: Bool
  var codingPath: [any CodingKey] { [] }

  mutating func encodeNil(forKey key: Key) {}

  mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    guard counts else { return }
    collector.key = key
    defer { collector.key = nil }
    try value.encode(to: collector)
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    KeyedEncodingContainer(CollectingContainer<NestedKey>(collector: collector, counts: false))
  }

  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    IgnoringContainer(collector: collector)
  }

  mutating func superEncoder() -> any Encoder { collector }
  mutating func superEncoder(forKey key: Key) -> any Encoder { collector }
}

/// Takes what properties without wrappers encode.
private struct IgnoringContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer {
  let collector: PropertyCollector
  var codingPath: [any CodingKey] { [] }
  var count: Int { 0 }

  mutating func encodeNil() {}
  mutating func encode<Value: Encodable>(_ value: Value) {}
  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    KeyedEncodingContainer(CollectingContainer<NestedKey>(collector: collector, counts: false))
  }
  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
  mutating func superEncoder() -> any Encoder { collector }
}

extension Encoder {
  /// The name of the property that is being encoded.
  var property: String { codingPath.last?.stringValue ?? "" }
}
