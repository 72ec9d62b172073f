public import SQLiteCore

extension Connection {
  /// Searches the properties that a type declares as ``PropertyTrait/searched(_:)``.
  ///
  ///     for result in try connection.search(Note.self, for: .all(of: "milk bread")) {
  ///       print(result.value.title, result.snippet)
  ///     }
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - pattern: The pattern. An empty one finds nothing.
  ///   - condition: SQL for the rows that are wanted besides, or nil.
  ///   - marks: The marks around words that were found.
  ///   - limit: How many at most, or nil for all.
  ///   - offset: How many to pass over first.
  /// - Returns: The values that fit, the best first.
  /// - Throws: ``SQLiteError``, also if no property is searched, or if the table is there without its
  ///   index; ``RowDecodingError`` if a row does not fit the type.
  public func search<Value: Record>(
    _ type: Value.Type, for pattern: SearchPattern, where condition: SQL? = nil,
    marks: SearchMarks = SearchMarks(), limit: Int? = nil, offset: Int = 0
  ) throws -> [SearchResult<Value>] {
    let plan = try plan(of: type)
    guard plan.isSearched else {
      throw SQLiteError(.misuse, "\(type) declares no searched properties")
    }
    guard limit ?? 0 >= 0, offset >= 0 else {
      throw SQLiteError(.range, "a limit and an offset are not negative")
    }
    let expression = try pattern.expression()
    guard !expression.isEmpty else { return [] }
    let index = "\(plan.name)_search"
    return try reading(plan, without: []) {
      let columns = try self.columns(of: index).filter { $0.kind == .ordinary }.map(\.name)
      guard let rowID = try rowIDColumn(of: plan.name), !columns.isEmpty else {
        if try !hasTable(plan) { return [] }
        throw SQLiteError(
          .error,
          "“\(plan.name)” has no full-text index “\(index)”, which the first write of a \(type) "
            + "makes")
      }
      let highlights = columns.indices.map { column -> SQL in
        "highlight(\(identifier: index), \(column), \(marks.start), \(marks.end))"
      }
      // A table of its own, so that the names of the index do not meet those of the properties.
      var sql: SQL = """
        WITH hit (magicdata_id, magicdata_rank, magicdata_snippet, \(names(columns.count))) AS (
          SELECT rowid, rank,
            snippet(\(identifier: index), -1, \(marks.start), \(marks.end), '…', \(marks.snippetLength)),
            \(SQL(joining: highlights, separator: ", "))
          FROM \(identifier: index) WHERE \(identifier: index) MATCH \(expression))
        SELECT found.*, magicdata_rank, magicdata_snippet, \(names(columns.count))
        FROM hit JOIN \(identifier: plan.name) AS found ON found.\(identifier: rowID) = magicdata_id
        WHERE 1
        """
      if let condition { sql.append(" AND (\(condition)\n)") }
      sql.append(" ORDER BY magicdata_rank LIMIT \(limit ?? -1) OFFSET \(offset)")
      return try results(sql, plan, columns, as: type)
    }
  }

  private func names(_ count: Int) -> SQL {
    SQL(
      joining: (0..<count).map { "\(identifier: "magicdata_highlight_\($0)")" }, separator: ", ")
  }

  private func results<Value: Record>(
    _ sql: SQL, _ plan: RecordPlan, _ columns: [String], as type: Value.Type
  ) throws -> [SearchResult<Value>] {
    var statement = try boundStatement(sql)
    guard try statement.step() else { return [] }
    let reader = plan.reader(of: statement)
    // Those that were added stand behind those of the table.
    let first = statement.columnCount - columns.count - 2
    var results: [SearchResult<Value>] = []
    repeat {
      var highlights: [String: String] = [:]
      for (index, column) in columns.enumerated() {
        highlights[column] = try statement.get(first + 2 + index, as: String?.self)
      }
      results.append(
        SearchResult(
          value: try reader.row(as: type), rank: statement.real(at: first),
          snippet: try statement.text(at: first + 1), highlights: highlights))
    } while try statement.step()
    return results
  }

  /// The column that is the rowid of a table, if there is one.
  private func rowIDColumn(of table: String) throws -> String? {
    let keys = try columns(of: table).filter { $0.primaryKeyPosition > 0 }
    return keys.count == 1 ? keys[0].name : nil
  }
}

extension Database {
  /// Searches the properties that a type declares as ``PropertyTrait/searched(_:)``.
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - pattern: The pattern. An empty one finds nothing.
  ///   - condition: SQL for the rows that are wanted besides, or nil.
  ///   - limit: How many at most, or nil for all.
  /// - Returns: The values that fit, the best first.
  /// - Throws: As ``SQLiteCore/Connection/search(_:for:where:marks:limit:offset:)``.
  public func search<Value: Record>(
    _ type: Value.Type, for pattern: SearchPattern, where condition: SQL? = nil,
    limit: Int? = nil
  ) throws -> [SearchResult<Value>] {
    try read { try $0.search(type, for: pattern, where: condition, limit: limit) }
  }

  /// As the blocking ``search(_:for:where:limit:)``, without blocking the task.
  ///
  /// - Throws: As the blocking form, or `CancellationError`.
  public func search<Value: Record>(
    _ type: Value.Type, for pattern: SearchPattern, where condition: SQL? = nil,
    limit: Int? = nil
  ) async throws -> sending [SearchResult<Value>] {
    try await readGiving { try $0.search(type, for: pattern, where: condition, limit: limit) }
  }
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
}

extension SearchResult: Sendable where Value: Sendable {}
extension SearchResult: Equatable where Value: Equatable {}

/// The marks around words that were found.
public struct SearchMarks: Hashable, Sendable {
  /// Before a word.
  public var start: String
  /// After a word.
  public var end: String
  /// How many words a snippet has, 1 to 64.
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
