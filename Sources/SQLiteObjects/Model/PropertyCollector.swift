/// An encoder that finds the wrappers of an object. It relies only on `encode(to:)`, which all
/// objects have.
final class PropertyCollector: Encoder {
  /// A property that the object has encoded, with its cell and the type of its wrapper.
  struct Entry {
    let name: String
    let cell: _MagicCell
    let type: any MagicProperty.Type
  }

  private(set) var entries: [Entry] = []
  /// The key of the value that is being encoded, or nil between two values.
  fileprivate var key: (any CodingKey)?
  /// Whether to stop the encoding after the first property.
  private let onlyFirst: Bool
  /// The first cell and the number of cells to bind the wrappers to, or nil to collect the
  /// wrappers.
  private var binding: (cell: _MagicCell, count: Int)?
  /// The number of wrappers found so far.
  private var count = 0

  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  init(onlyFirst: Bool = false) {
    self.onlyFirst = onlyFirst
  }

  /// An error that stops the encoding after the first property.
  private struct Found: Error {}

  /// Returns the wrappers of an object in the order in which it encodes them.
  static func entries<Object: MagicObject>(of object: Object) throws -> [Entry] {
    let collector = PropertyCollector()
    try object.encode(to: collector)
    return collector.entries
  }

  /// Returns the cell of an object's first wrapper, or nil if the object has no wrapper. All cells
  /// of a saved or fetched object reference the same storage.
  static func firstCell<Object: MagicObject>(of object: Object) -> _MagicCell? {
    if let known = WrapperLayout.of(object) { return known.layout.withCells(of: object) { $0[0] } }
    let collector = PropertyCollector(onlyFirst: true)
    // The collector throws when it has found a wrapper. An object that can't be encoded has none.
    try? object.encode(to: collector)
    return collector.entries.first?.cell
  }

  /// Makes the wrappers of an object forward to the cells of a storage.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - cell: The cell of the first property.
  ///   - count: The number of cells.
  /// - Returns: The number of wrappers that forward to the storage from now on.
  static func bind<Object: MagicObject>(
    _ object: Object, to cell: _MagicCell, count: Int
  ) throws -> Int {
    let collector = PropertyCollector()
    collector.binding = (cell, count)
    try object.encode(to: collector)
    return collector.count
  }

  /// Checks that the `encode(to:)` of an object encodes all its wrappers. A subclass that inherits
  /// the method, for example, omits its own wrappers, so their properties would silently not be
  /// stored.
  ///
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if the object has a wrapper that
  ///   `entries` doesn't contain.
  static func checkEncodesAllWrappers<Object: MagicObject>(
    of object: Object, _ entries: [Entry]
  ) throws {
    var mirror: Mirror? = Mirror(reflecting: object)
    while let level = mirror {
      for (label, value) in level.children {
        guard let property = value as? any MagicProperty,
          !entries.contains(where: { $0.cell == property.cell })
        else { continue }
        // The name of a wrapper's stored property begins with an underscore.
        let name = label?.drop { $0 == "_" } ?? ""
        throw MagicError.unsuitableType(
          type: "\(type(of: object))",
          reason: "its encode(to:) omits “\(name)”; a subclass must encode its own properties")
      }
      mirror = level.superclassMirror
    }
  }

  /// Collects or binds a wrapper if the encoder is a collector.
  ///
  /// - Returns: False if the encoder is another one.
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
    // A container that is requested while a value is encoded belongs to that value, which isn't a
    // wrapper.
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

/// A container that ignores what properties without wrappers encode.
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
