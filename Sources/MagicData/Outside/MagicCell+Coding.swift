import SQLiteCore

extension MagicCell {
  /// Writes the value for use outside the store, a relation as its targets' keys.
  ///
  /// The keys of a lazy relation that was not set are read from its store, blocking the thread.
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
    guard let keys = try keys(of: value), keys.isThere(role.kind) else {
      var container = encoder.singleValueContainer()
      try container.encodeNil()
      return true
    }
    try keys.encode(role.kind, to: encoder)
    return true
  }

  /// The keys of what a relation leads to, or nil if it is lazy and was never saved nor set.
  private func keys(of value: Any) throws -> RelationKeys? {
    guard let lazy = value as? any LazyValue else { return try RelationKeys(of: value) }
    if let live = lazy.live { return try RelationKeys(of: live.value) }
    return try lazy.source.map { RelationKeys(targets: try $0.keys()) }
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
