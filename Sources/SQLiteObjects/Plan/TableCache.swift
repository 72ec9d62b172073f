import SQLiteCore
import SQLiteMapping
import SQLiteRelations
import Synchronization

/// The tables and columns that a store has seen in its database, so that it doesn't look them up
/// again.
///
/// The cache contains only tables that were complete and committed. If a statement fails because a
/// table or a column is missing, the store clears the cache, because another connection may have
/// migrated the database.
package final class TableCache: Sendable {
  /// The types with complete tables.
  private let ready = Mutex(Ready())
  /// The names of the tables that have all columns of their types.
  private let complete = Mutex<Set<String>>([])

  /// Creates a cache that contains the tables of `other`, the cache of a database with the same
  /// tables, or that is empty.
  init(_ other: TableCache? = nil) {
    guard let other else { return }
    let (ready, complete) = (other.ready.withLock { $0 }, other.complete.withLock { $0 })
    self.ready.withLock { $0 = ready }
    self.complete.withLock { $0 = complete }
  }

  /// Clears the cache, so that all tables are looked up again.
  func forget() {
    ready.withLock { $0 = Ready() }
    complete.withLock { $0 = [] }
  }

  /// Returns whether the tables of a type are known to be complete.
  func isReady(_ plan: ObjectPlan) -> Bool {
    // Compares types, not plans: an object may carry the plan of another store.
    ready.withLock { $0.contains(plan.id) }
  }

  /// Records that the tables of types are complete.
  func markReady(_ plans: [ObjectPlan]) {
    ready.withLock { $0.types.formUnion(plans.map(\.id)) }
  }

  /// Returns which columns of a type exist in its table, or nil if the table doesn't exist yet.
  func columns(of plan: ObjectPlan, _ connection: Connection) throws -> PresentColumns? {
    if isComplete(plan.table) { return .all }
    let columns = try connection.columnNames(of: plan.table)
    guard !columns.isEmpty else { return nil }
    let isComplete = plan.columns.allSatisfy { slot in
      columns.contains(asciiLowercased(plan.properties[slot].name))
    }
    if isComplete { remember(plan.table, connection) }
    return isComplete ? .all : .some(columns)
  }

  /// Returns whether a link table exists in the database.
  func has(_ table: LinkTable, _ connection: Connection) throws -> Bool {
    if isComplete(table.name) { return true }
    guard try !connection.columnNames(of: table.name).isEmpty else { return false }
    remember(table.name, connection)
    return true
  }

  private func isComplete(_ table: String) -> Bool { complete.withLock { $0.contains(table) } }

  private func remember(_ table: String, _ connection: Connection) {
    // In a transaction that SQL has begun, it is unknown whether the table is committed.
    guard connection.ownsTransaction else { return }
    connection.afterCommit { [self] _ in _ = complete.withLock { $0.insert(table) } }
  }
}

/// The types with complete tables. The last one is cached: most lookups are for the same type, and
/// comparing it is cheaper than hashing (benchmark `point`).
private struct Ready {
  var types: Set<ObjectIdentifier> = []
  private var last: ObjectIdentifier?

  mutating func contains(_ type: ObjectIdentifier) -> Bool {
    if last == type { return true }
    guard types.contains(type) else { return false }
    last = type
    return true
  }
}

/// The columns of a type that exist in its table.
enum PresentColumns {
  case all
  /// The table has only the columns with these names, in ASCII lower case.
  case some(Set<String>)

  var isAll: Bool {
    if case .all = self { true } else { false }
  }

  func contains(_ name: String) -> Bool {
    switch self {
    case .all: true
    case .some(let names): names.contains(asciiLowercased(name))
    }
  }
}
