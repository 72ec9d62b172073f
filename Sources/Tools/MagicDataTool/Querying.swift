import Essentials
import MagicData
import SQLiteMapping
import SQLSyntax
import Terminal

extension Command {
  static let query = Command(
    name: "query", summary: "run an SQL statement",
    usage: "[OPTIONS] PATH [SQL] [--NAME VALUE] …",
    explanation: """
      Runs one statement. Without SQL, or with -, reads it from standard input. A table on a terminal
      truncates long cells; CSV and JSON contain complete values.

      --NAME VALUE        bind VALUE to the parameter :NAME, @NAME or $NAME: as a number if it is spelled
                          as SQLite prints one, otherwise as text. Write --:NAME if --NAME is an option
      --format FORMAT     table, csv or json
      --extension PATH    load an SQLite extension, such as vec0.so. Its code runs with your permissions
      --write             allow the statement to write, in a transaction that is rolled back if it
                          fails; print the number of changed rows, in a pipe on standard error
      --migrated-to NAME  fail unless NAME is the last applied migration
      --wait SECONDS      how long to wait for the locks of other programs (5 by default)

      magicdata query store "SELECT * FROM City WHERE population > :least" --least 1000000
      """,
    flags: ["--write"], options: ["--extension", "--format", "--migrated-to", "--wait"],
    operands: 1...2,
    takesParameters: true, run: query)

  private static func query(_ session: inout Session) throws -> ExitStatus {
    let location = try DatabaseLocation(session.arguments.operands[0])
    let argument = session.arguments.operands.count > 1 ? session.arguments.operands[1] : "-"
    let sql = argument == "-" ? try standardInput() : argument
    guard session.arguments.flags.contains("--write") else {
      let database = try location.openForReading(session)
      _ = try database.read { try run(sql, $0, session) }
      return .done
    }
    let opened = try location.openForWriting(session)
    let changed = try opened.database.write { try run(sql, $0, session) }
    try opened.database.close()
    let words = changed == 1 ? "1 row changed" : "\(changed) rows changed"
    if session.output.isTerminal {
      try session.output.write(words + "\n")
    } else {
      // The output contains only rows, so that another program can read it.
      try session.note(words)
    }
    return .done
  }

  /// Runs a statement and writes its rows to the output.
  ///
  /// - Returns: The number of rows that the statement changed.
  private static func run(
    _ sql: String, _ connection: Connection, _ session: Session
  ) throws -> Int {
    let arguments = session.arguments.parameters.mapValues { value(of: $0) as (any Bindable)? }
    let sql = SQL(unchecked: sql)
    if !session.arguments.flags.contains("--write") {
      try requireReadOnly(sql, arguments, connection)
    }
    var statement = try connection.statement(sql, withArgs: arguments)
    let count = statement.columnCount
    // `numberOfRowsModified` keeps its previous value after a statement that changes no rows.
    let before = connection.totalChanges
    func changed() -> Int {
      connection.totalChanges == before ? 0 : connection.numberOfRowsModified
    }
    guard count > 0 else {
      while try statement.step() { try session.interruption.check() }
      return changed()
    }
    var writer = try session.results(statement.columnNames)
    while try statement.step() {
      try session.interruption.check()
      var values: [Value] = []
      for column in 0..<count {
        do {
          values.append(try statement.value(at: column))
        } catch {
          // Text that isn't valid UTF-8 is shown as a blob.
          values.append(.blob(statement.blob(at: column)))
        }
      }
      try writer.add(values)
    }
    try writer.finish()
    return changed()
  }

  /// Throws `ToolError` if the statement writes to the database.
  private static func requireReadOnly(
    _ sql: SQL, _ arguments: [String: (any Bindable)?], _ connection: Connection
  ) throws {
    do {
      if try isReadOnly(sql, arguments, connection) { return }
    } catch {
      // A statement that fires a full-text search trigger doesn't compile on a read-only
      // connection.
      _ = try connection.trustSearch()
      guard (try? isReadOnly(sql, arguments, connection)) == false else { throw error }
    }
    throw ToolError.usage("the statement writes to the database; add --write")
  }

  private static func isReadOnly(
    _ sql: SQL, _ arguments: [String: (any Bindable)?], _ connection: Connection
  ) throws -> Bool {
    try connection.statement(sql, withArgs: arguments).isReadOnly
  }

  /// Returns the value of an SQL parameter: an INTEGER or a REAL if `word` is exactly the text that
  /// Swift prints for that number, otherwise a TEXT.
  private static func value(of word: String) -> any Bindable {
    if let integer = Int64(word), "\(integer)" == word { return integer }
    if let real = Double(word), real.isFinite, "\(real)" == word { return real }
    return word
  }

  private static func standardInput() throws -> String {
    var bytes: [UInt8] = []
    while let line = readLine(strippingNewline: false) { bytes += line.utf8 }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw ToolError.failed("the SQL is not valid UTF-8")
    }
    return text
  }

  static let schema = Command(
    name: "schema", summary: "print the schema as SQL, or the changes between two schemas",
    usage: "PATH [OTHER]",
    explanation: """
      Prints the statements that create the tables, indexes, views and triggers. With OTHER, prints the
      changes from the schema of PATH to that of OTHER: a comment for each change and, if SQLite has one, the
      statement. A renamed table is shown as a dropped table and a new one.

      The status is 3 if the schemas differ.
      """,
    operands: 1...2, run: schema)

  private static func schema(_ session: inout Session) throws -> ExitStatus {
    let objects = try session.arguments.operands.map { path in
      try DatabaseLocation(path).openForReading(session).rows(
        """
        SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL
        ORDER BY CASE type WHEN 'table' THEN 1 WHEN 'index' THEN 2 WHEN 'view' THEN 3 ELSE 4 END, rowid
        """, as: String.self, String.self)
    }
    guard objects.count == 2 else {
      for (_, sql) in objects[0] { try session.writeSQL(sql) }
      return .done
    }
    let schemas = objects.map { SQLSchema($0) }
    for schema in schemas {
      for unread in schema.unread {
        try session.note("\(unread.name) is ignored: its SQL cannot be parsed")
      }
    }
    let changes = schemas[0].changes(to: schemas[1])
    for change in changes {
      try session.output.write("-- \(change.description.visible)\n")
      if let statement = change.statement { try session.writeSQL("\(statement)") }
    }
    return changes.isEmpty ? .done : .found
  }
}

extension Session {
  /// Writes a statement. On a terminal, escapes its control characters except line feeds.
  fileprivate func writeSQL(_ sql: String) throws {
    let text =
      output.isTerminal
      ? sql.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).visible }
        .joined(separator: "\n") : sql
    try output.write(text + ";\n")
  }
}
