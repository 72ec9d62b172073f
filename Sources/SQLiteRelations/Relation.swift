public import SQLiteCore
import SQLiteMapping

/// A relation between the rows of two tables, queried in one direction.
///
/// It consists of connecting rows. Each of them contains a start, which is the key of a row of the
/// origin, and an end, which is the key of a row of the destination. Reference columns, link
/// tables, cross references of records and all reverse relations are queried in the same way: for
/// the ends of one or many starts, for pages of them, and for their number. This type contains all
/// SQL about relations.
package struct Relation: Hashable, Sendable {
  /// The table of the rows at one end of a relation, and the column that contains their keys.
  package struct End: Hashable, Sendable {
    /// The name of the table.
    package let table: String
    /// The name of the column that contains the keys of the table's rows.
    package let key: String

    /// Creates an end from the names of its table and key column.
    ///
    /// - Parameters:
    ///   - table: The name of the table.
    ///   - key: The name of the column that contains the keys of the table's rows.
    package init(table: String, key: String) {
      self.table = table
      self.key = key
    }
  }

  // All names are quoted for SQL.
  /// The name of the table whose rows connect the origin with the destination.
  private let table: String
  /// The name of the column of ``table`` that contains keys of the origin (starts).
  private let start: String
  /// The name of the column of ``table`` that contains keys of the destination (ends).
  private let end: String
  /// The name of the column of ``table`` that orders and identifies the ends of one start, such as
  /// the position in a list. Nil if ``end`` does.
  private let place: String?
  /// The name of the column of ``table`` that distinguishes rows with the same start and end, if
  /// such rows count as one connection. Nil if each row counts.
  private let distinguishingColumn: String?
  /// The table and the key column of the rows at the start of the relation.
  private let origin: End
  /// The table and the key column of the rows at the end of the relation.
  private let destination: End
  /// Whether the connecting rows are the rows of the destination, which are then read without a
  /// join.
  package let isInDestination: Bool
  /// The FROM clause with the tables of the connecting rows and of the destination. The connecting
  /// rows come first, in the order of their index, so that SQLite doesn't have to sort.
  private let joined: String

  private init(
    table: String, start: String, end: String, place: String?, distinguishingColumn: String?,
    origin: End, destination: End
  ) {
    self.table = table
    self.start = start
    self.end = end
    self.place = place
    self.distinguishingColumn = distinguishingColumn
    self.origin = origin
    self.destination = destination
    isInDestination = table == destination.table && end == destination.key
    let (row, key) = (destination.table, destination.key)
    joined =
      isInDestination
      ? table : "\(table) CROSS JOIN \(row) ON \(row).\(key) = \(table).\(end)"
  }

  /// Creates a relation from a table whose rows contain two keys.
  ///
  /// - Parameters:
  ///   - table: The name of the table of the connecting rows.
  ///   - start: The name of the column that contains keys of the origin.
  ///   - end: The name of the column that contains keys of the destination.
  ///   - place: The name of the column that orders and identifies the ends of one start, or nil if
  ///     the column `end` does.
  ///   - origin: The table and the key column of the rows at the start of the relation.
  ///   - destination: The table and the key column of the rows at the end of the relation.
  /// - Throws: ``SQLiteError`` if a name cannot be quoted.
  package init(
    rowsOf table: String, _ start: String, _ end: String, place: String? = nil, from origin: End,
    to destination: End
  ) throws(SQLiteError) {
    var quotedPlace: String?
    if let place { quotedPlace = try SQL.escapeIdentifier(place) }
    self.init(
      table: try SQL.escapeIdentifier(table), start: try SQL.escapeIdentifier(start),
      end: try SQL.escapeIdentifier(end), place: quotedPlace, distinguishingColumn: nil,
      origin: try origin.quoted, destination: try destination.quoted)
  }

  /// Creates the relation of the reference column `column` in the table of `owner`, which contains
  /// keys of `target`.
  ///
  /// - Throws: ``SQLiteError`` if a name cannot be quoted.
  package init(column: String, of owner: End, to target: End) throws(SQLiteError) {
    try self.init(rowsOf: owner.table, owner.key, column, from: owner, to: target)
  }

  /// The reverse relation, from the destination to the origin. If several rows connect the same two
  /// keys, they count as one.
  package var reversed: Relation {
    Relation(
      table: table, start: end, end: start, place: nil, distinguishingColumn: place,
      origin: destination, destination: origin)
  }
}

extension Relation.End {
  /// A copy whose table and column names are quoted for SQL.
  fileprivate var quoted: Self {
    get throws(SQLiteError) {
      Self(table: try SQL.escapeIdentifier(table), key: try SQL.escapeIdentifier(key))
    }
  }
}

// Parts of SQL.
extension Relation {
  /// A part of the connecting rows of one start.
  package struct Page: Sendable {
    /// A condition on the columns of the connecting rows, or nil for all rows.
    package var condition: SQL?
    /// The place of the last row before the page (keyset pagination), or the end of that row if the
    /// relation has no places. Nil for the first page. The time to find a page doesn't depend on
    /// the number of rows before it.
    package var last: Value?
    /// The maximum number of rows, or nil for no limit.
    package var limit: Int?
    /// The number of rows to skip. SQLite still reads them.
    package var offset: Int

    package init(
      where condition: SQL? = nil, after last: Value? = nil, limit: Int? = nil, offset: Int = 0
    ) {
      self.condition = condition
      self.last = last
      self.limit = limit
      self.offset = offset
    }
  }

  private var tableSQL: SQL { SQL(unchecked: table) }
  private var startSQL: SQL { column(start, of: table) }
  private var endSQL: SQL { column(end, of: table) }
  private var orderSQL: SQL { column(place ?? end, of: table) }

  /// Returns the qualified name of a column. Both names are already quoted.
  private func column(_ name: String, of row: String) -> SQL { SQL(unchecked: "\(row).\(name)") }

  /// The aggregate that counts connecting rows or, if there is a ``distinguishingColumn``, their
  /// distinct ends. A reference that is NULL does not count.
  private var countAggregate: SQL {
    if distinguishingColumn != nil { return "count(DISTINCT \(endSQL))" }
    let isReference = table == origin.table && start == origin.key
    return isReference ? "count(\(endSQL))" : "count(*)"
  }

  private var joinedSQL: SQL { SQL(unchecked: joined) }

  private func append(_ page: Page, to sql: inout SQL, isGrouped: Bool = false) {
    if let condition = page.condition { sql.append(" AND (\(condition))") }
    if let last = page.last { sql.append(" AND \(orderSQL) > \(last)") }
    if isGrouped, distinguishingColumn != nil { sql.append(" GROUP BY \(endSQL)") }
    sql.append(" ORDER BY \(orderSQL)")
    sql.append(limit: page.limit, offset: page.offset)
  }
}

// Queries for rows of the destination.
extension Relation {
  /// Returns the SQL after FROM that finds the rows of the destination for one start, in the order
  /// of their places or keys. A row with several places occurs once for each of them.
  ///
  /// - Parameters:
  ///   - key: The start, that is, the key of a row of the origin.
  ///   - page: The part of the rows to find.
  package func rows(from key: Value, _ page: Page = Page()) -> SQL {
    var sql: SQL = "\(joinedSQL) WHERE \(startSQL) = \(key)"
    append(page, to: &sql, isGrouped: true)
    return sql
  }

  /// Returns an SQL condition that is true for the rows of the destination that are related to the
  /// start `key`.
  package func endCondition(from key: Value) -> SQL {
    if isInDestination { return "\(startSQL) = \(key)" }
    return
      "\(column(destination.key, of: destination.table)) IN (SELECT \(endSQL) FROM \(tableSQL) WHERE \(startSQL) = \(key))"
  }

  /// Returns an SQL expression for ORDER BY. For each row of the destination, its value is the
  /// first place of the row among the ends of the start `key`.
  package func firstPlaceExpression(from key: Value) -> SQL {
    let target = column(destination.key, of: destination.table)
    return
      "(WITH magicdata_place (target, place) AS MATERIALIZED (SELECT \(endSQL), min(\(orderSQL)) FROM \(tableSQL) WHERE \(startSQL) = \(key) GROUP BY 1) SELECT place FROM magicdata_place WHERE target = \(target))"
  }

  /// The SQL after FROM that finds the rows of the destination for one start, in the order of their
  /// places or keys. The start is a parameter. A row with several connecting rows occurs several
  /// times in succession.
  package var rowsWithParameter: SQL { "\(joinedSQL) WHERE \(startSQL) = ? ORDER BY \(orderSQL)" }

  /// Returns the SQL after FROM that finds the rows of the destination for one or several starts.
  ///
  /// - Parameters:
  ///   - keys: The starts, that is, the keys of rows of the origin.
  ///   - order: The order of the rows of each start, where `.some(nil)` means the order of their
  ///     own keys. If nil, the rows of several starts have no defined order.
  func rows(from keys: Starts, orderedBy order: SQL??) -> SQL {
    var sorting: SQL { order.map { " ORDER BY \(startSQL), \($0 ?? endSQL)" } ?? "" }
    return switch keys {
    case .one(let key):
      "\(joinedSQL) WHERE \(startSQL) = \(key) ORDER BY \((order ?? nil) ?? endSQL)"
    case .many(let keys): "\(joinedSQL) WHERE \(startSQL) IN \(keys)\(sorting)"
    case .integers(let keys): "\(joinedSQL) WHERE \(startSQL) IN \(keys)\(sorting)"
    }
  }

  /// The starts of a query: keys of one or several rows of the origin.
  enum Starts {
    case one(Value)
    case many([Value])
    case integers([Int64])

    init(_ keys: [Value]) {
      let integers = keys.compactMap { if case .integer(let key) = $0 { key } else { nil } }
      self = integers.count == keys.count ? .integers(integers) : .many(keys)
    }
  }

  /// The SQL for the two columns of the connecting rows that contain the start and the end.
  var columns: [SQL] { [startSQL, endSQL] }
}

// Ends of one start.
extension Relation {
  /// A query for the number of ends of a start, with a parameter for the start.
  package var countWithParameter: SQL {
    "SELECT \(countAggregate) FROM \(tableSQL) WHERE \(startSQL) = ?"
  }

  /// Returns the number of ends of a start.
  ///
  /// - Parameters:
  ///   - key: The start, that is, the key of a row of the origin.
  ///   - condition: A condition on the columns of the connecting rows.
  ///   - connection: The connection that runs the query.
  package func count(
    from key: Value, where condition: SQL? = nil, in connection: Connection
  ) throws(SQLiteError) -> Int {
    var sql: SQL = "SELECT \(countAggregate) FROM \(tableSQL) WHERE \(startSQL) = \(key)"
    if let condition { sql.append(" AND (\(condition))") }
    return try connection.firstRow(sql, as: Int.self) ?? 0
  }

  /// Returns the ends of a start, that is, the keys of the related rows, in the order of their
  /// places or, if the relation has no places, in ascending order.
  package func ends(
    from key: Int64, _ page: Page = Page(), in connection: Connection
  ) throws(SQLiteError) -> [Int64] {
    var sql: SQL = distinguishingColumn != nil ? "SELECT DISTINCT " : "SELECT "
    sql.append("\(endSQL) FROM \(tableSQL) WHERE \(startSQL) = \(key)")
    append(page, to: &sql)
    return try connection.rows(sql, as: Int64.self)
  }

  /// Returns a link for each connecting row of a start, in the order of the places or, if the
  /// relation has no places, of the ends.
  package func links(
    from key: Int64, _ page: Page = Page(), in connection: Connection
  ) throws(SQLiteError) -> [StoredLink] {
    let place: SQL = place == nil ? "NULL" : orderSQL
    var sql: SQL = "SELECT \(place), \(endSQL) FROM \(tableSQL) WHERE \(startSQL) = \(key)"
    append(page, to: &sql)
    return try connection.rows(sql, as: Value.self, Int64.self).map {
      StoredLink(owner: key, place: $0, target: $1)
    }
  }

  /// Returns a page that contains only the link with the place `place`, such as a key of a
  /// dictionary.
  package func page(at place: Value) -> Page { Page(where: "\(orderSQL) = \(place)") }

  /// Returns the key that a reference column contains in the row with the key `key`.
  ///
  /// - Returns: The key; `.some(nil)` if the reference is NULL; nil if the row doesn't exist.
  package func end(from key: Int64, in connection: Connection) throws(SQLiteError) -> Int64?? {
    try connection.firstRow(
      "SELECT \(endSQL) FROM \(tableSQL) WHERE \(startSQL) = \(key)", as: Int64?.self)
  }
}

// Ends of many starts.
extension Relation {
  /// Returns a query for starts and ends, ordered by start. The ends of each start are in the order
  /// of their places or, if the relation has no places, in ascending order.
  ///
  /// - Parameters:
  ///   - keys: The starts, or nil for all starts.
  ///   - hasPlaces: Whether the query has a third column with the place.
  package func query(fromEach keys: [Int64]?, hasPlaces: Bool) -> SQL {
    var sql: SQL = "SELECT \(startSQL), \(endSQL)"
    if hasPlaces { sql.append(place == nil ? ", NULL" : ", \(orderSQL)") }
    sql.append(" FROM \(tableSQL)")
    if let keys { sql.append(" WHERE \(startSQL) IN \(keys)") }
    sql.append(" ORDER BY \(startSQL), \(orderSQL)")
    return sql
  }

  /// Returns those of `keys` for which a row of the destination exists.
  package func present(
    _ keys: [Int64], in connection: Connection
  ) throws(SQLiteError) -> Set<Int64> {
    let (row, key) = (SQL(unchecked: destination.table), SQL(unchecked: destination.key))
    return Set(
      try connection.rows("SELECT \(key) FROM \(row) WHERE \(key) IN \(keys)", as: Int64.self))
  }

  /// Returns an end of a connecting row that is not the key of any row of the destination, or nil
  /// if the row of each end exists.
  ///
  /// - Parameters:
  ///   - starts: The starts whose ends are checked, or nil for all starts.
  ///   - connection: The connection that runs the query.
  package func missingEnd(
    from starts: [Int64]? = nil, in connection: Connection
  ) throws(SQLiteError) -> Int64? {
    let (row, key) = (SQL(unchecked: destination.table), SQL(unchecked: destination.key))
    let among: SQL = if let starts { "\(startSQL) IN \(starts) AND " } else { "" }
    return try connection.firstRow(
      "SELECT \(endSQL) FROM \(tableSQL) WHERE \(among)\(endSQL) IS NOT NULL AND \(endSQL) NOT IN (SELECT \(key) FROM \(row)) LIMIT 1",
      as: Int64.self)
  }
}

// Parts of subqueries for the rows of the destination that are related to outer rows. The
// connecting rows have a name of their own, because their table may be the table of the outer rows.
// The name needs no quotes.
extension Relation {
  /// Returns SQL for the table of the connecting rows with the alias `name`.
  package func rows(as name: String) -> String { "\(table) AS \(name)" }

  /// Returns SQL for the start column of the connecting rows, whose table has the alias `name`.
  package func start(as name: String) -> String { "\(name).\(start)" }

  /// Returns an SQL condition that is true for only the first of several connecting rows with the
  /// same start and end, or nil if each row counts. `name` is the alias of their table.
  package func isFirst(as name: String) -> String? {
    distinguishingColumn.map { distinguishingColumn in
      let same = "\(name)_.\(start) = \(name).\(start) AND \(name)_.\(end) = \(name).\(end)"
      return
        "NOT EXISTS (SELECT 1 FROM \(table) AS \(name)_ WHERE \(same) AND \(name)_.\(distinguishingColumn) < \(name).\(distinguishingColumn))"
    }
  }

  /// Returns SQL for the end column of the connecting rows, whose table has the alias `name`.
  package func end(as name: String) -> String { "\(name).\(end)" }

  /// Returns SQL for the table of the destination with an alias, and the condition that joins it to
  /// the connecting rows.
  ///
  /// - Parameters:
  ///   - row: The alias for the table of the destination.
  ///   - name: The alias of the table of the connecting rows.
  package func destination(
    as row: String, of name: String
  ) -> (table: String, condition: String) {
    (
      "\(destination.table) AS \(row)",
      "\(row).\(destination.key) = \(name).\(end)"
    )
  }
}

extension Relation.Page {
  /// Whether the page contains all rows.
  package var isWhole: Bool {
    condition == nil && last == nil && limit == nil && offset <= 0
  }
}

/// A link of a to-many relation, as it is stored in a link table.
public struct StoredLink: Hashable, Sendable {
  /// The key of the row that owns the link.
  public let owner: Int64
  /// The key in a dictionary, the position in a list, or NULL in a set. Positions order the links
  /// of a list, but are not indexes, because they have gaps.
  public let place: Value
  /// The key of the row that the link references.
  public let target: Int64

  /// Creates a link from an owner to a target.
  ///
  /// - Parameters:
  ///   - owner: The key of the row that owns the link.
  ///   - place: The key in a dictionary, the position in a list, or NULL in a set.
  ///   - target: The key of the row that the link references.
  public init(owner: Int64, place: Value, target: Int64) {
    self.owner = owner
    self.place = place
    self.target = target
  }
}
