import SQLiteCore

extension MagicCell {
  /// Writes the value for use outside the store, a relation as its targets' keys.
  ///
  /// A lazy relation is written if it was set, and else as null: encoding fetches nothing.
  ///
  /// - Returns: False if there is no value.
  func encode<Value: Codable>(_ type: Value.Type, to encoder: any Encoder) throws -> Bool {
    let role = PropertyRole.of(type)
    guard role.isRelation else {
      guard let value = value(type) else { return false }
      // By a container, so that the encoder's strategies for dates and data hold.
      var container = encoder.singleValueContainer()
      try container.encode(value)
      return true
    }
    if case .live(let live) = form, let keys = live.value as? RelationKeys {
      try keys.encode(role.kind, to: encoder)
      return true
    }
    guard let value = value(type) else { return false }
    let target: Any? = if let lazy = value as? any LazyValue { lazy.live?.value } else { value }
    guard let target else {
      var container = encoder.singleValueContainer()
      try container.encodeNil()
      return true
    }
    try RelationKeys(of: target).encode(role.kind, to: encoder)
    return true
  }

  /// Reads a value from outside the store; of a relation only the keys, to be resolved later.
  func decode<Value: Codable>(_ type: Value.Type, from decoder: any Decoder) throws {
    let role = PropertyRole.of(type)
    let container = try decoder.singleValueContainer()
    if role.isRelation {
      if role.isLazy, container.decodeNil() { return }
      set(.live(LiveValue(try RelationKeys(role.kind, from: decoder))))
    } else {
      setValue(try container.decode(type))
    }
  }
}

extension PropertyRole {
  /// Says whether the property leads to other objects.
  var isRelation: Bool {
    switch kind {
    case .object, .links: true
    case .column, .asset, .reverse: false
    }
  }
}
