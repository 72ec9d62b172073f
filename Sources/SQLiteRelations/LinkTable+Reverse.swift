public import SQLiteCore

extension Connection {
  /// The owners that are linked to a target, each once, in ascending order.
  ///
  /// - Parameters:
  ///   - table: The links.
  ///   - target: The key of the target.
  ///   - condition: SQL on the columns of the link table, such as `owner IN (SELECT …)`.
  ///   - owner: The owner to read on from.
  ///   - limit: The most owners to read.
  ///   - offset: How many to pass over first.
  /// - Throws: ``SQLiteError``.
  /// - Complexity: O(*n* + log *m*) for *n* owners found among *m* links.
  public func owners(
    _ table: LinkTable, of target: Int64, where condition: SQL? = nil, after owner: Int64? = nil,
    limit: Int? = nil, offset: Int = 0
  ) throws(SQLiteError) -> [Int64] {
    var sql: SQL =
      "SELECT \(table.distinct)owner FROM \(identifier: table.name) WHERE target = \(target)"
    if let condition { sql.append(" AND (\(condition))") }
    if let owner { sql.append(" AND owner > \(owner)") }
    sql.append(" ORDER BY owner")
    if limit != nil || offset > 0 { sql.append(" LIMIT \(limit ?? -1) OFFSET \(offset)") }
    return try rows(sql, as: Int64.self)
  }

  /// The number of owners that are linked to a target, counted by the database.
  ///
  /// - Parameters:
  ///   - table: The links.
  ///   - target: The key of the target.
  ///   - condition: SQL on the columns of the link table, such as `owner IN (SELECT …)`.
  /// - Throws: ``SQLiteError``.
  public func ownerCount(
    _ table: LinkTable, of target: Int64, where condition: SQL? = nil
  ) throws(SQLiteError) -> Int {
    var sql: SQL =
      "SELECT count(\(table.distinct)owner) FROM \(identifier: table.name) WHERE target = \(target)"
    if let condition { sql.append(" AND (\(condition))") }
    return try firstRow(sql, as: Int.self) ?? 0
  }
}

extension LinkTable {
  /// A set has each owner of a target once; in the others an owner may have a target several times.
  fileprivate var distinct: SQL { arrangement == .set ? "" : "DISTINCT " }
}
