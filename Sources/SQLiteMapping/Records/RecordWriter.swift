import SQLiteCore

/// Writes values of one type by one statement.
struct RecordWriter: ~Copyable {
  private let plan: RecordPlan
  private let keyParameter: Int32
  private let encoder: RowEncoder
  private var statement: Statement

  init(_ write: RecordWrite, _ plan: RecordPlan, on connection: Connection) throws {
    self.plan = plan
    keyParameter = plan.keyParameter
    statement = try connection.statement(SQL(unchecked: plan.text(of: write)))
    encoder = plan.encoder(of: write, statement)
  }

  /// Binds a value, with a new key if it has none, and says whether it had one.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if it has none, and none can be made.
  mutating func bind(_ value: some Record) throws -> Bool {
    try encoder.bind(value)
    if encoder.isBound(keyParameter) { return true }
    guard plan.makesKey else {
      throw SQLiteError(
        .misuse, "this \(plan.type) has no value for its primary key “\(plan.keys[0])”",
        sql: statement.sql)
    }
    // The other kinds of keys are made by the SQL.
    if plan.type.primaryKeyType == .uuid {
      try statement.bind(plan.newUUID(), at: Int(keyParameter))
    }
    return false
  }

  /// Writes the value that is bound.
  mutating func run() throws(SQLiteError) {
    while try statement.step() {}
  }

  /// Writes the value that is bound and reads the row that came of it.
  mutating func runReturning<Result: Record>(_ type: Result.Type) throws -> Result {
    guard try statement.step() else {
      throw SQLiteError(.notFound, "a trigger kept the row from being written", sql: statement.sql)
    }
    let result = try plan.decoder(of: statement).row(as: type)
    while try statement.step() {}
    return result
  }
}
