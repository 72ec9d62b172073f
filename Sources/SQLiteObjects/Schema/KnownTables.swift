import SQLiteCore
import SQLiteMapping
import SQLiteRelations
import Synchronization

/// What a store has learned of its database and of reverse values, so that it need not look again.
///
/// Only what was seen committed is remembered, and only what is as it shall be: tables and columns
/// come while programs run, and do not go.
final class KnownTables: Sendable {
  private let complete = Mutex<[String: Set<String>]>([:])
  /// The relations that were asked for, by their properties.
  private let relations = Mutex<[PropertyKey: RelationQueries]>([:])
  /// The relations that reverse values name, by the reverse values.
  private let reverses = Mutex<[PropertyKey: RelationQueries]>([:])

  /// Looks at all tables again.
  func forget() {
    complete.withLock { $0 = [:] }
  }

  /// The columns of a type's table in ASCII lower case, or nil if there is no table yet.
  func columns(of plan: ObjectPlan, _ connection: Connection) throws -> Set<String>? {
    if let known = complete.withLock({ $0[plan.table] }) { return known }
    let columns = try connection.columnNames(of: plan.table)
    guard !columns.isEmpty else { return nil }
    let isComplete = plan.columns.allSatisfy { slot in
      columns.contains(asciiLowercased(plan.properties[slot].name))
    }
    if isComplete { remember(plan.table, columns, connection) }
    return columns
  }

  /// Says whether there is a link table.
  func has(_ table: LinkTable, _ connection: Connection) throws -> Bool {
    if complete.withLock({ $0[table.name] }) != nil { return true }
    let columns = try connection.columnNames(of: table.name)
    guard !columns.isEmpty else { return false }
    remember(table.name, columns, connection)
    return true
  }

  /// A relation, looked at once.
  func relation(
    _ plan: ObjectPlan, _ slot: Int, _ store: MagicData
  ) throws -> RelationQueries {
    let key = PropertyKey(type: ObjectIdentifier(plan.type), slot: slot)
    if let known = relations.withLock({ $0[key] }) { return known }
    let relation = try RelationQueries(plan, slot, store)
    relations.withLock { $0[key] = relation }
    return relation
  }

  /// The relation that a reverse value names, found out once.
  func reverse(
    _ key: PropertyKey, _ find: () throws -> RelationQueries
  ) rethrows -> RelationQueries {
    if let known = reverses.withLock({ $0[key] }) { return known }
    let relation = try find()
    reverses.withLock { $0[key] = relation }
    return relation
  }

  private func remember(_ table: String, _ columns: Set<String>, _ connection: Connection) {
    // Without a transaction of ours nobody would tell whether what was seen has lasted.
    guard connection.ownsTransaction else { return }
    connection.afterCommit { [self] _ in complete.withLock { $0[table] = columns } }
  }
}
