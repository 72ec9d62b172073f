import CSQLite

/// A statement that a server runs. To all that binds values and reads columns it looks like one of SQLite's.
///
/// Values are bound to a statement of an empty database in memory, `SELECT ?1, :name`, and read from it when
/// the request is written. Each row that comes is bound to another, `SELECT ?1 AS "id", ?2 AS "name"`, whose
/// columns are read. The handle's pointer is that of one of these two carriers.
final class RemoteStatementHandle: StatementHandle {
  private let statement: any RemoteStatement
  /// Takes the values of the parameters.
  private let parameters: StatementHandle
  /// Has the present row.
  private var row: StatementHandle?
  /// The names of the columns, empty before the first run.
  private var names = ColumnNames([])
  private let connection: ConnectionHandle
  /// The number of the parameter that each placeholder stands for.
  private let numbers: [Int]
  /// Whether the server has run the statement since the last reset.
  private var hasRun = false
  /// Whether the last step has given a row.
  private var isAtRow = false

  init(
    _ statement: any RemoteStatement, sql: String, on connection: ConnectionHandle
  ) throws(SQLiteError) {
    self.statement = statement
    self.connection = connection
    let placeholders = statement.placeholders
    let parameters = try RemoteStatementHandle.carrier(
      "SELECT \(placeholders.isEmpty ? "NULL" : placeholders.joined(separator: ", "))", connection)
    self.parameters = parameters
    var numbers: [Int] = []
    var highest = 0
    for placeholder in placeholders {
      let number =
        placeholder == "?"
        ? highest + 1
        : Int(placeholder.dropFirst()) ?? parameters.parameterIndex(placeholder) ?? 0
      highest = max(highest, number)
      numbers.append(number)
    }
    self.numbers = numbers
    unsafe super.init(
      parameters.pointer, sql: sql, parameterCount: statement.parameterCount,
      isReadOnly: statement.isReadOnly)
  }

  // The carriers finalize their own statements.
  deinit { unsafe pointer = nil }

  private static func carrier(
    _ sql: String, _ connection: ConnectionHandle
  ) throws(SQLiteError) -> StatementHandle {
    var pointer: OpaquePointer?
    let code = unsafe sqlite3_prepare_v3(
      connection.pointer, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
    guard code == SQLITE_OK, let pointer = unsafe pointer else {
      throw SQLiteError(ResultCode(rawValue: code), "a carrier of values cannot be made", sql: sql)
    }
    return unsafe StatementHandle(pointer: pointer, sql: sql)
  }

  override func step() -> Int32 {
    guard !isOrphan else { return SQLITE_MISUSE }
    do throws(SQLiteError) {
      let wasAtRow = isAtRow
      isAtRow = try readRow()
      // Every row of a run is in the same carrier.
      if isAtRow, wasAtRow { return SQLITE_ROW }
      unsafe pointer = unsafe isAtRow ? row?.pointer : parameters.pointer
      return isAtRow ? SQLITE_ROW : SQLITE_DONE
    } catch {
      // Kept for the one who asks the connection for it.
      connection.remoteFailure = error
      endRun()
      return error.code.rawValue
    }
  }

  /// Goes to the next row, running the statement if it has not run.
  ///
  /// - Returns: Whether there is one.
  private func readRow() throws(SQLiteError) -> Bool {
    if !hasRun {
      try statement.run(try values())
      hasRun = true
      try prepareRow()
    }
    guard let row else { return false }
    row.reset()
    guard try statement.nextRow(into: row) else { return false }
    try RemoteStatementHandle.check(row.step(), "a row from a server cannot be read")
    return true
  }

  private func values() throws(SQLiteError) -> [Value] {
    guard !numbers.isEmpty else { return [] }
    defer { parameters.reset() }
    try RemoteStatementHandle.check(parameters.step(), "values cannot be read again")
    var values = [Value](repeating: .null, count: parameterCount)
    for (index, number) in numbers.enumerated() where values.indices.contains(number - 1) {
      values[number - 1] = try parameters.value(at: Int32(index))
    }
    return values
  }

  /// A carrier gives its row, unless the task is cancelled or the deadline has passed meanwhile.
  private static func check(_ code: Int32, _ failure: String) throws(SQLiteError) {
    guard code != SQLITE_ROW else { return }
    throw code == SQLITE_INTERRUPT
      ? SQLiteError(.interrupt, "interrupted") : SQLiteError(.internalError, failure)
  }

  private func prepareRow() throws(SQLiteError) {
    let present = statement.columnNames
    guard present != names.names else { return }
    row = nil
    names = ColumnNames(present)
    guard !present.isEmpty else { return }
    let list = present.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    row = try RemoteStatementHandle.carrier("SELECT \(list)", connection)
  }

  override func reset() -> Int32 {
    isRunning = false
    if !isOrphan { endRun() }
    return SQLITE_OK
  }

  private func endRun() {
    if hasRun { statement.end() }
    hasRun = false
    isAtRow = false
    row?.reset()
    unsafe pointer = unsafe parameters.pointer
  }

  override func finalize() {
    endRun()
    statement.close()
    parameters.finalize()
    row?.finalize()
    unsafe pointer = nil
    isRunning = false
  }

  override var expandedSQL: String { sql }

  override var columnCount: Int { names.count }

  override var columnNames: ColumnNames { names }

  override func bind(list: [Value], at parameter: Int32) throws(SQLiteError) {
    try bind(.blob(try statement.bytes(of: list)), at: parameter)
  }
}
