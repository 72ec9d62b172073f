import SQLiteCore
import SQLiteMapping
import SQLiteRelations
import Synchronization

/// The tables and columns that a store has seen in its database, so that it need not look again.
///
/// Only tables that were seen committed are remembered, and only those that lack nothing. If a statement fails on
/// a table or a column that is gone, the store forgets them all: others may have migrated the database.
package final class TableCache: Sendable {
  /// The types whose tables lack nothing.
  private let ready = Mutex(Ready())
  /// The tables that were seen with all columns.
  private let complete = Mutex<Set<String>>([])

  /// Looks at all tables again before they are used next.
  func forget() {
    ready.withLock { $0 = Ready() }
    complete.withLock { $0 = [] }
  }

  /// Returns whether the tables of a type are known to lack nothing.
  func isReady(_ plan: ObjectPlan) -> Bool {
    // By the type: an object may bring the plan of another store with it.
    ready.withLock { $0.contains(plan.id) }
  }

  /// Notes that the tables of types lack nothing.
  func markReady(_ plans: [ObjectPlan]) {
    ready.withLock { $0.types.formUnion(plans.map(\.id)) }
  }

  /// The columns of a type's table, or nil if there is no table yet.
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

  /// Returns whether there is a link table.
  func has(_ table: LinkTable, _ connection: Connection) throws -> Bool {
    if isComplete(table.name) { return true }
    guard try !connection.columnNames(of: table.name).isEmpty else { return false }
    remember(table.name, connection)
    return true
  }

  private func isComplete(_ table: String) -> Bool { complete.withLock { $0.contains(table) } }

  private func remember(_ table: String, _ connection: Connection) {
    // Without a transaction of ours it is not known whether the table is committed.
    guard connection.ownsTransaction else { return }
    connection.afterCommit { [self] _ in _ = complete.withLock { $0.insert(table) } }
  }
}

/// Types whose tables lack nothing. Most questions are for the same type, which is spared hashing (benchmark
/// `point`).
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

/// The columns of a type that its table has.
enum PresentColumns {
  case all
  /// Those with some names, in ASCII lower case.
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
