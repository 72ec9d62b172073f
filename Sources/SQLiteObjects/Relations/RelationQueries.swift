import SQLiteCore
import SQLiteRelations

/// A relation of a type, and the SQL by which it is asked from both ends, made once.
final class RelationQueries: Sendable {
  /// The type with the relation.
  let plan: ObjectPlan
  /// The relation.
  let slot: Int
  /// Its links, unless it leads to one object.
  let table: LinkTable?
  /// Counts what one object leads to.
  private let targetCount: SQL
  /// Counts what leads to one object.
  private let ownerCount: SQL
  /// Reads what leads to one object.
  private let owners: SQL

  init(_ plan: ObjectPlan, _ slot: Int, _ store: MagicData) throws {
    self.plan = plan
    self.slot = slot
    table = try plan.linkTable(slot, store.plan)
    let key = SQL(unchecked: plan.qualifiedKey)
    let source: SQL
    if let table {
      let links: SQL = "\(identifier: table.name)"
      targetCount = "SELECT count(*) FROM \(links) WHERE owner = ?"
      // A set has each owner of a target once.
      let distinct: SQL = table.arrangement == .set ? "owner" : "DISTINCT owner"
      ownerCount = "SELECT count(\(distinct)) FROM \(links) WHERE target = ?"
      // The index of the links leads, in the order that is asked for; no list has to be made.
      source =
        "\(links) CROSS JOIN \(identifier: plan.table) ON \(key) = \(links).owner WHERE \(links).target = ? ORDER BY \(links).owner"
    } else {
      let column = SQL(unchecked: plan.qualifiedColumns[slot])
      targetCount =
        "SELECT count(\(column)) FROM \(identifier: plan.table) WHERE \(key) = ?"
      ownerCount =
        "SELECT count(*) FROM \(identifier: plan.table) WHERE \(column) = ?"
      source = "\(identifier: plan.table) WHERE \(column) = ? ORDER BY \(key)"
    }
    let columns = plan.columns.map { SQL(unchecked: plan.qualifiedColumns[$0]) }
    let list = SQL(joining: [key] + columns, separator: ", ")
    owners = "SELECT \(list) FROM \(source)"
  }

  /// Counts what an object leads to.
  func targetCount(of owner: Int64, _ connection: Connection) throws -> Int {
    try count(targetCount, owner, connection)
  }

  /// Counts what leads to an object.
  func ownerCount(of target: Int64, _ connection: Connection) throws -> Int {
    try count(ownerCount, target, connection)
  }

  /// Lends the rows of what leads to an object, each once, in the order of the z_index: the key, and
  /// the columns.
  func forEachOwner(
    of target: Int64, _ connection: Connection, _ body: (borrowing Statement) throws -> Void
  ) throws {
    var statement = try connection.statement(owners)
    try statement.bind(target, at: 1)
    var last: Int64?
    while try statement.step() {
      // What leads there several times comes several times, one behind the other.
      let key = statement.integer(at: 0)
      if key != last { try body(statement) }
      last = key
    }
  }

  private func count(_ sql: SQL, _ key: Int64, _ connection: Connection) throws -> Int {
    var statement = try connection.statement(sql)
    try statement.bind(key, at: 1)
    return try statement.step() ? Int(statement.integer(at: 0)) : 0
  }
}
