public import SQLiteCore

extension Connection {
  /// Lends the links of many owners, in one query: owner by owner, each one's in its order.
  ///
  /// - Parameters:
  ///   - table: The links.
  ///   - owners: The keys of the owners.
  ///   - body: Takes a link.
  /// - Throws: ``SQLiteError``, or what `body` throws.
  /// - Complexity: O(*n* log *m*) for *n* links found among *m*.
  public func forEachLink(
    _ table: LinkTable, of owners: [Int64], _ body: (Link) throws -> Void
  ) throws {
    guard !owners.isEmpty else { return }
    try forEachRow(
      "SELECT owner, \(table.placeSQL), target FROM \(identifier: table.name) WHERE owner IN \(owners) ORDER BY owner\(table.placeOrder)"
    ) { row in
      try body(
        Link(owner: row.integer(at: 0), place: try row.value(at: 1), target: row.integer(at: 2)))
    }
  }

  /// Reads the links of many owners in one query: owner by owner, each one's in its order.
  ///
  /// - Parameters:
  ///   - table: The links.
  ///   - owners: The keys of the owners.
  /// - Throws: ``SQLiteError``.
  /// - Complexity: O(*n* log *m*) for *n* links found among *m*.
  public func links(_ table: LinkTable, of owners: [Int64]) throws -> [Link] {
    var links: [Link] = []
    try forEachLink(table, of: owners) { links.append($0) }
    return links
  }

  /// Reads some of an owner's links, in their order.
  ///
  /// Reading on from a link costs the same wherever it is; an offset is counted off.
  ///
  /// - Parameters:
  ///   - table: The links.
  ///   - owner: The key of the owner.
  ///   - condition: SQL on the columns of the link table, such as `target IN (SELECT …)`.
  ///   - link: The link of the same owner to read on from.
  ///   - limit: The most links to read.
  ///   - offset: How many to pass over first.
  /// - Throws: ``SQLiteError``.
  public func links(
    _ table: LinkTable, of owner: Int64, where condition: SQL? = nil, after link: Link? = nil,
    limit: Int? = nil, offset: Int = 0
  ) throws(SQLiteError) -> [Link] {
    var sql: SQL =
      "SELECT \(table.placeSQL), target FROM \(identifier: table.name) WHERE owner = \(owner)"
    if let condition { sql.append(" AND (\(condition))") }
    if let link {
      let last = table.place == nil ? .integer(link.target) : link.place
      sql.append(" AND \(identifier: table.place ?? "target") > \(last)")
    }
    sql.append(" ORDER BY \(identifier: table.place ?? "target")")
    if limit != nil || offset > 0 { sql.append(" LIMIT \(limit ?? -1) OFFSET \(offset)") }
    return try rows(sql, as: Value.self, Int64.self).map {
      Link(owner: owner, place: $0, target: $1)
    }
  }

  /// The number of an owner's links, counted by the database.
  ///
  /// - Parameters:
  ///   - table: The links.
  ///   - owner: The key of the owner.
  ///   - condition: SQL on the columns of the link table, such as `target IN (SELECT …)`.
  /// - Throws: ``SQLiteError``.
  public func linkCount(
    _ table: LinkTable, of owner: Int64, where condition: SQL? = nil
  ) throws(SQLiteError) -> Int {
    var sql: SQL = "SELECT count(*) FROM \(identifier: table.name) WHERE owner = \(owner)"
    if let condition { sql.append(" AND (\(condition))") }
    return try firstRow(sql, as: Int.self) ?? 0
  }
}

extension LinkTable {
  /// A query for what the links of owners lead to, owner by owner, each one's in its order: the owner,
  /// the target, and of a dictionary the key.
  ///
  /// - Parameter owners: The keys of the owners, or nil for all.
  package func targetQuery(of owners: [Int64]?) -> SQL {
    var sql: SQL =
      arrangement == .dictionary ? "SELECT owner, target, key FROM " : "SELECT owner, target FROM "
    sql.append("\(identifier: name)")
    if let owners { sql.append(" WHERE owner IN \(owners)") }
    sql.append(" ORDER BY owner\(placeOrder)")
    return sql
  }

  /// What tells apart the links of one owner, NULL in a set.
  fileprivate var placeSQL: SQL { place.map { "\(identifier: $0)" } ?? "NULL" }

  /// The order of the links of one owner, behind others.
  fileprivate var placeOrder: SQL { ", \(identifier: place ?? "target")" }
}
