import CSQLite

/// How a statement that a server runs looks like one of SQLite's to all that binds values and reads columns.
///
/// Values are bound to a statement of an empty database in memory, `SELECT ?1, :name`, and read from it when
/// the request is written. Each row that comes is bound to another, `SELECT ?1 AS "id", ?2 AS "name"`, whose
/// columns are read. So no reader and no binder knows of servers, and a local statement pays for one
/// comparison at each step.
final class RemoteRun {
  let statement: any RemoteStatement
  /// Takes the values of the parameters.
  let parameters: StatementHandle
  /// Has the present row.
  private(set) var row: StatementHandle?
  /// The names of the columns, empty before the first run.
  private(set) var columns = ColumnNames([])
  private let connection: ConnectionHandle
  /// The number of the parameter that each placeholder stands for.
  private let numbers: [Int]
  private var isRunning = false
  /// Whether the last step has given a row.
  private(set) var isAtRow = false

  init(_ statement: any RemoteStatement, on connection: ConnectionHandle) throws(SQLiteError) {
    self.statement = statement
    self.connection = connection
    let placeholders = statement.placeholders
    parameters = try RemoteRun.carrier(
      "SELECT \(placeholders.isEmpty ? "NULL" : placeholders.joined(separator: ", "))", connection)
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
  }

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

  /// Goes to the next row, beginning the run if it has not begun.
  ///
  /// - Returns: Whether there is one.
  func step() throws(SQLiteError) -> Bool {
    if !isRunning {
      try statement.run(try values())
      isRunning = true
      try prepareRow()
    }
    isAtRow = false
    guard let row else { return false }
    row.reset()
    guard try statement.nextRow(into: row) else { return false }
    try RemoteRun.check(row.step(), "a row from a server cannot be read")
    isAtRow = true
    return true
  }

  private func values() throws(SQLiteError) -> [Value] {
    guard !numbers.isEmpty else { return [] }
    defer { parameters.reset() }
    try RemoteRun.check(parameters.step(), "values cannot be read again")
    var values = [Value](repeating: .null, count: statement.parameterCount)
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
    let names = statement.columnNames
    guard names != columns.names else { return }
    row = nil
    columns = ColumnNames(names)
    guard !names.isEmpty else { return }
    let list = names.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    row = try RemoteRun.carrier("SELECT \(list)", connection)
  }

  /// Ends the run.
  func end() {
    if isRunning { statement.end() }
    isRunning = false
    isAtRow = false
    row?.reset()
  }

  /// Lets go of what the server keeps.
  func close() {
    end()
    statement.close()
    parameters.finalize()
    row?.finalize()
  }

  /// Keeps an error for the one who asks the connection for it.
  func note(_ error: SQLiteError) { connection.remoteFailure = error }
}

extension StatementHandle {
  /// ``step()`` of a statement that a server runs.
  @inline(never) func stepRemotely() -> Int32 {
    guard let remote, !isOrphan else { return SQLITE_MISUSE }
    do throws(SQLiteError) {
      let wasAtRow = remote.isAtRow
      let isRow = try remote.step()
      // Every row of a run is in the same carrier.
      if isRow, wasAtRow { return SQLITE_ROW }
      unsafe pointer = unsafe isRow ? remote.row?.pointer : remote.parameters.pointer
      return isRow ? SQLITE_ROW : SQLITE_DONE
    } catch {
      remote.note(error)
      endRemoteRun()
      return error.code.rawValue
    }
  }

  /// Ends the run of a statement that a server runs.
  @inline(never) func endRemoteRun() {
    guard let remote, !isOrphan else { return }
    remote.end()
    unsafe pointer = unsafe remote.parameters.pointer
  }
}
