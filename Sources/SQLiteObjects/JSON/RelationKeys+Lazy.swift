import SQLiteCore
import SQLiteRelations

extension RelationKeys {
  /// The keys of a lazy relation with the changes that are not saved yet, blocking the thread.
  init(of source: LazySource, _ state: LazyState) throws {
    let stored = try source.keys()
    guard !state.edits.isEmpty,
      case .links(let arrangement, _) = source.shape.properties[source.slot].role.kind
    else {
      targets = stored
      return
    }
    var links = stored.map { KeyedLink(place: $0, key: $1) }
    try KeyedLink.apply(state.changes, to: &links, arrangement.form, in: nil)
    targets = links.map { ($0.place, $0.key) }
  }
}

/// A link by its target's key.
private struct KeyedLink: LinkItem {
  let place: Value
  let key: Value

  func identity(_ store: StoreIdentity?) -> Value { key }

  static func identity(of target: LiveValue, _ store: StoreIdentity?) -> Value {
    (try? make(.null, target))?.key ?? .null
  }

  static func make(_ place: Value, _ target: LiveValue) throws -> KeyedLink {
    KeyedLink(place: place, key: try RelationKeys(of: target.value).targets.first?.key ?? .null)
  }
}

extension LazySource {
  /// The keys of the objects that the relation leads to in the store, blocking the thread.
  fileprivate func keys() throws -> [(place: Value, key: Value)] {
    let objects = try objects
    return try objects.store.read { connection in
      let links = try objects.read(.links(), connection).links
      return try keys(
        links.map { ($0.place, $0.target) }, objects.relation.destination, connection)
    }
  }

  /// The primary values of objects; their z_index values if that is what tells them apart.
  private func keys(
    _ targets: [(place: Value, zIndex: Int64)], _ target: ObjectPlan, _ connection: Connection
  ) throws -> [(place: Value, key: Value)] {
    guard let primary = target.primary, target.counting == nil else {
      return targets.map { ($0.place, .integer($0.zIndex)) }
    }
    let name = target.properties[primary].name
    let rows = try connection.rows(
      "SELECT \(identifier: target.key), \(identifier: name) FROM \(identifier: target.table) WHERE \(identifier: target.key) IN \(targets.map(\.zIndex))",
      as: Int64.self, Value.self)
    let keys = Dictionary(rows.map { ($0.0, $0.1) }, uniquingKeysWith: { first, _ in first })
    return try targets.map { place, zIndex in
      guard let key = keys[zIndex] else {
        throw MagicError.missingTarget(type: target.typeName, zIndex: zIndex)
      }
      return (place, key)
    }
  }
}
