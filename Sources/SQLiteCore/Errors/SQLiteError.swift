import Platform

/// A failure reported by SQLite, or a caller's mistake found before SQLite was asked.
///
/// Mistakes of the caller use SQLite's own codes: ``ResultCode/misuse`` for a call out of place,
/// ``ResultCode/range`` for a wrong index or count, ``ResultCode/mismatch`` for a value of another
/// type. The description never holds the values bound to the statement.
public struct SQLiteError: Error, Hashable, Sendable {
  // One word, which a function that throws hands on in a register. With the parts side by side each `try`
  // copied seven words, a tenth of this module's machine code.
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

  /// Makes an error.
  ///
  /// - Parameters:
  ///   - code: The result code.
  ///   - message: The mistake in English; the code's own words if it is left out.
  ///   - sql: The SQL concerned.
  ///   - offset: A byte offset in the SQL.
  @inline(never)
  public init(_ code: ResultCode, _ message: String? = nil, sql: String? = nil, offset: Int? = nil)
  {
    content = Content(code, message ?? code.message, sql: sql, offset: offset)
  }

  /// The extended result code, such as ``ResultCode/uniqueConstraint``.
  public var code: ResultCode { content.code }

  /// SQLite's own explanation, in English, or this library's.
  public var message: String { content.message }

  /// The SQL being prepared or run, if any.
  public var sql: String? { content.sql }

  /// Where in the SQL the mistake is, in bytes of UTF-8, where SQLite knows it.
  public var offset: Int? { content.offset }

  /// Returns whether both say the same of the same SQL.
  public static func == (left: SQLiteError, right: SQLiteError) -> Bool {
    left.code == right.code && left.message == right.message && left.sql == right.sql
      && left.offset == right.offset
  }

  /// Feeds the code, the message and the SQL to `hasher`.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(code)
    hasher.combine(message)
    hasher.combine(sql)
    hasher.combine(offset)
  }
}

extension SQLiteError: CustomStringConvertible {
  /// The message, the code and the SQL, with a mark where the mistake is.
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
  /// The table and the columns that a constraint error names, where SQLite told them.
  ///
  /// SQLite says `UNIQUE constraint failed: city.name, city.country`; here that is
  /// `("city", ["name", "country"])`. CHECK and foreign key failures name no column.
  public var constraint: (table: String, columns: [String])? {
    // The message of a CHECK constraint holds its expression, dots included.
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

  /// Whether a statement names a table or a column that is not there. SQLite has no code of its own for it.
  package var isOfMissingTable: Bool {
    code == .error
      && ["no such table", "no such column", "has no column named"].contains(
        where: message.contains)
  }

  /// The error for the scopes around a transaction that this error ended.
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

// The errors of accesses that must end, or must not begin.
extension SQLiteError {
  static let deadlineMessage = "the deadline has passed"
  static let suspensionMessage = "the database is being suspended"
  /// The end of the message if the access was waiting for another connection's lock.
  static let whileLocked = " while waiting for a lock"

  /// This libsqlite3 cannot tell the values of rows that change.
  package static let noPreupdateHook = SQLiteError(
    .misuse,
    "this libsqlite3 does not tell the values of rows that change: "
      + "it was built without SQLITE_ENABLE_PREUPDATE_HOOK")

  /// The database is suspended.
  static let suspended = SQLiteError(.abort, "the database is suspended")
  /// A read whose result may be of the content before a restore or after it.
  package static let restoredMeanwhile = SQLiteError(
    .abort, "the store was restored while objects were read from it")
  /// The access waited too long for others.
  static let late = SQLiteError(.interrupt, "\(deadlineMessage) while waiting for other accesses")

  /// Whether the same access may succeed later: it waited too long for them or for their locks, or the
  /// database is suspended or was restored.
  package var isPassing: Bool {
    switch code.primary {
    case .busy, .locked: true
    case .interrupt:
      self == .late || message == SQLiteError.deadlineMessage + SQLiteError.whileLocked
        || message == SQLiteError.suspensionMessage
    case .abort: [SQLiteError.suspended, .restoredMeanwhile].contains { $0.message == message }
    default: false
    }
  }
}

/// The system's words for an error number (`strerror_r`, in the form of POSIX).
package func systemMessage(_ number: Int32) -> String {
  unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
    unsafe buffer.initialize(repeating: 0)
    guard let start = buffer.baseAddress, unsafe strerror_r(number, start, buffer.count) == 0 else {
      return "system error \(number)"
    }
    return unsafe String(cString: start)
  }
}
