import CSQLite

/// A result code of SQLite, primary or extended.
///
/// This is a struct rather than an enum, so that it can represent codes that the library doesn't
/// know. In a `catch` clause, a primary code matches all of its extended codes:
///
///     do { try connection.executeChange("INSERT INTO city VALUES (1)") }
///     catch let error where ResultCode.constraint ~= error.code { … }
///
/// See <https://www.sqlite.org/rescode.html>.
public struct ResultCode: RawRepresentable, Hashable, Sendable {
  /// The number that SQLite uses for the code, such as 2067 for `SQLITE_CONSTRAINT_UNIQUE`.
  public let rawValue: Int32

  /// Creates a result code from the number that SQLite uses for it.
  ///
  /// - Parameter rawValue: The number of a primary or extended result code.
  public init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// The primary code, which is the lowest eight bits of an extended code.
  public var primary: ResultCode { ResultCode(rawValue: rawValue & 0xff) }

  /// SQLite's English description of the code (`sqlite3_errstr`).
  public var message: String {
    guard let words = unsafe sqlite3_errstr(rawValue) else { return "unknown error" }
    return unsafe String(cString: words)
  }

  /// Returns whether `code` is equal to `pattern`, or is an extended code of the primary code
  /// `pattern`.
  ///
  /// - Parameters:
  ///   - pattern: A primary code, to match all of its extended codes, or an extended code.
  ///   - code: The code to test, such as the one of an error.
  public static func ~= (pattern: ResultCode, code: ResultCode) -> Bool {
    pattern == code || pattern == code.primary
  }
}

extension ResultCode: CustomStringConvertible {
  /// SQLite's description of the code, followed by its number in parentheses.
  public var description: String { "\(message) (\(rawValue))" }
}

extension ResultCode {
  /// The operation succeeded (`SQLITE_OK`).
  public static let ok = ResultCode(rawValue: SQLITE_OK)
  /// A generic error, such as a syntax error in the SQL (`SQLITE_ERROR`).
  public static let error = ResultCode(rawValue: SQLITE_ERROR)
  /// An internal error, caused by a bug in SQLite or in this library (`SQLITE_INTERNAL`).
  public static let internalError = ResultCode(rawValue: SQLITE_INTERNAL)
  /// The access mode that was requested for a new database isn't available (`SQLITE_PERM`).
  public static let permission = ResultCode(rawValue: SQLITE_PERM)
  /// An operation was aborted before it was complete, for example because the database is suspended
  /// (`SQLITE_ABORT`).
  public static let abort = ResultCode(rawValue: SQLITE_ABORT)
  /// Another connection holds a lock that the operation needs (`SQLITE_BUSY`).
  public static let busy = ResultCode(rawValue: SQLITE_BUSY)
  /// A lock that the operation needs conflicts with a lock of the same connection, or of a
  /// connection with the same shared cache (`SQLITE_LOCKED`).
  public static let locked = ResultCode(rawValue: SQLITE_LOCKED)
  /// Memory could not be allocated (`SQLITE_NOMEM`).
  public static let outOfMemory = ResultCode(rawValue: SQLITE_NOMEM)
  /// The database, the connection or the access is read-only (`SQLITE_READONLY`).
  public static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
  /// The operation was interrupted by a deadline, a cancelled task or a call of `interrupt()` or
  /// `suspend()` (`SQLITE_INTERRUPT`).
  public static let interrupt = ResultCode(rawValue: SQLITE_INTERRUPT)
  /// The operating system reported an I/O error (`SQLITE_IOERR`).
  public static let inputOutput = ResultCode(rawValue: SQLITE_IOERR)
  /// The database file is corrupt (`SQLITE_CORRUPT`).
  public static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
  /// A row, a table, a column, an entry of a history, or the entry point of an extension was not
  /// found (`SQLITE_NOTFOUND`).
  public static let notFound = ResultCode(rawValue: SQLITE_NOTFOUND)
  /// The disk is full (`SQLITE_FULL`).
  public static let full = ResultCode(rawValue: SQLITE_FULL)
  /// The file could not be opened (`SQLITE_CANTOPEN`).
  public static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
  /// The locking protocol of a WAL database failed (`SQLITE_PROTOCOL`).
  public static let lockingProtocol = ResultCode(rawValue: SQLITE_PROTOCOL)
  /// The schema changed repeatedly while a statement was being prepared (`SQLITE_SCHEMA`).
  public static let schema = ResultCode(rawValue: SQLITE_SCHEMA)
  /// A text, a blob, a statement or a schema is too large (`SQLITE_TOOBIG`).
  public static let tooBig = ResultCode(rawValue: SQLITE_TOOBIG)
  /// A constraint was violated (`SQLITE_CONSTRAINT`).
  public static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
  /// A value doesn't have the requested type (`SQLITE_MISMATCH`).
  public static let mismatch = ResultCode(rawValue: SQLITE_MISMATCH)
  /// A method was called in a way that its documentation forbids, such as a write inside a read
  /// (`SQLITE_MISUSE`).
  public static let misuse = ResultCode(rawValue: SQLITE_MISUSE)
  /// The authorizer denied the statement, or the database doesn't have the requested
  /// ``Database/Feature`` (`SQLITE_AUTH`).
  public static let authorization = ResultCode(rawValue: SQLITE_AUTH)
  /// An index, a limit or the number of values is out of range, or a parameter doesn't exist or has
  /// no value (`SQLITE_RANGE`).
  public static let range = ResultCode(rawValue: SQLITE_RANGE)
  /// The file is not a database (`SQLITE_NOTADB`).
  public static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)

  /// A CHECK constraint failed (`SQLITE_CONSTRAINT_CHECK`).
  public static let checkConstraint = ResultCode(rawValue: CSQLITE_CONSTRAINT_CHECK)
  /// A foreign key constraint failed (`SQLITE_CONSTRAINT_FOREIGNKEY`).
  public static let foreignKeyConstraint = ResultCode(rawValue: CSQLITE_CONSTRAINT_FOREIGNKEY)
  /// A NOT NULL constraint failed (`SQLITE_CONSTRAINT_NOTNULL`).
  public static let notNullConstraint = ResultCode(rawValue: CSQLITE_CONSTRAINT_NOTNULL)
  /// A row with the same primary key already exists (`SQLITE_CONSTRAINT_PRIMARYKEY`).
  public static let primaryKeyConstraint = ResultCode(rawValue: CSQLITE_CONSTRAINT_PRIMARYKEY)
  /// A row with the same rowid already exists (`SQLITE_CONSTRAINT_ROWID`).
  public static let rowIDConstraint = ResultCode(rawValue: CSQLITE_CONSTRAINT_ROWID)
  /// A trigger called `RAISE` to reject the change (`SQLITE_CONSTRAINT_TRIGGER`).
  public static let triggerConstraint = ResultCode(rawValue: CSQLITE_CONSTRAINT_TRIGGER)
  /// A UNIQUE constraint failed (`SQLITE_CONSTRAINT_UNIQUE`).
  public static let uniqueConstraint = ResultCode(rawValue: CSQLITE_CONSTRAINT_UNIQUE)
  /// A value doesn't have the type of its column in a STRICT table (`SQLITE_CONSTRAINT_DATATYPE`).
  public static let dataTypeConstraint = ResultCode(rawValue: CSQLITE_CONSTRAINT_DATATYPE)
  /// A read transaction can't be upgraded to a write transaction, because another connection has
  /// written since the read began (`SQLITE_BUSY_SNAPSHOT`).
  public static let busySnapshot = ResultCode(rawValue: CSQLITE_BUSY_SNAPSHOT)
  /// Another process is recovering the WAL file after a crash (`SQLITE_BUSY_RECOVERY`).
  public static let busyRecovery = ResultCode(rawValue: CSQLITE_BUSY_RECOVERY)
  /// SQLite has rolled back the transaction (`SQLITE_ABORT_ROLLBACK`).
  public static let abortRollback = ResultCode(rawValue: CSQLITE_ABORT_ROLLBACK)
  /// The path names a directory (`SQLITE_CANTOPEN_ISDIR`).
  public static let cannotOpenDirectory = ResultCode(rawValue: CSQLITE_CANTOPEN_ISDIR)
  /// The path is a symbolic link, which the options don't allow (`SQLITE_CANTOPEN_SYMLINK`).
  public static let cannotOpenSymbolicLink = ResultCode(rawValue: CSQLITE_CANTOPEN_SYMLINK)
  /// The database file was moved or removed while it was open (`SQLITE_READONLY_DBMOVED`).
  public static let readOnlyMoved = ResultCode(rawValue: CSQLITE_READONLY_DBMOVED)
}
