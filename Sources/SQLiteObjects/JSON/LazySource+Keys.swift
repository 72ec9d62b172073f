import SQLiteCore
import SQLiteRelations

extension LazySource {
  /// The keys of the objects that the relation leads to, with their places, blocking the thread.
  func keys() throws -> [(place: Value, key: Value)] {
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
