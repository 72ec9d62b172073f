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
    var links = stored.map { KeyedLink(key: $0, target: $1) }
    try KeyedLink.apply(state.changes, to: &links, arrangement.form, in: nil)
    targets = links.map { ($0.key, $0.target) }
  }
}

/// A link by its target's key.
private struct KeyedLink: LinkItem {
  let key: Value
  let target: Value

  func identity(_ store: StoreIdentity?) -> Value { target }

  static func identity(of target: LiveValue, _ store: StoreIdentity?) -> Value {
    (try? make(.null, target))?.target ?? .null
  }

  static func make(_ key: Value, _ target: LiveValue) throws -> KeyedLink {
    KeyedLink(
      key: key, target: try RelationKeys(of: target.value).targets.first?.target ?? .null)
  }
}

extension LazySource {
  /// The keys of the objects that the relation leads to in the store, blocking the thread.
  fileprivate func keys() throws -> [(key: Value, target: Value)] {
    let objects = try objects
    return try objects.store.read { connection in
      let links = try objects.read(.links(), connection).links
      return try keys(
        links.map { ($0.place, $0.target) }, objects.relation.destination, connection)
    }
  }

  /// The primary values of objects; their z_index values if that is what tells them apart.
  private func keys(
    _ targets: [(key: Value, zIndex: Int64)], _ target: ObjectPlan, _ connection: Connection
  ) throws -> [(key: Value, target: Value)] {
    guard let primary = target.primary, target.counting == nil else {
      return targets.map { ($0.key, .integer($0.zIndex)) }
    }
    let name = target.properties[primary].name
    let rows = try connection.rows(
      "SELECT \(identifier: target.key), \(identifier: name) FROM \(identifier: target.table) WHERE \(identifier: target.key) IN \(targets.map(\.zIndex))",
      as: Int64.self, Value.self)
    let keys = Dictionary(rows.map { ($0.0, $0.1) }, uniquingKeysWith: { first, _ in first })
    return try targets.map { key, zIndex in
      guard let target = keys[zIndex] else {
        throw MagicError.missingTarget(type: target.typeName, zIndex: zIndex)
      }
      return (key, target)
    }
  }
}
