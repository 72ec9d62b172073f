import CSQLite

/// A result code of SQLite, primary or extended.
///
/// A structure and not an enumeration, so that a code that this library does not know survives. In a
/// `catch` a primary code matches each of its extended ones:
///
///     do { try connection.executeChange("INSERT INTO city VALUES (1)") }
///     catch let error where ResultCode.constraint ~= error.code { … }
///
/// See <https://www.sqlite.org/rescode.html>.
public struct ResultCode: RawRepresentable, Hashable, Sendable {
  /// SQLite's number.
  public let rawValue: Int32

  /// Wraps SQLite's number.
  ///
  /// - Parameter rawValue: A primary or an extended result code.
  public init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// The primary code: the lowest eight bits.
  public var primary: ResultCode { ResultCode(rawValue: rawValue & 0xff) }

  /// SQLite's English words for the code (`sqlite3_errstr`).
  public var message: String {
    guard let words = unsafe sqlite3_errstr(rawValue) else { return "unknown error" }
    return unsafe String(cString: words)
  }

  /// Returns whether `code` is `pattern`, or an extended form of it.
  public static func ~= (pattern: ResultCode, code: ResultCode) -> Bool {
    pattern == code || pattern == code.primary
  }
}

extension ResultCode: CustomStringConvertible {
  /// The words and the number.
  public var description: String { "\(message) (\(rawValue))" }
}

extension ResultCode {
  /// The operation succeeded (`SQLITE_OK`).
  public static let ok = ResultCode(rawValue: SQLITE_OK)
  /// A generic error, such as a mistake in the SQL (`SQLITE_ERROR`).
  public static let error = ResultCode(rawValue: SQLITE_ERROR)
  /// A bug in SQLite (`SQLITE_INTERNAL`).
  public static let internalError = ResultCode(rawValue: SQLITE_INTERNAL)
  /// The access mode asked for could not be granted (`SQLITE_PERM`).
  public static let permission = ResultCode(rawValue: SQLITE_PERM)
  /// An operation was ended before it was complete (`SQLITE_ABORT`).
  public static let abort = ResultCode(rawValue: SQLITE_ABORT)
  /// Another connection holds a lock (`SQLITE_BUSY`).
  public static let busy = ResultCode(rawValue: SQLITE_BUSY)
  /// A lock within one connection, or within a shared cache, conflicts (`SQLITE_LOCKED`).
  public static let locked = ResultCode(rawValue: SQLITE_LOCKED)
  /// Memory could not be allocated (`SQLITE_NOMEM`).
  public static let outOfMemory = ResultCode(rawValue: SQLITE_NOMEM)
  /// The database, or the connection, is read-only (`SQLITE_READONLY`).
  public static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
  /// The operation was interrupted, by a deadline, a cancelled task or a call (`SQLITE_INTERRUPT`).
  public static let interrupt = ResultCode(rawValue: SQLITE_INTERRUPT)
  /// The operating system reported an input or output error (`SQLITE_IOERR`).
  public static let inputOutput = ResultCode(rawValue: SQLITE_IOERR)
  /// The database file is damaged (`SQLITE_CORRUPT`).
  public static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
  /// Something was not found (`SQLITE_NOTFOUND`).
  public static let notFound = ResultCode(rawValue: SQLITE_NOTFOUND)
  /// The disk is full (`SQLITE_FULL`).
  public static let full = ResultCode(rawValue: SQLITE_FULL)
  /// The file could not be opened (`SQLITE_CANTOPEN`).
  public static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
  /// The locking protocol of a WAL database failed (`SQLITE_PROTOCOL`).
  public static let lockingProtocol = ResultCode(rawValue: SQLITE_PROTOCOL)
  /// The schema changed too often while a statement was prepared (`SQLITE_SCHEMA`).
  public static let schema = ResultCode(rawValue: SQLITE_SCHEMA)
  /// A text or a blob is too large (`SQLITE_TOOBIG`).
  public static let tooBig = ResultCode(rawValue: SQLITE_TOOBIG)
  /// A constraint was violated (`SQLITE_CONSTRAINT`).
  public static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
  /// A value does not have the type that was asked for (`SQLITE_MISMATCH`).
  public static let mismatch = ResultCode(rawValue: SQLITE_MISMATCH)
  /// A call that its rules forbid (`SQLITE_MISUSE`).
  public static let misuse = ResultCode(rawValue: SQLITE_MISUSE)
  /// The authorizer refused (`SQLITE_AUTH`).
  public static let authorization = ResultCode(rawValue: SQLITE_AUTH)
  /// An index or a count is out of range (`SQLITE_RANGE`).
  public static let range = ResultCode(rawValue: SQLITE_RANGE)
  /// The file is not a database (`SQLITE_NOTADB`).
  public static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)

  /// A CHECK constraint failed (`SQLITE_CONSTRAINT_CHECK`).
  public static let checkConstraint = ResultCode(rawValue: CSQLITE_CONSTRAINT_CHECK)
  /// A foreign key constraint failed (`SQLITE_CONSTRAINT_FOREIGNKEY`).
  public static let foreignKeyConstraint = ResultCode(rawValue: CSQLITE_CONSTRAINT_FOREIGNKEY)
  /// A NOT NULL constraint failed (`SQLITE_CONSTRAINT_NOTNULL`).
  public static let notNullConstraint = ResultCode(rawValue: CSQLITE_CONSTRAINT_NOTNULL)
  /// A primary key is already there (`SQLITE_CONSTRAINT_PRIMARYKEY`).
  public static let primaryKeyConstraint = ResultCode(rawValue: CSQLITE_CONSTRAINT_PRIMARYKEY)
  /// A rowid is already there (`SQLITE_CONSTRAINT_ROWID`).
  public static let rowIDConstraint = ResultCode(rawValue: CSQLITE_CONSTRAINT_ROWID)
  /// A trigger raised an error (`SQLITE_CONSTRAINT_TRIGGER`).
  public static let triggerConstraint = ResultCode(rawValue: CSQLITE_CONSTRAINT_TRIGGER)
  /// A UNIQUE constraint failed (`SQLITE_CONSTRAINT_UNIQUE`).
  public static let uniqueConstraint = ResultCode(rawValue: CSQLITE_CONSTRAINT_UNIQUE)
  /// A STRICT table refused a value's type (`SQLITE_CONSTRAINT_DATATYPE`).
  public static let dataTypeConstraint = ResultCode(rawValue: CSQLITE_CONSTRAINT_DATATYPE)
  /// A read transaction cannot write any more, since others wrote (`SQLITE_BUSY_SNAPSHOT`).
  public static let busySnapshot = ResultCode(rawValue: CSQLITE_BUSY_SNAPSHOT)
  /// Another process is recovering the WAL file (`SQLITE_BUSY_RECOVERY`).
  public static let busyRecovery = ResultCode(rawValue: CSQLITE_BUSY_RECOVERY)
  /// SQLite has rolled the transaction back (`SQLITE_ABORT_ROLLBACK`).
  public static let abortRollback = ResultCode(rawValue: CSQLITE_ABORT_ROLLBACK)
  /// The path names a directory (`SQLITE_CANTOPEN_ISDIR`).
  public static let cannotOpenDirectory = ResultCode(rawValue: CSQLITE_CANTOPEN_ISDIR)
  /// The path is a symbolic link, and links are not followed (`SQLITE_CANTOPEN_SYMLINK`).
  public static let cannotOpenSymbolicLink = ResultCode(rawValue: CSQLITE_CANTOPEN_SYMLINK)
  /// The database file was moved or removed while open (`SQLITE_READONLY_DBMOVED`).
  public static let readOnlyMoved = ResultCode(rawValue: CSQLITE_READONLY_DBMOVED)
}
