import SQLiteCore

/// A collection whose links have keys: what is stored may be none of its type.
protocol KeyedCollection {
  /// Throws if a stored key is none of the collection's type.
  static func check(_ place: SQLiteCore.Value) throws
}

extension Dictionary: KeyedCollection where Key: Codable, Value: MagicObject {
  static func check(_ place: SQLiteCore.Value) throws {
    _ = try ValueCoding.value(Key.self, from: place)
  }
}

extension Optional: KeyedCollection where Wrapped: KeyedCollection {
  static func check(_ place: SQLiteCore.Value) throws { try Wrapped.check(place) }
}

extension MagicProperty {
  /// The type of a property that is a collection with keys.
  static var dictionary: (any KeyedCollection.Type)? { Value.self as? any KeyedCollection.Type }
}
