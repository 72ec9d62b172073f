import SQLiteCore
import SQLiteMapping
import SQLiteRelations

/// A relation to any number of objects, which filters can query.
///
/// Arrays, dictionaries and ``MagicalSet``s of objects conform, and so do lazy and reverse
/// relations. Don't add other conformances.
public protocol MagicRelation<Target> {
  /// The type of the related objects.
  associatedtype Target: MagicObject
}

/// A collection of objects that a to-many relation references.
///
/// Arrays, dictionaries and ``MagicalSet``s of objects conform. Don't add other conformances.
public protocol MagicCollection<Target>: MagicRelation, Codable, SendableMetatype {
  /// The items of the collection: objects, or pairs of a key and an object.
  associatedtype MagicItem

  /// The role of a property of this type. For internal use.
  static var magicRole: _PropertyRole { get }
  /// Returns the item of the collection that a link represents. For internal use.
  ///
  /// - Parameter link: A link of the collection.
  /// - Returns: The object, with its key if the collection is a dictionary.
  /// - Throws: `SQLiteError` or a decoding error if the key of the link isn't of the
  ///   dictionary's key type.
  static func magicItem(of link: _MagicLink<Target>) throws -> MagicItem
  /// Creates the collection from its links in their order. For internal use.
  ///
  /// - Parameter magicLinks: The links.
  /// - Throws: `SQLiteError` or a decoding error if the key of a link isn't of the
  ///   dictionary's key type.
  init(magicLinks: [_MagicLink<Target>]) throws
  /// The objects of the collection, with their keys in a dictionary. For internal use.
  ///
  /// - Throws: `SQLiteError` or an encoding error if a key can't be stored.
  var magicLinks: [_MagicLink<Target>] { get throws }
}

extension Array: MagicCollection where Element: MagicObject {
  /// The role of a property of this type: an ordered list of links. For internal use.
  public static var magicRole: _PropertyRole { _PropertyRole(.links(.list, Element.self)) }

  /// Returns the object of a link. For internal use.
  ///
  /// - Parameter link: A link of the array.
  /// - Returns: The object.
  public static func magicItem(of link: _MagicLink<Element>) -> Element { link.object }

  /// Creates an array of the objects of links, in their order. For internal use.
  ///
  /// - Parameter magicLinks: The links.
  public init(magicLinks: [_MagicLink<Element>]) { self = magicLinks.map(\.object) }

  /// The objects of the array as links without keys. For internal use.
  public var magicLinks: [_MagicLink<Element>] { map { _MagicLink(.null, $0) } }
}

extension Dictionary: MagicCollection where Key: Codable, Value: MagicObject {
  /// The role of a property of this type: links with keys. For internal use.
  public static var magicRole: _PropertyRole { _PropertyRole(.links(.dictionary, Value.self)) }

  /// Returns the key and the object of a link. For internal use.
  ///
  /// - Parameter link: A link of the dictionary.
  /// - Returns: The key as a `Key`, and the object.
  /// - Throws: `SQLiteError` or a decoding error if the stored key isn't of the type `Key`.
  public static func magicItem(of link: _MagicLink<Value>) throws -> (key: Key, value: Value) {
    (try ColumnStorage.value(Key.self, of: link.key), link.object)
  }

  /// Creates a dictionary of the keys and objects of links. For internal use.
  ///
  /// - Parameter magicLinks: The links.
  /// - Throws: `SQLiteError` or a decoding error if a stored key isn't of the type `Key`.
  public init(magicLinks: [_MagicLink<Value>]) throws {
    self.init(minimumCapacity: magicLinks.count)
    for link in magicLinks {
      self[try ColumnStorage.value(Key.self, of: link.key)] = link.object
    }
  }

  /// The keys and objects of the dictionary as links. For internal use.
  ///
  /// - Throws: `SQLiteError` or an encoding error if a key can't be stored.
  public var magicLinks: [_MagicLink<Value>] {
    get throws { try map { _MagicLink(try ColumnStorage.stored($0.key), $0.value) } }
  }
}

extension Array: ContiguousObjects where Element: MagicObject {
  @unsafe static func withObjects<Result>(
    of live: _LiveValue, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result? {
    try unsafe (live.value as? Self)?.withUnsafeBytes(body)
  }
}

/// A collection with a key for each link. The type of a stored key can differ from the collection's
/// key type.
protocol KeyedCollection {
  /// Throws an error if a stored key isn't of the collection's key type.
  static func check(_ key: SQLiteCore.Value) throws
}

extension Dictionary: KeyedCollection where Key: Codable, Value: MagicObject {
  static func check(_ key: SQLiteCore.Value) throws {
    _ = try ColumnStorage.value(Key.self, of: key)
  }
}

extension Optional: KeyedCollection where Wrapped: KeyedCollection {
  static func check(_ key: SQLiteCore.Value) throws { try Wrapped.check(key) }
}

/// An object in a collection, with its key if the collection is a dictionary. For internal use.
public struct _MagicLink<Object: MagicObject> {
  let key: SQLiteCore.Value
  let object: Object

  init(_ key: SQLiteCore.Value, _ object: Object) {
    self.key = key
    self.object = object
  }
}

extension Array: MagicRelation where Element: MagicObject {
  /// The type of the related objects.
  public typealias Target = Element
}

extension Dictionary: MagicRelation where Key: Codable, Value: MagicObject {
  /// The type of the related objects.
  public typealias Target = Value
}
