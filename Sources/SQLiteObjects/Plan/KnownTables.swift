import SQLiteCore
import SQLiteMapping
import SQLiteRelations
import Synchronization

/// The tables and columns that a store has seen in its database, so that it need not look again.
///
/// Only what was seen committed is remembered, and only what is as it shall be: tables and columns
/// come while programs run, and do not go.
package final class KnownTables: Sendable {
  private let complete = Mutex<[String: Set<String>]>([:])

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

  private func remember(_ table: String, _ columns: Set<String>, _ connection: Connection) {
    // Without a transaction of ours nobody would tell whether what was seen has lasted.
    guard connection.ownsTransaction else { return }
    connection.afterCommit { [self] _ in complete.withLock { $0[table] = columns } }
  }
}
