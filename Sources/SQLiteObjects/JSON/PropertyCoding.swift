import SQLiteCore

extension _MagicCell {
  /// Writes the value by a coder of the user's, a relation as its targets' keys.
  ///
  /// The keys of a lazy relation that was not set are read from its store, blocking the thread.
  ///
  /// - Returns: False if there is no value.
  func encode<Value: Codable>(_ type: Value.Type, to encoder: any Encoder) throws -> Bool {
    let role = _PropertyRole.of(type)
    guard role.isRelation else {
      guard let value = value(type) else { return false }
      // By a container, so that the encoder's strategies for dates and data hold.
      var container = encoder.singleValueContainer()
      try container.encode(value)
      return true
    }
    if case .live(let live) = form, let keys = live.unresolvedKeys {
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
    let state = try lazy.folded()
    if let live = state.live { return try RelationKeys(of: live.value) }
    return try state.source.map { try RelationKeys(of: $0, state) }
  }

  /// Reads a value from a coder of the user's; of a relation only the keys, to be resolved later unless the
  /// decoder knows the store.
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
