public import SQLiteCore
public import SQLiteMapping

extension Connection {
  /// Reads the records that one on the left is linked to.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - reference: The links.
  ///   - order: The order, or nil for that of their keys; also by a column that only the links have.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if a row does not fit the type.
  public func rightObjects<Left: Record, Right: Record>(
    of left: Left, through reference: CrossReference<Left, Right>,
    orderedBy order: Ordering? = nil
  ) throws -> [Right] {
    try reading(reference, without: []) {
      let ends = reference.ends(from: reference.leftKeyName, to: reference.rightKeyName)
      return try linked(Right.self, by: ends, from: keyValue(of: left), order)
    }
  }

  /// Reads the records that are linked to one on the right.
  ///
  /// - Parameters:
  ///   - right: A record that was written.
  ///   - reference: The links.
  ///   - order: The order, or nil for that of their keys; also by a column that only the links have.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if a row does not fit the type.
  public func leftObjects<Left: Record, Right: Record>(
    of right: Right, through reference: CrossReference<Left, Right>,
    orderedBy order: Ordering? = nil
  ) throws -> [Left] {
    try reading(reference, without: []) {
      let ends = reference.ends(from: reference.rightKeyName, to: reference.leftKeyName)
      return try linked(Left.self, by: ends, from: keyValue(of: right), order)
    }
  }

  /// Reads the records that many on the left are linked to: one statement, however many there are.
  ///
  /// - Parameters:
  ///   - lefts: Records that were written.
  ///   - reference: The links.
  ///   - order: The order, or nil for that of their keys; also by a column that only the links have.
  /// - Returns: For each of `lefts` what it is linked to; of a class one instance for each key.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if a row does not fit the type.
  public func rightObjects<Left: Record, Right: Record>(
    ofEach lefts: [Left], through reference: CrossReference<Left, Right>,
    orderedBy order: Ordering? = nil
  ) throws -> [[Right]] {
    let keys = try lefts.map { try keyValue(of: $0) }
    if lefts.isEmpty { return [] }
    return try reading(reference, without: lefts.map { _ in [] }) {
      let found = try rightObjects(ofKeys: keys, through: reference, order)
      return keys.map { found[$0] ?? [] }
    }
  }

  /// Reads what one key is linked to.
  private func linked<Other: Record>(
    _ type: Other.Type, by ends: LinkEnds, from key: Value, _ order: Ordering?
  ) throws -> [Other] {
    var others: [Other] = []
    let source: SQL = """
      \(try self.source(type, by: ends)) WHERE \(ends.from) = \(key)
      ORDER BY \(order?.sql ?? ends.to)
      """
    try forEachRow(of: type, besides: [], from: source) { decoder, _ in
      others.append(try decoder.row(as: type))
    }
    return others
  }

  /// The rows of a type beside the links that lead to them. The links lead, in the order of their index.
  private func source(_ type: any Record.Type, by ends: LinkEnds) throws -> SQL {
    let table: SQL = "\(identifier: type.tableName)"
    return """
      \(ends.links) CROSS JOIN \(table)
      ON \(table).\(identifier: try keyColumn(of: type)) = \(ends.to)
      """
  }

  /// Reads what many keys are linked to.
  private func rightObjects<Left: Record, Right: Record>(
    ofKeys keys: [Value], through reference: CrossReference<Left, Right>, _ order: Ordering?
  ) throws -> [Value: [Right]] {
    let ends = reference.ends(from: reference.leftKeyName, to: reference.rightKeyName)
    let (left, right) = (ends.from, ends.to)
    let source: SQL = """
      \(try self.source(Right.self, by: ends))
      WHERE \(left) IN \(keys) ORDER BY \(left), \(order?.sql ?? right)
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

/// The columns of a link table, seen from one end.
private struct LinkEnds {
  let links: SQL
  let from: SQL
  let to: SQL
}

extension CrossReference {
  fileprivate func ends(from: String, to: String) -> LinkEnds {
    let links: SQL = "\(identifier: name)"
    return LinkEnds(
      links: links, from: "\(links).\(identifier: from)", to: "\(links).\(identifier: to)")
  }
}
