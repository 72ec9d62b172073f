import SQLiteCore

extension _MagicCell {
  /// Encodes the value with any encoder, such as a `JSONEncoder`. A relation is encoded as the keys
  /// of its objects.
  ///
  /// If a lazy relation was not set, its keys are read from the store, blocking the thread.
  ///
  /// - Returns: False if there is no value.
  func encode<Value: Codable>(_ type: Value.Type, to encoder: any Encoder) throws -> Bool {
    let role = _PropertyRole.of(type)
    guard role.isRelation else {
      guard let value = value(type) else { return false }
      // Through a container, so that the encoder's strategies for dates and data apply.
      var container = encoder.singleValueContainer()
      try container.encode(value)
      return true
    }
    if case .live(let live) = form, let keys = live.unresolvedKeys {
      try keys.encode(role.kind, to: encoder)
      return true
    }
    guard let value = value(type) else { return false }
    guard let keys = try keys(of: value), keys.hasContent(role.kind) else {
      var container = encoder.singleValueContainer()
      try container.encodeNil()
      return true
    }
    try keys.encode(role.kind, to: encoder)
    return true
  }

  /// Returns the keys of the objects in a relation, or nil if the relation is lazy and was neither
  /// saved nor set.
  private func keys(of value: Any) throws -> RelationKeys? {
    guard let lazy = value as? any LazyValue else { return try RelationKeys(of: value) }
    let state = try lazy.box.folded()
    if let live = state.live { return try RelationKeys(of: live.value) }
    return try state.source.map { try RelationKeys(of: $0, state) }
  }

  /// Decodes the value with any decoder, such as a `JSONDecoder`. The keys of a relation are
  /// resolved immediately if the decoder's `userInfo` contains a store, and otherwise by
  /// ``MagicData/resolve(_:)``.
  func decode<Value: Codable>(_ type: Value.Type, from decoder: any Decoder) throws {
    let role = _PropertyRole.of(type)
    let container = try decoder.singleValueContainer()
    guard let target = role.target else { return setValue(try container.decode(type)) }
    let lazy = type as? any LazyValue.Type
    if let lazy, container.decodeNil() {
      return set(.live(_LiveValue(lazy.init(source: nil))))
    }
    let keys = try RelationKeys(role.kind, from: decoder)
    if let store = decoder.userInfo[.magicData] as? any RelationResolver {
      set(.live(try store.relation(type, to: target, keys)))
    } else if let lazy {
      set(.live(_LiveValue(lazy.init(unresolved: keys))))
    } else {
      set(.live(_LiveValue(keys)))
    }
  }
}
