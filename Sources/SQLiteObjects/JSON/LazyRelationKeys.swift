import SQLiteCore
import SQLiteRelations

extension RelationKeys {
  /// Creates the keys of the objects of a lazy relation. Reads the related objects from the store,
  /// blocking the thread, and applies the unsaved changes to them.
  init(of source: LazySource, _ state: LazyState) throws {
    let stored = try source.objects.keys()
    guard !state.edits.isEmpty,
      case .links(let arrangement, _) = source.shape.properties[source.slot].role.kind
    else {
      targets = stored
      return
    }
    var links = stored.map { KeyedLink(key: $0, target: $1) }
    try KeyedLink.apply(state.changes, to: &links, arrangement.form, in: nil)
    targets = links.map { ($0.key, $0.target) }
  }
}

extension _LiveValue {
  /// The keys of a relation that was decoded and not resolved yet, or nil.
  var unresolvedKeys: RelationKeys? {
    value as? RelationKeys ?? (value as? any LazyValue)?.box.state.keys
  }
}

/// A link that identifies its target by the key with which coders encode the target.
private struct KeyedLink: LinkItem {
  let key: Value
  let target: Value

  func identity(_ store: StoreIdentity?) -> Value { target }

  static func identity(of target: _LiveValue, _ store: StoreIdentity?) -> Value {
    (try? make(.null, target))?.target ?? .null
  }

  static func make(_ key: Value, _ target: _LiveValue) throws -> KeyedLink {
    KeyedLink(
      key: key, target: try RelationKeys(of: target.value).targets.first?.target ?? .null)
  }
}
