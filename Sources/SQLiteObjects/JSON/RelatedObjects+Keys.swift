import SQLiteCore

extension RelatedObjects {
  /// Reads the links of the relation, blocking the thread.
  ///
  /// - Returns: For each link, the key with which coders encode the related object as `target`, and
  ///   the place of the link in the relation as `key`.
  func keys() throws -> [(key: Value, target: Value)] {
    try store.read { connection in
      let links = try found(connection) { try self.links($0) }.links
      return try keys(links.map { ($0.place, $0.target) }, relation.destination, connection)
    }
  }

  /// Returns the primary values of objects, or their z_index values if the type has no primary
  /// value or an `Int` primary value, which equals the z_index.
  private func keys(
    _ targets: [(key: Value, zIndex: Int64)], _ target: ObjectPlan, _ connection: Connection
  ) throws -> [(key: Value, target: Value)] {
    guard let primary = target.primary, target.autoIncrementSlot == nil else {
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
