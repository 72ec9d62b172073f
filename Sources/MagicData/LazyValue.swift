import SQLiteCore

/// A value that is fetched on demand.
package protocol LazyValue: Codable {
  /// What the property is to its table.
  static var role: PropertyRole { get }
  /// Makes a value that will be fetched.
  init(source: LazySource)
  /// The value that was set, or nil.
  var live: LiveValue? { get }
}

/// Where a lazy value is to be fetched from.
package struct LazySource: Sendable {
  let store: MagicData
  let plan: ObjectPlan
  let slot: Int
  let zIndex: Int64

  /// Reads what the relation leads to.
  func load(_ connection: Connection) throws -> LoadedTargets {
    let property = plan.properties[slot]
    let loader = GraphLoader(store, connection)
    switch property.role.kind {
    case .object(let type):
      let rows = try connection.firstRow(
        "SELECT \(identifier: property.name) FROM \(identifier: plan.table) WHERE \(identifier: plan.key) = \(zIndex)",
        as: Int64?.self)
      guard let target = rows else {
        throw MagicError.missingTarget(type: plan.typeName, zIndex: zIndex)
      }
      try loader.load(type, target.map { [$0] } ?? [])
      return LoadedTargets(
        graph: loader.graph, places: target.map { [(.null, $0)] } ?? [])
    case .links(_, let type):
      guard let table = try plan.linkTable(slot, store.plan) else {
        return LoadedTargets(graph: loader.graph, places: [])
      }
      let links = try connection.links(table, of: [zIndex])
      try loader.load(type, links.map(\.target))
      return LoadedTargets(graph: loader.graph, places: links.map { ($0.place, $0.target) })
    case .column, .asset, .reverse:
      return LoadedTargets(graph: loader.graph, places: [])
    }
  }

  /// Makes the value of what was read.
  func value<Value>(_ type: Value.Type, of targets: LoadedTargets) throws -> Value {
    let context = FetchContext(store: store, targets.graph)
    let made: Any? =
      if let type = type as? any MagicObject.Type {
        try object(type, context, targets)
      } else if let type = type as? any LinkCollection.Type {
        try collection(type, context, targets)
      } else {
        nil
      }
    guard let value = made as? Value else {
      throw MagicError.missingTarget(type: "\(type)", zIndex: targets.places.first?.target ?? 0)
    }
    return value
  }

  private func object<Object: MagicObject>(
    _ type: Object.Type, _ context: FetchContext, _ targets: LoadedTargets
  ) throws -> Object? {
    try targets.places.first.flatMap { try context.make(type, $0.target) }
  }

  private func collection<Collection: LinkCollection>(
    _ type: Collection.Type, _ context: FetchContext, _ targets: LoadedTargets
  ) throws -> Collection {
    try Collection(
      links: targets.places.map { place, target in
        guard let object = try context.make(Collection.Target.self, target) else {
          throw MagicError.missingTarget(type: "\(Collection.Target.self)", zIndex: target)
        }
        return (place, object)
      })
  }
}

/// What a relation leads to, as read from a snapshot.
package struct LoadedTargets: Sendable {
  let graph: FetchedGraph
  let places: [(place: Value, target: Int64)]
}
