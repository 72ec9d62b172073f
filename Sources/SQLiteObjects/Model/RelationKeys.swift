import SQLiteCore

/// The keys of the objects that a relation references. Coders such as `JSONEncoder` encode a
/// relation as these keys.
///
/// A decoded property holds this value until ``MagicData/resolve(_:)`` has replaced it by the
/// objects.
package struct RelationKeys: Sendable {
  /// The key of each referenced object as `target`. `key` is the object's key in a dictionary.
  /// Other relations don't use it.
  let targets: [(key: Value, target: Value)]
  /// The name of the property that was decoded.
  var property = ""

  init(targets: [(key: Value, target: Value)]) {
    self.targets = targets
  }

  /// The message for a relation that is read before it is resolved.
  var unresolved: String {
    "the relation “\(property)” was decoded, but its objects were not looked up; call "
      + "MagicData.resolve(_:) before you read it, or decode with the store as "
      + "userInfo[.magicData]"
  }

  /// Returns whether a relation of this kind has a value to encode. A to-one relation that
  /// references no object has none. An empty collection has one.
  func hasContent(_ kind: _PropertyRole.Kind) -> Bool {
    if case .object = kind { !targets.isEmpty } else { true }
  }

  /// Creates the keys of the objects in the value of a relation.
  init(of value: Any) throws {
    if let object = value as? any MagicObject {
      targets = [(.null, try RelationKeys.key(of: object))]
    } else if let collection = value as? any MagicCollection {
      targets = try RelationKeys.targets(of: collection)
    } else {
      targets = []
    }
  }

  private static func targets(
    of collection: some MagicCollection
  ) throws -> [(key: Value, target: Value)] {
    try collection.magicLinks.map { (key: $0.key, target: try key(of: $0.object)) }
  }

  /// Returns the primary value of an object, or its z_index if the type has none. Returns NULL if
  /// the key is assigned by a save, and the object was never saved.
  private static func key(of object: some MagicObject) throws -> Value {
    let entries = try PropertyCollector.entries(of: object)
    if let primary = entries.first(where: { $0.type.role.isPrimary }) {
      return primary.cell.primaryForm(primary.type) ?? .null
    }
    return entries.first?.cell.address?.storage.lastIdentity.map { .integer($0.zIndex) } ?? .null
  }
}

extension RelationKeys {
  /// Decodes the keys that ``encode(_:to:)`` has encoded.
  init(_ kind: _PropertyRole.Kind, from decoder: any Decoder) throws {
    property = decoder.property
    switch kind {
    case .links(.dictionary, _):
      let container = try decoder.container(keyedBy: DictionaryKey.self)
      targets = try container.allKeys.map { name in
        (key: name.key, target: try container.decode(CodedKey.self, forKey: name).value)
      }
    case .links:
      var container = try decoder.unkeyedContainer()
      var found: [(key: Value, target: Value)] = []
      while !container.isAtEnd {
        found.append((key: .null, target: try container.decode(CodedKey.self).value))
      }
      targets = found
    default:
      targets = [(key: .null, target: try CodedKey(from: decoder).value)]
    }
  }

  /// Encodes a key, an array of keys, or a dictionary of keys.
  ///
  /// - Throws: `EncodingError` if an object has no key because it was never saved.
  func encode(_ kind: _PropertyRole.Kind, to encoder: any Encoder) throws {
    switch kind {
    case .links(.dictionary, _):
      var container = encoder.container(keyedBy: DictionaryKey.self)
      for (key, target) in targets {
        try container.encode(CodedKey(value: target), forKey: DictionaryKey(key: key))
      }
    case .links:
      var container = encoder.unkeyedContainer()
      for (_, target) in targets { try container.encode(CodedKey(value: target)) }
    default:
      try CodedKey(value: targets.first?.target ?? .null).encode(to: encoder)
    }
  }
}

/// A store from which a decoder fetches the objects of relations while it decodes them.
package protocol RelationResolver: Sendable {
  /// Returns the value of a relation that is being decoded. Blocks the thread.
  ///
  /// - Throws: ``MagicError/notFound(type:primary:)`` if an object isn't in the store.
  func relation<Relation, Object: MagicObject>(
    _ type: Relation.Type, to target: Object.Type, _ keys: RelationKeys
  ) throws -> _LiveValue
}

extension Decoder {
  /// The name of the property that is being decoded.
  fileprivate var property: String { codingPath.last?.stringValue ?? "" }
}

/// The key of an object, encoded as text or a number.
private struct CodedKey: Codable {
  let value: Value

  init(value: Value) {
    self.value = value
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let integer = try? container.decode(Int64.self) {
      value = .integer(integer)
    } else {
      value = .text(try container.decode(String.self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch value {
    case .integer(let integer): try container.encode(integer)
    case .text(let text): try container.encode(text)
    case .null, .real, .blob:
      throw EncodingError.invalidValue(
        value,
        .init(
          codingPath: encoder.codingPath,
          debugDescription:
            "the relation references an object that was never saved and has no key; save it "
            + "first"))
    }
  }
}

/// A key of a dictionary of objects, as the coding key under which the object's key is encoded.
private struct DictionaryKey: CodingKey {
  let key: Value

  init(key: Value) {
    self.key = key
  }

  init(stringValue: String) {
    key = .text(stringValue)
  }

  init(intValue: Int) {
    key = .integer(Int64(intValue))
  }

  var stringValue: String {
    switch key {
    case .text(let text): text
    case .integer(let integer): "\(integer)"
    case .real(let real): "\(real)"
    case .null, .blob: ""
    }
  }

  var intValue: Int? {
    if case .integer(let integer) = key { Int(exactly: integer) } else { nil }
  }
}
