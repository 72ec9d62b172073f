import SQLiteCore

/// Deletes rows of one type by the primary keys of values, by one statement.
struct RecordRemover: ~Copyable {
  private let binder: RowBinder
  private let connection: Connection
  private var statement: Statement

  init(_ plan: RecordPlan, on connection: Connection) throws {
    // First what throws: what is not copyable must not be half made.
    let statement = try connection.statement(SQL(unchecked: plan.deleteByKey))
    self.connection = connection
    binder = plan.keyBinder(of: statement)
    self.statement = statement
  }

  /// Deletes the row with the primary key of a value, and says whether there was one.
  mutating func remove(_ value: some Record) throws -> Bool {
    try binder.bind(value)
    while try statement.step() {}
    return connection.numberOfRowsModified > 0
  }
}
