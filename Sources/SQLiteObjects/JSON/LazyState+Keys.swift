import SQLiteCore
import SQLiteRelations

extension LazyState {
  /// The keys of the objects that the relation leads to after its changes.
  ///
  /// - Parameters:
  ///   - keys: The keys of what is in the store.
  ///   - role: The relation.
  func keys(
    _ keys: [(place: Value, key: Value)], _ role: PropertyRole
  ) throws -> [(place: Value, key: Value)] {
    guard !edits.isEmpty, case .links(let arrangement, _) = role.kind else { return keys }
    var items = keys.map { KeyItem(place: $0, key: $1) }
    try KeyItem.apply(changes, to: &items, arrangement.form, in: nil)
    return items.map { ($0.place, $0.key) }
  }
}

/// A link by its target's key.
private struct KeyItem: LinkItem {
  let place: Value
  let key: Value

  func identity(_ store: StoreIdentity?) -> Value { key }

  static func identity(of target: LiveValue, _ store: StoreIdentity?) -> Value {
    (try? make(.null, target))?.key ?? .null
  }

  static func make(_ place: Value, _ target: LiveValue) throws -> KeyItem {
    KeyItem(place: place, key: try RelationKeys(of: target.value).targets.first?.key ?? .null)
  }
}
