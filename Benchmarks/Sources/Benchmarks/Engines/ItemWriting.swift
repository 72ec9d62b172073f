import CSQLite
import GRDB
import SQLiteCore

// Writes items in one transaction, with a single statement that binds all their columns.

extension CConnection {
  func write(_ items: [Item], by sql: String) throws {
    try unsafe inTransaction(sql, items) { item, statement in
      try unsafe item.bind(to: statement, of: self)
    }
  }

  /// Runs `sql` for each value, in one transaction.
  func inTransaction<Value>(
    _ sql: String, _ values: [Value], bind: (Value, OpaquePointer) throws -> Void
  ) throws {
    try execute("BEGIN IMMEDIATE")
    let statement = try unsafe prepare(sql)
    defer { unsafe sqlite3_finalize(statement) }
    for value in values {
      try unsafe bind(value, statement)
      _ = try unsafe step(statement)
      try check(unsafe sqlite3_reset(statement))
    }
    try execute("COMMIT")
  }
}

extension SQLiteCore.Database {
  func write(_ items: [Item], by sql: String) throws {
    try write { connection in
      var statement = try connection.statement(SQLiteCore.SQL(unchecked: sql))
      for item in items {
        try item.bind(to: &statement)
        try statement.run()
      }
    }
  }
}

extension DatabaseQueue {
  func write(_ items: [Item], by sql: String) throws {
    try forEach(items) { database in
      let statement = try database.makeStatement(sql: sql)
      return { try statement.execute(arguments: $0.arguments) }
    }
  }

  /// Calls the closure that `prepare` returns with each value, in one transaction.
  func forEach<Value>(
    _ values: [Value], _ prepare: (GRDB.Database) throws -> (Value) throws -> Void
  ) throws {
    try write { database in
      let work = try prepare(database)
      for value in values { try work(value) }
    }
  }
}
