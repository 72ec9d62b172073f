public import SQLiteCore
public import SQLiteMapping

extension Connection {
  /// Reads the records that one on the left is linked to, in the order of their keys.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - reference: The links.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if a row does not fit the type.
  public func rightObjects<Left: Record, Right: Record>(
    of left: Left, through reference: CrossReference<Left, Right>
  ) throws -> [Right] {
    try reading(reference, without: []) {
      let key = try keyColumn(of: Right.self)
      return try objects(
        of: Right.self,
        where:
          "\(identifier: key) IN (SELECT \(identifier: reference.rightKeyName) FROM \(identifier: reference.name) WHERE \(identifier: reference.leftKeyName) = \(keyValue(of: left)))",
        orderedBy: .column(key))
    }
  }

  /// Reads the records that are linked to one on the right, in the order of their keys.
  ///
  /// - Parameters:
  ///   - right: A record that was written.
  ///   - reference: The links.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if a row does not fit the type.
  public func leftObjects<Left: Record, Right: Record>(
    of right: Right, through reference: CrossReference<Left, Right>
  ) throws -> [Left] {
    try reading(reference, without: []) {
      let key = try keyColumn(of: Left.self)
      return try objects(
        of: Left.self,
        where:
          "\(identifier: key) IN (SELECT \(identifier: reference.leftKeyName) FROM \(identifier: reference.name) WHERE \(identifier: reference.rightKeyName) = \(keyValue(of: right)))",
        orderedBy: .column(key))
    }
  }

  /// Reads the records that many on the left are linked to: one statement, however many there are.
  ///
  /// - Parameters:
  ///   - lefts: Records that were written.
  ///   - reference: The links.
  /// - Returns: For each of `lefts` what it is linked to, in the order of their keys; of a class one
  ///   instance for each key.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if a row does not fit the type.
  public func rightObjects<Left: Record, Right: Record>(
    ofEach lefts: [Left], through reference: CrossReference<Left, Right>
  ) throws -> [[Right]] {
    let keys = try lefts.map { try keyValue(of: $0) }
    if lefts.isEmpty { return [] }
    return try reading(reference, without: lefts.map { _ in [] }) {
      let found = try rightObjects(ofKeys: keys, through: reference)
      return keys.map { found[$0] ?? [] }
    }
  }

  /// Reads what many keys are linked to.
  private func rightObjects<Left: Record, Right: Record>(
    ofKeys keys: [Value], through reference: CrossReference<Left, Right>
  ) throws -> [Value: [Right]] {
    let links: SQL = "\(identifier: reference.name)"
    let left: SQL = "\(links).\(identifier: reference.leftKeyName)"
    let right: SQL = "\(links).\(identifier: reference.rightKeyName)"
    let table: SQL = "\(identifier: Right.tableName)"
    // The links lead, in the order of their index.
    let source: SQL = """
      \(links) CROSS JOIN \(table) ON \(table).\(identifier: try keyColumn(of: Right.self)) = \(right)
      WHERE \(left) IN \(keys) ORDER BY \(left), \(right)
      """
    // Owner by owner: what one of them has is taken out when the next one comes.
    var found: [Value: [Right]] = [:]
    var rights: [Right] = []
    var current: Value?
    var instances: [Value: Right] = [:]
    let isClass = Right.self is AnyObject.Type
    try forEachRow(of: Right.self, besides: [left, right], from: source) { reader, besides in
      let key = try besides(0)
      if key != current {
        if let current { found[current] = rights }
        current = key
        rights.removeAll()
      }
      let rightKey = isClass ? try besides(1) : .null
      if isClass, let known = instances[rightKey] {
        rights.append(known)
      } else {
        rights.append(try reader.row(as: Right.self))
        if isClass { instances[rightKey] = rights[rights.count - 1] }
      }
    }
    if let current { found[current] = rights }
    return found
  }

  /// The number of records that one on the left is linked to, counted by the database.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - reference: The links.
  /// - Throws: ``SQLiteError``.
  public func linkCount<Left: Record, Right: Record>(
    of left: Left, through reference: CrossReference<Left, Right>
  ) throws -> Int {
    try reading(reference, without: 0) {
      try firstRow(
        "SELECT count(*) FROM \(identifier: reference.name) WHERE \(identifier: reference.leftKeyName) = \(keyValue(of: left))",
        as: Int.self) ?? 0
    }
  }
}
