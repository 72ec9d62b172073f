package import SQLiteCore

extension Connection {
  /// Finds records by the words in their searched properties: ``RecordQuery/search(_:marks:)``.
  func search<Found: Record>(
    _ type: Found.Type, _ query: RecordQueryParts, _ pattern: SearchPattern, _ marks: SearchMarks,
    _ print: inout [Value]?
  ) throws -> [SearchResult<Found>] {
    guard case .table = query.source, query.order == nil else {
      throw SQLiteError(
        .misuse, "a search needs a query of a table, and orders its results by rank")
    }
    let plan = try plan(of: type)
    guard !plan.searchedColumns.isEmpty else {
      throw SQLiteError(.misuse, "\(type) declares no searched properties")
    }
    let search = try Search(
      for: pattern, where: query.condition, marks: marks, limit: query.limit, offset: query.offset)
    if search.isEmpty { return [] }
    return try reading(plan, without: []) {
      guard let rowID = try rowIDColumn(of: plan.name),
        let query = try search.query(
          plan.columns("found.*", on: self), of: plan.name, plan.searchedColumns, rowID, self)
      else {
        if try !hasTable(plan) { return [] }
        throw Search.missingIndex(of: plan.name, plan.searchedColumns, "\(type)")
      }
      var reader: RowReader?
      return try search.results(of: query, self) { row in
        try row.append(to: &print)
        let known = reader ?? plan.reader(of: row)
        reader = known
        return try known.row(as: type)
      }
    }
  }

  /// The column that is the rowid of a table, if there is one.
  private func rowIDColumn(of table: String) throws -> String? {
    let keys = try columns(of: table).filter { $0.primaryKeyPosition > 0 }
    return keys.count == 1 ? keys[0].name : nil
  }
}

/// A full-text search of one table: all SQL of searches, of records and of objects.
package struct Search: Sendable {
  /// In FTS5's language; empty if it finds nothing.
  private let expression: String
  /// A condition on the rows of the table, which are called as the table is.
  private let condition: SQL?
  private let marks: SearchMarks
  private let limit: Int?
  private let offset: Int

  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` for a negative limit or offset, with
  ///   ``ResultCode/tooBig`` for a pattern that is nested too deep.
  package init(
    for pattern: SearchPattern, where condition: SQL?, marks: SearchMarks, limit: Int?, offset: Int
  ) throws(SQLiteError) {
    guard limit ?? 0 >= 0, offset >= 0 else {
      throw SQLiteError(.range, "a limit and an offset are not negative")
    }
    expression = try pattern.expression()
    self.condition = condition
    self.marks = marks
    self.limit = limit
    self.offset = offset
  }

  /// Whether the pattern finds nothing, in whatever table.
  package var isEmpty: Bool { expression.isEmpty }

  /// The error of a table that lacks its index.
  package static func missingIndex(
    of table: String, _ columns: [String], _ type: String
  ) -> SQLiteError {
    SQLiteError(
      .error,
      "“\(table)” has no full-text index “\(TablePlan.searchTableName(of: table))” with the columns "
        + "(\(columns.joined(separator: ", "))), which the next write of a \(type) makes")
  }

  /// Makes a query of columns for ``results(of:_:_:)``.
  ///
  /// The rows are found and sorted first; marks are set in those alone that are returned.
  ///
  /// - Parameters:
  ///   - columns: The columns, of rows that are called `found`.
  ///   - table: The table.
  ///   - searched: The columns that are searched, in any order.
  ///   - rowID: The column that is its rowid.
  ///   - connection: The connection.
  /// - Returns: Nil if the table has no index with these columns.
  package func query(
    _ columns: SQL, of table: String, _ searched: [String], _ rowID: String,
    _ connection: Connection
  ) throws -> SearchQuery? {
    guard let names = try SearchTable(of: table, connection)?.columns,
      Set(names.map(asciiLowercased)) == Set(searched.map(asciiLowercased))
    else { return nil }
    let index: SQL = "\(identifier: TablePlan.searchTableName(of: table))"
    // The columns have names that no property has: a record is read by name.
    var sql: SQL =
      "WITH magicdata_hit (id, magicdata_rank) AS (SELECT \(index).rowid, \(index).rank FROM \(index) WHERE \(index) MATCH \(expression)"
    if let condition {
      // The table is in a subquery of its own, where the column names of the index cannot be taken for its
      // own.
      sql.append(
        " AND EXISTS (SELECT 1 FROM \(identifier: table) WHERE \(identifier: table).\(identifier: rowID) = \(index).rowid AND (\(condition)\n))"
      )
    }
    sql.append(" ORDER BY 2, 1 LIMIT \(limit ?? -1) OFFSET \(offset))")
    let marked = names.indices.map { column -> SQL in
      "highlight(\(index), \(column), \(marks.start), \(marks.end)) AS \(identifier: "magicdata_highlight_\(column)")"
    }
    sql.append(
      """
       SELECT \(columns), magicdata_hit.magicdata_rank,
        snippet(\(index), -1, \(marks.start), \(marks.end), '…', \(min(max(marks.snippetLength, 1), 64))) AS magicdata_snippet,
        \(SQL(joining: marked, separator: ", "))
      FROM magicdata_hit
        CROSS JOIN \(index) ON \(index).rowid = magicdata_hit.id AND \(index) MATCH \(expression)
        CROSS JOIN \(identifier: table) AS found ON found.\(identifier: rowID) = magicdata_hit.id
      ORDER BY magicdata_hit.magicdata_rank, magicdata_hit.id
      """)
    return SearchQuery(sql: sql, names: names)
  }

  /// Runs a query and makes its results, the best first.
  ///
  /// - Parameter value: Reads the columns that were selected.
  package func results<Value>(
    of query: SearchQuery, _ connection: Connection,
    _ value: (borrowing Statement) throws -> Value
  ) throws -> [SearchResult<Value>] {
    var results: [SearchResult<Value>] = []
    try connection.forEachRow(query.sql) { row in
      // Those that were added stand behind those that were selected.
      let first = row.columnCount - query.names.count - 2
      var highlights: [String: String] = [:]
      for (index, name) in query.names.enumerated() {
        highlights[name] = try row.get(first + 2 + index, as: String?.self)
      }
      results.append(
        SearchResult(
          value: try value(row), rank: row.real(at: first),
          snippet: try row.text(at: first + 1), highlights: highlights))
    }
    return results
  }
}

/// The SQL of a search, with the columns of the index.
package struct SearchQuery: Sendable {
  package let sql: SQL
  fileprivate let names: [String]
}

/// A value that a full-text search has found.
public struct SearchResult<Value> {
  /// The value.
  public let value: Value
  /// How well it fits: the less, the better (FTS5's `bm25`).
  public let rank: Double
  /// The part of a text that fits best, with marks around the words that were found.
  public let snippet: String
  /// The searched properties' whole texts, with marks around the words that were found.
  public let highlights: [String: String]

  /// The result with something else as its value.
  package func with<Other>(_ value: Other) -> SearchResult<Other> {
    SearchResult<Other>(value: value, rank: rank, snippet: snippet, highlights: highlights)
  }
}

extension SearchResult: Sendable where Value: Sendable {}
extension SearchResult: Equatable where Value: Equatable {}

/// The marks around words that were found.
public struct SearchMarks: Hashable, Sendable {
  /// Before a word.
  public var start: String
  /// After a word.
  public var end: String
  /// How many words a snippet has, 1 to 64; another number is taken for the nearest of these.
  public var snippetLength: Int

  /// Creates marks.
  ///
  /// - Parameters:
  ///   - start: Before a word.
  ///   - end: After a word.
  ///   - snippetLength: How many words a snippet has, 1 to 64.
  public init(start: String = "[", end: String = "]", snippetLength: Int = 16) {
    self.start = start
    self.end = end
    self.snippetLength = snippetLength
  }
}
