import CSQLite
import Platform

/// SQLite's own verdict on a text, determined with `sqlite3_prepare_v2`.
///
/// The oracle never executes the texts, and the database stays empty, so most texts reference
/// missing tables. SQLite parses the whole statement before it reports such an error, so its
/// grammar has accepted the text.
@safe package final class Oracle {
  /// SQLite's verdict on the first statement of a text.
  package enum Verdict: Equatable {
    /// The grammar accepts the statement, which ends at the byte `end`.
    case accepted(end: Int)
    /// The grammar or the lexer rejects the token at `offset`.
    case refused(message: String, offset: Int)
    /// The grammar accepts the statement, but it has another error.
    case semanticError(message: String, offset: Int?, end: Int)
    /// SQLite stopped at the byte `end` for a reason that doesn't concern the grammar.
    case undecided(message: String, offset: Int?, end: Int)
  }

  private let connection: OpaquePointer
  /// The number of verdicts of each kind.
  package private(set) var counts = (accepted: 0, refused: 0, semanticError: 0, undecided: 0)
  /// The text, then a line feed and a semicolon in place of its end, then a NUL.
  private var buffer: [UInt8] = []

  package struct Failure: Error {
    package let reason: String
  }

  /// Opens an in-memory database.
  ///
  /// - Parameter runsPragmas: Whether pragmas are executed, which is safe only for our own pragmas.
  package init(runsPragmas: Bool = false) throws {
    var connection: OpaquePointer?
    let code = unsafe sqlite3_open_v2(
      ":memory:", &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil
    )
    guard code == SQLITE_OK, let opened = unsafe connection else {
      unsafe sqlite3_close_v2(connection)
      throw Failure(reason: "no database in memory: \(code)")
    }
    unsafe self.connection = opened
    // Some pragmas act when they are prepared, and some of them affect the whole process.
    if runsPragmas { return }
    _ = unsafe sqlite3_set_authorizer(
      opened, { _, action, _, _, _, _ in action == SQLITE_PRAGMA ? SQLITE_IGNORE : SQLITE_OK }, nil)
    // Reserved table names aren't part of the grammar.
    _ = unsafe csqlite_db_config(opened, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nil)
    // Defines any requested collation.
    _ = unsafe sqlite3_collation_needed(opened, nil) { _, connection, _, name in
      _ = unsafe sqlite3_create_collation_v2(
        connection, name, SQLITE_UTF8, nil, { _, _, _, _, _ in 0 }, nil)
    }
  }

  deinit { unsafe sqlite3_close_v2(connection) }

  /// The 147 keywords of SQLite in uppercase. `sqlite3_keyword_name`
  package static var keywords: [String] {
    (0..<sqlite3_keyword_count()).compactMap { index in
      var name: UnsafePointer<CChar>?
      var count: CInt = 0
      guard unsafe sqlite3_keyword_name(index, &name, &count) == SQLITE_OK, let name = unsafe name
      else { return nil }
      return unsafe String(
        decoding: UnsafeRawBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    }
  }

  /// The version number of SQLite. `sqlite3_libversion_number`
  package static var version: Int { Int(sqlite3_libversion_number()) }

  /// The compile options of SQLite. `sqlite3_compileoption_get`
  package static var options: [String] {
    var options: [String] = []
    while let option = unsafe sqlite3_compileoption_get(CInt(options.count)) {
      unsafe options.append(String(cString: option))
    }
    return options
  }

  // MARK: Asking

  /// Returns the verdict on the first statement of a text.
  package func verdict(on text: some Sequence<UInt8>) -> Verdict {
    buffer.removeAll(keepingCapacity: true)
    // SQLite reads up to the first NUL.
    for byte in text {
      guard byte != 0 else { break }
      buffer.append(byte)
    }
    let count = buffer.count
    buffer.append(contentsOf: [0x0A, 0x3B, 0])
    let verdict = verdict(count: count, repairs: 3)
    switch verdict {
    case .accepted: counts.accepted += 1
    case .refused: counts.refused += 1
    case .semanticError: counts.semanticError += 1
    case .undecided: counts.undecided += 1
    }
    return verdict
  }

  /// Returns the verdict on a text.
  package func verdict(on text: String) -> Verdict { verdict(on: text.utf8) }

  private func verdict(count: Int, repairs: Int) -> Verdict {
    buffer[count] = 0
    let raw = prepare()
    buffer[count] = 0x0A
    guard let message = raw.message else { return .accepted(end: raw.tail) }
    if Self.isGrammarError(message) {
      return .refused(message: message, offset: raw.offset ?? count)
    }
    // At the end of the text, SQLite generates a semicolon without a length. With a real semicolon,
    // the tail shows whether the whole statement was read.
    let ended = prepare()
    guard let message = ended.message else { return .accepted(end: min(ended.tail, count)) }
    let tail = ended.tail
    if tail == count + 2 || isEnd(tail) {
      return .semanticError(message: message, offset: ended.offset, end: min(tail, count))
    }
    if repairs > 0,
      let repaired = repair(messageBytes, count: count, repairs: repairs - 1)
    {
      return repaired
    }
    return .undecided(message: message, offset: ended.offset, end: min(tail, count))
  }

  /// Returns whether a statement ends with the semicolon before the byte `tail`, although more text
  /// follows.
  private func isEnd(_ tail: Int) -> Bool {
    guard tail > 0, buffer[tail - 1] == 0x3B else { return false }
    // The statements in a trigger end with semicolons, too.
    let words = String(decoding: buffer[..<tail], as: UTF8.self).uppercased()
    return !words.contains("TRIGGER") || !words.contains("CREATE")
  }

  /// Compares bytes, because a combining character may form one character with the quotes around
  /// it.
  private static func isGrammarError(_ message: String) -> Bool {
    message == "incomplete input" || message.utf8.starts(with: "unrecognized token: \"".utf8)
      || (message.utf8.starts(with: "near \"".utf8)
        && message.utf8.suffix(15).elementsEqual("\": syntax error".utf8))
  }

  /// The unmodified message of the last call. `sqlite3_errmsg`
  private var messageBytes: [UInt8] {
    guard let message = unsafe sqlite3_errmsg(connection) else { return [] }
    return unsafe Array(
      UnsafeRawBufferPointer(start: message, count: strlen(message)))
  }

  private struct Answer {
    var message: String?
    var offset: Int?
    var tail: Int
  }

  private func prepare() -> Answer {
    unsafe buffer.withUnsafeBytes { bytes -> Answer in
      let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      var statement: OpaquePointer?
      var tail: UnsafePointer<CChar>?
      // Reads up to the first NUL without a copy.
      let code = unsafe sqlite3_prepare_v2(connection, start, -1, &statement, &tail)
      var answer = Answer(tail: 0)
      if let start = unsafe start, let tail = unsafe tail { answer.tail = unsafe tail - start }
      if code != SQLITE_OK {
        answer.message = unsafe String(cString: sqlite3_errmsg(connection))
        let offset = unsafe csqlite_error_offset(connection)
        if offset >= 0 { answer.offset = Int(offset) }
      }
      unsafe sqlite3_finalize(statement)
      return answer
    }
  }

  // MARK: Repairing

  /// Creates the object that SQLite reports as missing, returns the new verdict, and deletes the
  /// object again.
  ///
  /// Works on bytes because a name needn't be UTF-8.
  private func repair(_ message: [UInt8], count: Int, repairs: Int) -> Verdict? {
    func name(after prefix: String) -> ArraySlice<UInt8>? {
      message.starts(with: prefix.utf8) ? message.dropFirst(prefix.utf8.count) : nil
    }
    if let schema = name(after: "unknown database ") {
      let quoted = Self.quoted(schema)
      return with("ATTACH ':memory:' AS ", "DETACH ", quoted, "", count, repairs)
    }
    guard let table = name(after: "no such table: ") else { return nil }
    let parts = table.split(separator: 0x2E, maxSplits: 1, omittingEmptySubsequences: false)
    let quoted = Array(parts.map(Self.quoted).joined(separator: [0x2E]))
    guard let verdict = with("CREATE TABLE ", "DROP TABLE ", quoted, "(zz_)", count, repairs) else {
      return parts.count == 2
        ? repair(Array("unknown database ".utf8) + parts[0], count: count, repairs: repairs) : nil
    }
    guard case .undecided(let message, _, _) = verdict, message.hasPrefix("cannot create INSTEAD")
    else { return verdict }
    return with("CREATE VIEW ", "DROP VIEW ", quoted, " AS SELECT 1 AS zz_", count, repairs)
  }

  /// Returns the verdict with an additional object called `name`, or nil if it can't be created.
  private func with(
    _ make: String, _ unmake: String, _ name: [UInt8], _ rest: String, _ count: Int, _ repairs: Int
  ) -> Verdict? {
    guard run(Array(make.utf8) + name + Array(rest.utf8)) else { return nil }
    defer { _ = run(Array(unmake.utf8) + name) }
    return verdict(count: count, repairs: repairs)
  }

  private static func quoted(_ name: ArraySlice<UInt8>) -> [UInt8] {
    // SQLite's message contains the quotes of some names.
    if let first = name.first, Array("\"'`[".utf8).contains(first), name.count > 1 {
      return Array(name)
    }
    let parts = name.split(separator: 0x22, omittingEmptySubsequences: false)
    return [0x22] + parts.joined(separator: [0x22, 0x22]) + [0x22]
  }

  private func run(_ sql: [UInt8]) -> Bool {
    unsafe (sql + [0]).withUnsafeBytes { bytes in
      let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      return unsafe sqlite3_exec(connection, start, nil, nil, nil) == SQLITE_OK
    }
  }

  /// Runs SQL of the tests.
  @discardableResult
  package func run(_ sql: String) -> Bool {
    unsafe sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK
  }

  // MARK: What a statement does

  /// Returns the rows of a statement that only reads, or nil if it can't be prepared.
  package func rows(_ sql: String) -> [String]? {
    var statement: OpaquePointer?
    defer { unsafe sqlite3_finalize(statement) }
    guard unsafe sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK,
      let statement = unsafe statement
    else { return nil }
    var rows: [String] = []
    while unsafe sqlite3_step(statement) == SQLITE_ROW {
      var row = ""
      let count = unsafe sqlite3_column_count(statement)
      for column in 0..<count {
        row += "|"
        guard let text = unsafe sqlite3_column_text(statement, column) else { continue }
        unsafe row += String(cString: text)
      }
      rows.append(row)
    }
    return rows
  }

  /// Returns the program that SQLite compiles for a statement, or nil if it can't be prepared.
  package func program(_ sql: String) -> [String]? { rows("EXPLAIN " + sql) }

  /// Returns whether SQLite compiles two statements to the same program, or nil if it can compile
  /// neither.
  package func haveSameProgram(_ first: String, _ second: String) -> Bool? {
    var left: OpaquePointer?
    var right: OpaquePointer?
    defer {
      unsafe sqlite3_finalize(left)
      unsafe sqlite3_finalize(right)
    }
    _ = unsafe sqlite3_prepare_v2(connection, "EXPLAIN " + first, -1, &left, nil)
    _ = unsafe sqlite3_prepare_v2(connection, "EXPLAIN " + second, -1, &right, nil)
    guard let left = unsafe left, let right = unsafe right else {
      return unsafe left == nil && right == nil ? nil : false
    }
    while true {
      let code = unsafe sqlite3_step(left)
      guard unsafe code == sqlite3_step(right) else { return false }
      guard code == SQLITE_ROW else { return code == SQLITE_DONE }
      // Compares the address, the opcode, and the operands P1 to P5.
      for column in 0..<CInt(7) where unsafe !isEqual(left, right, column) { return false }
    }
  }

  private func isEqual(_ left: OpaquePointer, _ right: OpaquePointer, _ column: CInt) -> Bool {
    let first = unsafe sqlite3_column_text(left, column)
    let second = unsafe sqlite3_column_text(right, column)
    guard let first = unsafe first, let second = unsafe second else {
      return unsafe first == nil && second == nil
    }
    let count = unsafe sqlite3_column_bytes(left, column)
    return unsafe count == sqlite3_column_bytes(right, column)
      && memcmp(first, second, Int(count)) == 0
  }
}
