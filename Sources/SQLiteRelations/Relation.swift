public import SQLiteCore
import SQLiteMapping

/// A relation between the rows of two tables, asked from one of its ends.
///
/// It consists of rows that each lead from one key, the start, to another, the end. A reference column, a
/// link table, a cross reference of records and the reverse of each are asked alike: for the ends of one
/// start or of many, for pages of them, and for their number. All SQL about relations stands here.
package struct Relation: Hashable, Sendable {
  /// The rows at one end of a relation.
  package struct End: Hashable, Sendable {
    /// The table of the rows.
    package let table: String
    /// The column with their integer keys.
    package let key: String

    /// Names an end.
    ///
    /// - Parameters:
    ///   - table: The table of the rows.
    ///   - key: The column with their integer keys.
    package init(table: String, key: String) {
      self.table = table
      self.key = key
    }
  }

  // All names are quoted, as SQL has them.
  /// The table of the rows that lead from key to key.
  private let table: String
  /// The column with the keys that the rows lead from.
  private let start: String
  /// The column with the keys that the rows lead to.
  private let end: String
  /// The column by which the ends of one start are ordered, and told apart; nil if that is the end itself.
  private let place: String?
  /// The column that tells apart several rows that lead from one start to one end, which count as one.
  private let distinction: String?
  /// The rows that the relation leads from.
  private let origin: End
  /// The rows that the relation leads to.
  private let destination: End
  /// Whether the rows that lead are those of the destination, so that no join is needed to read these.
  package let isInDestination: Bool
  /// The tables with the rows of the destination beside the rows that lead to them. The latter come first,
  /// in the order of their index, so that SQLite need not sort.
  private let joined: String

  private init(
    table: String, start: String, end: String, place: String?, distinction: String?,
    origin: End, destination: End
  ) {
    self.table = table
    self.start = start
    self.end = end
    self.place = place
    self.distinction = distinction
    self.origin = origin
    self.destination = destination
    isInDestination = table == destination.table && end == destination.key
    let (row, key) = (destination.table, destination.key)
    joined =
      isInDestination
      ? table : "\(table) CROSS JOIN \(row) ON \(row).\(key) = \(table).\(end)"
  }

  /// The relation of a table's rows, each of which holds two keys.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - start: The column with the keys that the rows lead from.
  ///   - end: The column with the keys that the rows lead to.
  ///   - place: The column by which the ends of one start are ordered, and told apart; nil if that is the
  ///     end itself.
  ///   - origin: The rows with the keys at the start.
  ///   - destination: The rows with the keys at the end.
  /// - Throws: ``SQLiteError`` if a name cannot be quoted.
  package init(
    rowsOf table: String, _ start: String, _ end: String, place: String? = nil, from origin: End,
    to destination: End
  ) throws(SQLiteError) {
    var quotedPlace: String?
    if let place { quotedPlace = try SQL.escapeIdentifier(place) }
    self.init(
      table: try SQL.escapeIdentifier(table), start: try SQL.escapeIdentifier(start),
      end: try SQL.escapeIdentifier(end), place: quotedPlace, distinction: nil,
      origin: try origin.quoted, destination: try destination.quoted)
  }

  /// The relation of a column that holds keys of another table.
  ///
  /// - Throws: ``SQLiteError`` if a name cannot be quoted.
  package init(column: String, of owner: End, to target: End) throws(SQLiteError) {
    try self.init(rowsOf: owner.table, owner.key, column, from: owner, to: target)
  }

  /// The same rows, asked from the other end: the keys that lead to one, each of them once.
  package var reversed: Relation {
    Relation(
      table: table, start: end, end: start, place: nil, distinction: place,
      origin: destination, destination: origin)
  }
}

extension Relation.End {
  /// The same with quoted names.
  fileprivate var quoted: Self {
    get throws(SQLiteError) {
      Self(table: try SQL.escapeIdentifier(table), key: try SQL.escapeIdentifier(key))
    }
  }
}

// Parts of SQL.
extension Relation {
  /// A part of the rows that lead from one key.
  package struct Page: Sendable {
    /// A condition on the columns of the rows that lead.
    package var condition: SQL?
    /// The place or end to read on from, which costs the same wherever it is.
    package var last: Value?
    /// The most rows to read.
    package var limit: Int?
    /// The number of rows to pass over first, which are counted off.
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

  /// - Parameters:
  ///   - name: A quoted name of a column.
  ///   - row: The quoted name of its rows.
  private func column(_ name: String, of row: String) -> SQL { SQL(unchecked: "\(row).\(name)") }

  /// The aggregate that counts rows, or the different ends of them. A reference that is NULL leads nowhere.
  private var counted: SQL {
    if distinction != nil { return "count(DISTINCT \(endSQL))" }
    let isReference = table == origin.table && start == origin.key
    return isReference ? "count(\(endSQL))" : "count(*)"
  }

  private var joinedSQL: SQL { SQL(unchecked: joined) }

  private func append(_ page: Page, to sql: inout SQL, isGrouped: Bool = false) {
    if let condition = page.condition { sql.append(" AND (\(condition))") }
    if let last = page.last { sql.append(" AND \(orderSQL) > \(last)") }
    if isGrouped, distinction != nil { sql.append(" GROUP BY \(endSQL)") }
    sql.append(" ORDER BY \(orderSQL)")
    sql.append(limit: page.limit, offset: page.offset)
  }
}

// Rows of the destination, for queries that read them.
extension Relation {
  /// The part of a query behind FROM that finds the rows of the destination that a key leads to, in the
  /// order of their places or keys, each once for each place.
  ///
  /// - Parameters:
  ///   - key: The start.
  ///   - page: Which of the rows.
  package func rows(from key: Value, _ page: Page = Page()) -> SQL {
    var sql: SQL = "\(joinedSQL) WHERE \(startSQL) = \(key)"
    append(page, to: &sql, isGrouped: true)
    return sql
  }

  /// A condition on the rows of the destination that a key leads to them.
  package func leads(from key: Value) -> SQL {
    if isInDestination { return "\(startSQL) = \(key)" }
    return
      "\(column(destination.key, of: destination.table)) IN (SELECT \(endSQL) FROM \(tableSQL) WHERE \(startSQL) = \(key))"
  }

  /// The first place of a row of the destination that a key leads to, for ORDER BY.
  package func firstPlace(from key: Value) -> SQL {
    let target = column(destination.key, of: destination.table)
    return
      "(WITH magicdata_place (target, place) AS MATERIALIZED (SELECT \(endSQL), min(\(orderSQL)) FROM \(tableSQL) WHERE \(startSQL) = \(key) GROUP BY 1) SELECT place FROM magicdata_place WHERE target = \(target))"
  }

  /// As ``rows(from:_:)``, for all rows and with a parameter for the key. What is reached by several rows
  /// comes several times, one directly behind the other.
  package var rowsOfParameter: SQL { "\(joinedSQL) WHERE \(startSQL) = ? ORDER BY \(orderSQL)" }

  /// The rows that one or several keys lead to.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - order: The order of the rows of each key, with nil for that of their own keys; without one the rows of several
  ///     keys come as SQLite finds them.
  func rows(from keys: Starts, orderedBy order: SQL??) -> SQL {
    var sorting: SQL { order.map { " ORDER BY \(startSQL), \($0 ?? endSQL)" } ?? "" }
    return switch keys {
    case .one(let key):
      "\(joinedSQL) WHERE \(startSQL) = \(key) ORDER BY \((order ?? nil) ?? endSQL)"
    case .many(let keys): "\(joinedSQL) WHERE \(startSQL) IN \(keys)\(sorting)"
    case .integers(let keys): "\(joinedSQL) WHERE \(startSQL) IN \(keys)\(sorting)"
    }
  }

  /// The keys that relations start at.
  enum Starts {
    case one(Value)
    case many([Value])
    case integers([Int64])

    init(_ keys: [Value]) {
      let integers = keys.compactMap { if case .integer(let key) = $0 { key } else { nil } }
      self = integers.count == keys.count ? .integers(integers) : .many(keys)
    }
  }

  /// The columns with start and end.
  var columns: [SQL] { [startSQL, endSQL] }
}

// The ends of one key.
extension Relation {
  /// A query for the number of ends of a start, with a parameter for that.
  package var countOfParameter: SQL {
    "SELECT \(counted) FROM \(tableSQL) WHERE \(startSQL) = ?"
  }

  /// Counts the ends of a start.
  ///
  /// - Parameters:
  ///   - key: The start.
  ///   - condition: A condition on the columns of the rows that lead.
  package func count(
    from key: Value, where condition: SQL? = nil, in connection: Connection
  ) throws(SQLiteError) -> Int {
    var sql: SQL = "SELECT \(counted) FROM \(tableSQL) WHERE \(startSQL) = \(key)"
    if let condition { sql.append(" AND (\(condition))") }
    return try connection.firstRow(sql, as: Int.self) ?? 0
  }

  /// The ends of a start, in order.
  package func ends(
    from key: Int64, _ page: Page = Page(), in connection: Connection
  ) throws(SQLiteError) -> [Int64] {
    var sql: SQL = distinction != nil ? "SELECT DISTINCT " : "SELECT "
    sql.append("\(endSQL) FROM \(tableSQL) WHERE \(startSQL) = \(key)")
    append(page, to: &sql)
    return try connection.rows(sql, as: Int64.self)
  }

  /// The ends of a start with their places, in order.
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

  /// The page of the link with a key of a dictionary.
  package func page(at place: Value) -> Page { Page(where: "\(orderSQL) = \(place)") }

  /// The end of the one row that leads from a key.
  ///
  /// - Returns: Nil if there is no such row; the inner value is nil if the row leads nowhere.
  package func end(from key: Int64, in connection: Connection) throws(SQLiteError) -> Int64?? {
    try connection.firstRow(
      "SELECT \(endSQL) FROM \(tableSQL) WHERE \(startSQL) = \(key)", as: Int64?.self)
  }
}

// The ends of many keys.
extension Relation {
  /// A query for start and end, and the place if that is asked for: start by start, the ends of each in
  /// their order.
  ///
  /// - Parameters:
  ///   - keys: The starts, or nil for all.
  ///   - hasPlaces: Whether the query has a third column with the place.
  package func query(fromEach keys: [Int64]?, hasPlaces: Bool) -> SQL {
    var sql: SQL = "SELECT \(startSQL), \(endSQL)"
    if hasPlaces { sql.append(place == nil ? ", NULL" : ", \(orderSQL)") }
    sql.append(" FROM \(tableSQL)")
    if let keys { sql.append(" WHERE \(startSQL) IN \(keys)") }
    sql.append(" ORDER BY \(startSQL), \(orderSQL)")
    return sql
  }

  /// The keys among some that rows of the destination have.
  package func present(
    _ keys: [Int64], in connection: Connection
  ) throws(SQLiteError) -> Set<Int64> {
    let (row, key) = (SQL(unchecked: destination.table), SQL(unchecked: destination.key))
    return Set(
      try connection.rows("SELECT \(key) FROM \(row) WHERE \(key) IN \(keys)", as: Int64.self))
  }

  /// An end that is the key of no row of the destination, or nil if there is none.
  ///
  /// - Parameters:
  ///   - starts: The starts whose ends are looked at, or nil for all.
  ///   - connection: The connection.
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

// Parts of subqueries that lead from other rows to those of the destination. The rows that lead have a name
// of their own there, which needs no quotes, since their table may be that of the rows around them.
extension Relation {
  /// The table of the rows that lead.
  package func rows(as name: String) -> String { "\(table) AS \(name)" }

  /// The start of the rows that lead.
  package func start(as name: String) -> String { "\(name).\(start)" }

  /// A condition that holds for one of the rows that lead from one start to one end; nil if there is only one.
  package func isFirst(as name: String) -> String? {
    distinction.map { distinction in
      let same = "\(name)_.\(start) = \(name).\(start) AND \(name)_.\(end) = \(name).\(end)"
      return
        "NOT EXISTS (SELECT 1 FROM \(table) AS \(name)_ WHERE \(same) AND \(name)_.\(distinction) < \(name).\(distinction))"
    }
  }

  /// The end of the rows that lead.
  package func end(as name: String) -> String { "\(name).\(end)" }

  /// The table of the destination, and the condition that joins it to the rows that lead.
  ///
  /// - Parameters:
  ///   - row: The name for the rows of the destination.
  ///   - name: The name of the rows that lead.
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
  /// Whether the page has all rows.
  package var isWhole: Bool {
    condition == nil && last == nil && limit == nil && offset <= 0
  }
}

/// A link as it is stored.
public struct StoredLink: Hashable, Sendable {
  /// The key of the owner's row.
  public let owner: Int64
  /// The key of a dictionary, or the position in a list; NULL in a set.
  public let place: Value
  /// The key of the target's row.
  public let target: Int64

  /// Describes a link.
  ///
  /// - Parameters:
  ///   - owner: The key of the owner's row.
  ///   - place: The key of a dictionary, or the position in a list; NULL in a set.
  ///   - target: The key of the target's row.
  public init(owner: Int64, place: Value, target: Int64) {
    self.owner = owner
    self.place = place
    self.target = target
  }
}
