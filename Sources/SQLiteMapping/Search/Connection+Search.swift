package import SQLiteCore

extension Connection {
  /// Fetches the records with searched properties that match a pattern, for
  /// ``RecordQuery/search(_:marks:)``.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if the query has an order or was created
  ///   from SQL, or if the type declares no searched property; the errors of ``Search`` and of
  ///   decoding a row.
  func search<Found: Record>(
    _ type: Found.Type, _ query: RecordQueryParts, _ pattern: SearchPattern, _ marks: SearchMarks,
    _ print: inout [Value]?
  ) throws -> [SearchResult<Found>] {
    guard case .table = query.source, query.order == nil else {
      throw SQLiteError(
        .misuse,
        "a search needs a query of a table without an order, because it orders its results "
          + "by rank")
    }
    let plan = try plan(of: type)
    guard !plan.searchedColumns.isEmpty else {
      throw SQLiteError(
        .misuse, "\(type) declares no searched properties; add the trait .searched(…)")
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

  /// Returns the name of the primary key column of a table, or nil if the primary key is missing or
  /// consists of several columns.
  private func rowIDColumn(of table: String) throws -> String? {
    let keys = try columns(of: table).filter { $0.primaryKeyPosition > 0 }
    return keys.count == 1 ? keys[0].name : nil
  }
}

/// A full-text search of one table. It contains all SQL for searches of records and objects.
package struct Search: Sendable {
  /// The expression in FTS5's query language. Empty if the pattern matches nothing.
  private let expression: String
  /// A condition on the rows of the table. It may qualify columns with the name of the table.
  private let condition: SQL?
  private let marks: SearchMarks
  private let limit: Int?
  private let offset: Int

  /// Creates a search for a pattern in the rows that match a condition.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if the limit or the offset is negative, or
  ///   with ``ResultCode/tooBig`` if the pattern is nested too deeply.
  package init(
    for pattern: SearchPattern, where condition: SQL?, marks: SearchMarks, limit: Int?, offset: Int
  ) throws(SQLiteError) {
    guard limit ?? 0 >= 0, offset >= 0 else {
      throw SQLiteError(.range, "a limit and an offset must not be negative")
    }
    expression = try pattern.expression()
    self.condition = condition
    self.marks = marks
    self.limit = limit
    self.offset = offset
  }

  /// Whether the pattern matches nothing, in any table.
  package var isEmpty: Bool { expression.isEmpty }

  /// Returns the error for a table without a matching full-text index.
  package static func missingIndex(
    of table: String, _ columns: [String], _ type: String
  ) -> SQLiteError {
    SQLiteError(
      .error,
      "“\(table)” has no full-text index “\(TablePlan.searchTableName(of: table))” with the "
        + "columns (\(columns.joined(separator: ", "))); the next write of \(type) creates it")
  }

  /// Returns the query of this search, which ``results(of:_:_:)`` runs.
  ///
  /// The query first finds, sorts and limits the rows, and then adds markers only to the rows that
  /// it returns.
  ///
  /// - Parameters:
  ///   - columns: SQL for the columns of the result. It refers to the table as `found`.
  ///   - table: The name of the table.
  ///   - searched: The names of the searched columns, in any order.
  ///   - rowID: The name of the column that is the rowid of the table.
  ///   - connection: The connection that runs the query.
  /// - Returns: The query, or nil if the table has no full-text index with exactly these columns.
  package func query(
    _ columns: SQL, of table: String, _ searched: [String], _ rowID: String,
    _ connection: Connection
  ) throws -> SearchQuery? {
    guard let names = try SearchTable(of: table, connection)?.columns,
      Set(names.map(asciiLowercased)) == Set(searched.map(asciiLowercased))
    else { return nil }
    let index: SQL = "\(identifier: TablePlan.searchTableName(of: table))"
    // Records are decoded by column name, so no property may have the name of an additional column.
    var sql: SQL =
      "WITH magicdata_hit (id, magicdata_rank) AS (SELECT \(index).rowid, \(index).rank FROM \(index) WHERE \(index) MATCH \(expression)"
    if let condition {
      // In this subquery, column names refer to the table. Otherwise they could also refer to the
      // index, which has columns of the same names.
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

  /// Runs a query and returns its results, the best match first.
  ///
  /// - Parameters:
  ///   - query: The query, as returned by ``query(_:of:_:_:_:)``.
  ///   - connection: The connection that runs the query.
  ///   - value: Decodes a value from the selected columns.
  package func results<Value>(
    of query: SearchQuery, _ connection: Connection,
    _ value: (borrowing Statement) throws -> Value
  ) throws -> [SearchResult<Value>] {
    var results: [SearchResult<Value>] = []
    try connection.forEachRow(query.sql) { row in
      // The additional columns follow the selected ones.
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

/// The SQL of a search, and the names of the columns in the full-text index.
package struct SearchQuery: Sendable {
  package let sql: SQL
  fileprivate let names: [String]
}

/// A match of a full-text search: a value with its rank and its marked texts.
public struct SearchResult<Value> {
  /// The record or object that matches the pattern.
  public let value: Value
  /// The rank of the match, computed by FTS5's `bm25`. A lower number is a better match.
  public let rank: Double
  /// An excerpt from the searched property that matches best, with markers around the matching
  /// words. It has at most ``SearchMarks/snippetLength`` words.
  public let snippet: String
  /// The complete text of each searched property, with markers around the matching words. The keys
  /// are column names. Properties that are nil are omitted.
  public let highlights: [String: String]

  /// Returns the same match with another value.
  package func with<Other>(_ value: Other) -> SearchResult<Other> {
    SearchResult<Other>(value: value, rank: rank, snippet: snippet, highlights: highlights)
  }
}

extension SearchResult: Sendable where Value: Sendable {}
extension SearchResult: Equatable where Value: Equatable {}

/// The markers around matching words in the results of a full-text search, and the length of
/// snippets.
public struct SearchMarks: Hashable, Sendable {
  /// The text before a matching word.
  public var start: String
  /// The text after a matching word.
  public var end: String
  /// The maximum number of words in a snippet, from 1 to 64. Numbers outside of this range are
  /// clamped.
  public var snippetLength: Int

  /// Creates markers, which are square brackets by default.
  ///
  /// - Parameters:
  ///   - start: The text before a matching word.
  ///   - end: The text after a matching word.
  ///   - snippetLength: The maximum number of words in a snippet, from 1 to 64. Numbers outside of
  ///     this range are clamped.
  public init(start: String = "[", end: String = "]", snippetLength: Int = 16) {
    self.start = start
    self.end = end
    self.snippetLength = snippetLength
  }
}
