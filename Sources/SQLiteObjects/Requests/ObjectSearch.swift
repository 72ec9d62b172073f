import SQLiteCore
public import SQLiteMapping

/// A full-text search for objects of a type, prepared for one store.
struct ObjectSearch<Object: MagicObject>: Sendable {
  private let store: any ObjectStore
  let plan: ObjectPlan
  private let search: Search
  /// The columns that the full-text index covers.
  private let columns: [String]

  /// The results of a search, read from one snapshot.
  struct Found: Sendable {
    /// The z_index values of the matching objects, with their ranks, snippets and highlights.
    var hits: [SearchResult<Int64>] = []
    var graph = FetchedGraph()
  }

  init(
    _ store: any ObjectStore, _ pattern: SearchPattern, _ query: QueryParts, _ marks: SearchMarks
  ) throws {
    guard query.order.isEmpty else {
      throw SQLiteError(
        .misuse,
        "search results are ordered by rank; use Filter.matching for another order")
    }
    self.store = store
    plan = try store.plan(Object.self)
    guard let columns = plan.search?.columns else { throw plan.notSearchedError }
    self.columns = columns
    search = try Search(
      for: pattern,
      where: query.unlimitedCondition(in: store)
        .map { [plan] in try ExpressionSQL.sql($0, on: plan, .few, in: store) }, marks: marks,
      limit: query.limit,
      offset: query.offset)
  }

  /// Runs the search and fetches the matching objects with their related objects.
  func find(_ connection: Connection) throws -> Found {
    guard !search.isEmpty, try !connection.columnNames(of: plan.table).isEmpty else {
      return Found()
    }
    let key: SQL = "found.\(identifier: plan.key)"
    guard let query = try search.query(key, of: plan.table, columns, plan.key, connection) else {
      throw Search.missingIndex(of: plan.table, columns, plan.typeName)
    }
    let hits = try search.results(of: query, connection) { $0.integer(at: 0) }
    let loader = GraphLoader(store, connection)
    try loader.load(plan.type, hits.map(\.value))
    return Found(hits: hits, graph: loader.graph)
  }

  /// Creates the objects from the fetched rows.
  func results(_ found: Found) throws -> [SearchResult<Object>] {
    let objects = try FetchContext(store, found.graph)
      .objects(Object.self, found.hits.map(\.value)[...])
    return zip(found.hits, objects).map { $0.with($1) }
  }
}

extension ObjectPlan {
  /// The error for a search in a type that declares no searched properties.
  var notSearchedError: MagicError {
    .notSearched(type: typeName)
  }
}

extension Filter {
  /// Returns a filter for the objects whose searched properties match a full-text pattern.
  ///
  ///     let notes = try magic.objects(of: Note.self, where: (\Note.$comments).contains(where: .matching(.all(of: "milk"))))
  ///
  /// To also get the rank and the matching text of each object, use ``Query/search(_:marks:)``.
  /// Fetching throws ``MagicError/notSearched(type:)`` if the type doesn't declare
  /// `PropertyTrait.searched(_:_:)`. It throws `SQLiteError` if the table has no full-text index,
  /// or if the pattern is nested too deeply.
  ///
  /// - Parameter pattern: The pattern. An empty pattern matches nothing.
  public static func matching(_ pattern: SearchPattern) -> Filter {
    do {
      let isSearched = Object.traits.contains {
        if case .searched = $0.kind { true } else { false }
      }
      guard isSearched else {
        throw MagicError.notSearched(type: "\(Object.self)")
      }
      let expression = try pattern.expression()
      if expression.isEmpty { return Filter(.form(["0"], [], isTruthValue: true)) }
      let index = try SQL.escapeIdentifier(TablePlan.searchTableName(of: Object.tableName))
      return Filter(
        .form(
          ["(", " IN (SELECT rowid FROM \(index) WHERE \(index) MATCH ", "))"],
          [.column([]), .value(.text(expression))], isTruthValue: true))
    } catch {
      return Filter(.failure(error))
    }
  }
}
