public import SQLiteCore

extension Connection {
  /// Reads the links of many owners in one query, each owner's in its order.
  ///
  /// - Parameters:
  ///   - table: The links.
  ///   - owners: The keys of the owners.
  /// - Throws: ``SQLiteError``.
  /// - Complexity: O(*n* log *m*) for *n* links found among *m*.
  public func links(_ table: LinkTable, of owners: [Int64]) throws -> [Link] {
    var links: [Link] = []
    let place: SQL = table.place.map { "\(identifier: $0)" } ?? "NULL"
    try forEachRow(
      "SELECT owner, \(place), target FROM \(identifier: table.name) WHERE owner IN \(owners) ORDER BY owner, 2"
    ) { row in
      links.append(
        Link(owner: row.integer(at: 0), place: try row.value(at: 1), target: row.integer(at: 2)))
    }
    return links
  }

  /// The number of an owner's links.
  ///
  /// - Parameters:
  ///   - table: The links.
  ///   - owner: The key of the owner.
  /// - Throws: ``SQLiteError``.
  public func linkCount(_ table: LinkTable, of owner: Int64) throws(SQLiteError) -> Int {
    try firstRow(
      "SELECT count(*) FROM \(identifier: table.name) WHERE owner = \(owner)", as: Int.self) ?? 0
  }

  /// The owners that are linked to a target, each once, in ascending order.
  ///
  /// - Parameters:
  ///   - table: The links.
  ///   - target: The key of the target.
  /// - Throws: ``SQLiteError``.
  /// - Complexity: O(*n* + log *m*) for *n* owners found among *m* links.
  public func owners(_ table: LinkTable, of target: Int64) throws(SQLiteError) -> [Int64] {
    try rows(
      "SELECT DISTINCT owner FROM \(identifier: table.name) WHERE target = \(target) ORDER BY owner",
      as: Int64.self)
  }
}
