import CSQLite

/// A statement that runs on a server. Code that binds values and reads columns treats it like a
/// local statement.
///
/// Values are bound to a carrier, a statement such as `SELECT ?1, :name` of an empty in-memory
/// database. To send a request, the handle reads the values from the carrier. Each received row is
/// bound to a second carrier, such as `SELECT ?1, ?2`, from which its columns are read. The
/// handle's pointer is that of one of the two carriers.
final class RemoteStatementHandle: StatementHandle {
  private let statement: any RemoteStatement
  /// The local statement to which the parameters' values are bound until they are sent.
  private let parameters: StatementHandle
  /// The local statement from which the columns of the current row are read; nil if the statement
  /// has no columns, or hasn't run yet.
  private var row: StatementHandle?
  /// The names of the columns; empty before the first run.
  private var names = ColumnNames([])
  private let connection: ConnectionHandle
  /// The parameter number of each column of `parameters`.
  private let numbers: [Int]
  /// Whether the server has run the statement since the last reset.
  private var hasRun = false
  /// Whether the last step has returned a row.
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

  // The pointer belongs to one of the carriers, which finalize their own statements.
  deinit { unsafe pointer = nil }

  private static func carrier(
    _ sql: String, _ connection: ConnectionHandle
  ) throws(SQLiteError) -> StatementHandle {
    var pointer: OpaquePointer?
    let code = unsafe sqlite3_prepare_v3(
      connection.pointer, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
    guard code == SQLITE_OK, let pointer = unsafe pointer else {
      throw SQLiteError(
        ResultCode(rawValue: code), "the statement that holds remote values cannot be prepared",
        sql: sql)
    }
    return unsafe StatementHandle(pointer: pointer, sql: sql)
  }

  override func step() -> Int32 {
    guard !isOrphan else { return SQLITE_MISUSE }
    do throws(SQLiteError) {
      let wasAtRow = isAtRow
      isAtRow = try readRow()
      // All rows of a run use the same carrier.
      if isAtRow, wasAtRow { return SQLITE_ROW }
      unsafe pointer = unsafe isAtRow ? row?.pointer : parameters.pointer
      return isAtRow ? SQLITE_ROW : SQLITE_DONE
    } catch {
      // The caller gets the error from the connection.
      connection.remoteFailure = error
      endRun()
      return error.code.rawValue
    }
  }

  /// Advances to the next row. Runs the statement first if it hasn't run yet.
  ///
  /// - Returns: Whether there is a row.
  private func readRow() throws(SQLiteError) -> Bool {
    if !hasRun {
      try statement.run(try values())
      hasRun = true
      try prepareRow()
    }
    guard let row else { return false }
    row.reset()
    guard try statement.nextRow(into: row) else { return false }
    try RemoteStatementHandle.check(row.step(), "a row from the server cannot be read")
    return true
  }

  private func values() throws(SQLiteError) -> [Value] {
    guard !numbers.isEmpty else { return [] }
    defer { parameters.reset() }
    try RemoteStatementHandle.check(parameters.step(), "the bound values cannot be read back")
    var values = [Value](repeating: .null, count: parameterCount)
    for (index, number) in numbers.enumerated() where values.indices.contains(number - 1) {
      values[number - 1] = try parameters.value(at: Int32(index))
    }
    return values
  }

  /// Checks that stepping a local statement, which holds the values to send or a received row, has
  /// returned `SQLITE_ROW`.
  ///
  /// - Parameters:
  ///   - code: The result code of the step.
  ///   - failure: The message of the error if the step failed for any reason other than an
  ///     interruption.
  /// - Throws: ``SQLiteError`` with ``ResultCode/interrupt`` if the step was interrupted (the task
  ///   was cancelled, or the deadline has passed), and with ``ResultCode/internalError`` for any
  ///   other code.
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
