import SQLiteCore
import SQLiteMapping
import SQLiteRelations

/// A relation to any number of objects, which filters look into.
///
/// Arrays, dictionaries and sets of objects conform; there is no reason to write others.
public protocol MagicRelation<Target> {
  /// The type of the objects.
  associatedtype Target: MagicObject
}

/// A collection of objects that a relation leads to.
///
/// Arrays, sets and dictionaries of objects conform; there is no reason to write others.
public protocol MagicCollection<Target>: MagicRelation, Codable, SendableMetatype {
  /// The items of the collection: objects, or pairs of a key and an object.
  associatedtype MagicItem

  /// The role of the relation in its table. Opaque.
  static var magicRole: _PropertyRole { get }
  /// Makes one item. Opaque.
  static func magicItem(of link: _MagicLink<Target>) throws -> MagicItem
  /// Makes the collection of its objects in their order. Opaque.
  init(magicLinks: [_MagicLink<Target>]) throws
  /// The objects with the keys of their links. Opaque.
  var magicLinks: [_MagicLink<Target>] { get throws }
}

extension Array: MagicCollection where Element: MagicObject {
  /// The role of the relation in its table. Opaque.
  public static var magicRole: _PropertyRole { _PropertyRole(.links(.list, Element.self)) }

  /// Makes one item. Opaque.
  public static func magicItem(of link: _MagicLink<Element>) -> Element { link.object }

  /// Makes the collection of its objects in their order. Opaque.
  public init(magicLinks: [_MagicLink<Element>]) { self = magicLinks.map(\.object) }

  /// The objects with the keys of their links. Opaque.
  public var magicLinks: [_MagicLink<Element>] { map { _MagicLink(.null, $0) } }
}

extension Dictionary: MagicCollection where Key: Codable, Value: MagicObject {
  /// The role of the relation in its table. Opaque.
  public static var magicRole: _PropertyRole { _PropertyRole(.links(.dictionary, Value.self)) }

  /// Makes one item. Opaque.
  public static func magicItem(of link: _MagicLink<Value>) throws -> (key: Key, value: Value) {
    (try Storage.value(Key.self, of: link.key), link.object)
  }

  /// Makes the collection of its objects. Opaque.
  public init(magicLinks: [_MagicLink<Value>]) throws {
    self.init(minimumCapacity: magicLinks.count)
    for link in magicLinks {
      self[try Storage.value(Key.self, of: link.key)] = link.object
    }
  }

  /// The objects with the keys of their links. Opaque.
  public var magicLinks: [_MagicLink<Value>] {
    get throws { try map { _MagicLink(try Storage.stored($0.key), $0.value) } }
  }
}

extension Array: ContiguousObjects where Element: MagicObject {
  @unsafe static func withObjects<Result>(
    of live: _LiveValue, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result? {
    try unsafe (live.value as? Self)?.withUnsafeBytes(body)
  }
}

/// A collection whose links have keys: a stored key may not fit its key type.
protocol KeyedCollection {
  /// Throws if a stored key does not fit the collection's key type.
  static func check(_ key: SQLiteCore.Value) throws
}

extension Dictionary: KeyedCollection where Key: Codable, Value: MagicObject {
  static func check(_ key: SQLiteCore.Value) throws {
    _ = try Storage.value(Key.self, of: key)
  }
}

extension Optional: KeyedCollection where Wrapped: KeyedCollection {
  static func check(_ key: SQLiteCore.Value) throws { try Wrapped.check(key) }
}

/// An object in a collection, of a dictionary with its key. Opaque.
public struct _MagicLink<Object: MagicObject> {
  let key: SQLiteCore.Value
  let object: Object

  init(_ key: SQLiteCore.Value, _ object: Object) {
    self.key = key
    self.object = object
  }
}

extension Array: MagicRelation where Element: MagicObject {
  /// The type of the objects.
  public typealias Target = Element
}

extension Dictionary: MagicRelation where Key: Codable, Value: MagicObject {
  /// The type of the objects.
  public typealias Target = Value
}
