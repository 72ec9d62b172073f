import Platform

/// An error that SQLite reported or that the library detected.
///
/// Errors that the library detects have codes of SQLite, too: for example ``ResultCode/misuse`` for
/// a call that isn't allowed, ``ResultCode/range`` for a wrong index or count,
/// ``ResultCode/mismatch`` for a value of the wrong type, and ``ResultCode/interrupt`` after a
/// deadline. The ``description`` doesn't contain the values that were bound to the statement.
public struct SQLiteError: Error, Hashable, Sendable {
  // A single reference, which throwing functions pass on in a register. Storing the parts directly
  // made each `try` copy seven words, which was a tenth of this module's machine code.
  private let content: Content

  private final class Content: Sendable {
    let code: ResultCode
    let message: String
    let sql: String?
    let offset: Int?

    init(_ code: ResultCode, _ message: String, sql: String?, offset: Int?) {
      self.code = code
      self.message = message
      self.sql = sql
      self.offset = offset
    }
  }

  /// Creates an error with a code and a message.
  ///
  /// - Parameters:
  ///   - code: The result code.
  ///   - message: The English description of the error, or nil to use ``ResultCode/message``.
  ///   - sql: The SQL that caused the error, or nil.
  ///   - offset: The position of the error in `sql`, in bytes of UTF-8, or nil.
  @inline(never)
  public init(_ code: ResultCode, _ message: String? = nil, sql: String? = nil, offset: Int? = nil)
  {
    content = Content(code, message ?? code.message, sql: sql, offset: offset)
  }

  /// The result code. It is the extended one, such as ``ResultCode/uniqueConstraint``, if SQLite
  /// reported one.
  public var code: ResultCode { content.code }

  /// The description of the error in English, from SQLite or from this library.
  public var message: String { content.message }

  /// The SQL that caused the error, or nil if no statement caused it.
  public var sql: String? { content.sql }

  /// The position of the error in ``sql``, in bytes of UTF-8 from its beginning, or nil if it isn't
  /// known.
  public var offset: Int? { content.offset }

  /// Returns whether two errors have the same code, message, SQL and offset.
  ///
  /// - Parameters:
  ///   - left: An error.
  ///   - right: The error to compare with `left`.
  public static func == (left: SQLiteError, right: SQLiteError) -> Bool {
    left.code == right.code && left.message == right.message && left.sql == right.sql
      && left.offset == right.offset
  }

  /// Feeds the code, message, SQL and offset to `hasher`.
  ///
  /// - Parameter hasher: The hasher that combines the parts of the error.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(code)
    hasher.combine(message)
    hasher.combine(sql)
    hasher.combine(offset)
  }
}

extension SQLiteError: CustomStringConvertible {
  /// The code, the message and the SQL, with an arrow at the position of the error if it is known.
  public var description: String {
    var text = "SQLite error \(code.rawValue): \(message)"
    guard let sql else { return text }
    text += " in: "
    guard let offset, offset >= 0, offset <= sql.utf8.count else { return text + sql }
    let mistake = sql.utf8.index(sql.utf8.startIndex, offsetBy: offset)
    return text + sql[..<mistake] + " ⟶ " + sql[mistake...]
  }
}

extension SQLiteError {
  /// The table and the columns of a failed constraint, or nil if the message doesn't name them.
  ///
  /// For the message `UNIQUE constraint failed: city.name, city.country`, the value is `("city",
  /// ["name", "country"])`. It is nil for CHECK and foreign key constraints, and for errors that
  /// aren't about a constraint.
  public var constraint: (table: String, columns: [String])? {
    // The message of a CHECK constraint contains its expression, which may contain dots.
    let telling: [ResultCode] = [
      .uniqueConstraint, .primaryKeyConstraint, .notNullConstraint, .rowIDConstraint,
    ]
    guard telling.contains(code), let words = message.firstRange(of: "constraint failed: ")
    else { return nil }
    let names = message[words.upperBound...].split(separator: ",").map { $0.drop { $0 == " " } }
    var table: Substring?
    var columns: [String] = []
    for name in names {
      guard let dot = name.firstIndex(of: ".") else { return nil }
      table = table ?? name[..<dot]
      columns.append(String(name[name.index(after: dot)...]))
    }
    return table.map { (String($0), columns) }
  }

  /// Whether a statement failed because it references a table or column that doesn't exist. This is
  /// determined from the message, because SQLite has no specific code for this error.
  package var isMissingTableOrColumn: Bool {
    code == .error
      && ["no such table", "no such column", "has no column named"].contains(
        where: message.contains)
  }

  /// Whether a statement failed because it references a table that doesn't exist.
  package var isMissingTable: Bool { code == .error && message.contains("no such table") }

  /// Returns the error that the open transaction and savepoints throw at their end, after SQLite
  /// has rolled back the whole transaction because of this error.
  @inline(never)
  func asEndOfTransaction(_ sql: String? = nil) -> SQLiteError {
    SQLiteError(
      .abortRollback, "SQLite has rolled back the whole transaction: \(message)",
      sql: sql ?? self.sql)
  }

  @inline(never)
  package func with(sql: String) -> SQLiteError {
    SQLiteError(code, message, sql: self.sql ?? sql, offset: offset)
  }
}

// The errors of accesses that are interrupted or rejected.
extension SQLiteError {
  static let deadlineMessage = "the deadline has passed"
  static let suspensionMessage = "the database is being suspended"
  /// A suffix of the message for an access that was waiting for another connection's lock.
  static let whileLocked = " while waiting for a lock"

  /// The error that recording the values of changed rows throws if SQLite was built without the
  /// preupdate hook.
  package static let noPreupdateHook = SQLiteError(
    .misuse,
    "this libsqlite3 does not report the values of changed rows: it was compiled without "
      + "SQLITE_ENABLE_PREUPDATE_HOOK")

  /// The error of accesses to a suspended database.
  package static let suspended = SQLiteError(
    .abort, "the database is suspended; call resume() first")
  /// The error of a read during which the content was replaced, so that its result may mix the old
  /// and the new content.
  package static let restoredDuringRead = SQLiteError(
    .abort, "the store was restored while objects were being fetched; fetch them again")
  /// The error of an access whose deadline passed while it waited for other accesses.
  static let late = SQLiteError(.interrupt, "\(deadlineMessage) while waiting for other accesses")

  /// A Boolean value that indicates whether the same call may succeed later, because it waited too
  /// long for other accesses or locks, or because the database was being suspended or restored.
  ///
  /// It is false if a statement was still running when the deadline passed, because the same
  /// statement would take as long again.
  public var isTransient: Bool {
    switch code.primary {
    case .busy, .locked: true
    case .interrupt:
      self == .late || message == SQLiteError.deadlineMessage + SQLiteError.whileLocked
        || message == SQLiteError.suspensionMessage
    case .abort: [SQLiteError.suspended, .restoredDuringRead].contains { $0.message == message }
    default: false
    }
  }
}

/// Returns the operating system's description of an error number (the POSIX form of `strerror_r`).
package func systemMessage(_ number: Int32) -> String {
  unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
    unsafe buffer.initialize(repeating: 0)
    guard let start = buffer.baseAddress, unsafe strerror_r(number, start, buffer.count) == 0 else {
      return "system error \(number)"
    }
    return unsafe String(cString: start)
  }
}
