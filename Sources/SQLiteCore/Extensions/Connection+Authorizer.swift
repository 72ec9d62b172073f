import CSQLite

/// What a statement wants to do, asked when it is compiled (`sqlite3_set_authorizer`).
public struct Authorization: Hashable, Sendable {
  /// SQLite's number of the action, such as 9 for `SQLITE_DELETE`.
  public let action: Int32
  /// The first detail: a table for most actions, a function's name is the second.
  public let first: String?
  /// The second detail: a column for reading and updating.
  public let second: String?
  /// The database: `main`, `temp`, or the name of an attached one.
  public let schema: String?
  /// The view or trigger that wants it, or nil for the statement itself.
  public let accessor: String?

  /// Deletes rows of the table `first` (`SQLITE_DELETE`).
  public static let delete = SQLITE_DELETE
  /// Inserts rows into the table `first` (`SQLITE_INSERT`).
  public static let insert = SQLITE_INSERT
  /// Changes the column `second` of the table `first` (`SQLITE_UPDATE`).
  public static let update = SQLITE_UPDATE
  /// Reads the column `second` of the table `first` (`SQLITE_READ`).
  public static let read = SQLITE_READ
  /// Runs a SELECT (`SQLITE_SELECT`).
  public static let select = SQLITE_SELECT
  /// Calls the function `second` (`SQLITE_FUNCTION`).
  public static let function = SQLITE_FUNCTION
  /// Runs the pragma `first` with the argument `second` (`SQLITE_PRAGMA`).
  public static let pragma = SQLITE_PRAGMA
  /// Attaches the file `first` (`SQLITE_ATTACH`).
  public static let attach = SQLITE_ATTACH
  /// Makes the table `first` (`SQLITE_CREATE_TABLE`).
  public static let createTable = SQLITE_CREATE_TABLE
  /// Drops the table `first` (`SQLITE_DROP_TABLE`).
  public static let dropTable = SQLITE_DROP_TABLE
}

/// The answer to an ``Authorization``.
public enum AuthorizationDecision: Sendable {
  /// It may.
  case allow
  /// The statement does not compile: ``ResultCode/authorization``.
  case deny
  /// The column reads as NULL, the statement has no effect.
  case ignore
}

/// Asked by SQLite, kept alive by the handle.
final class Authorizer {
  private let decide: ((Authorization) -> AuthorizationDecision)?
  private let hook: Hook
  /// Says whether statements of the library's own are compiled, which nobody is asked about.
  var isSuspended = false
  /// Says whether deletions of all rows must go row by row.
  let keepsRowDeletes: Bool
  /// The table that is being dropped: deleting its rows is then another thing.
  fileprivate var dropped: String?

  init(
    _ decide: ((Authorization) -> AuthorizationDecision)?, keepsRowDeletes: Bool, _ hook: Hook
  ) {
    self.decide = decide
    self.keepsRowDeletes = keepsRowDeletes
    self.hook = hook
  }

  /// What the user decides.
  fileprivate func decision(on request: Authorization) -> AuthorizationDecision {
    guard let decide else { return .allow }
    return hook.run { decide(request) }
  }

  /// SQLite deletes row by row if told to ignore the DELETE, which it then does all the same; but it
  /// would not drop a table.
  fileprivate func answer(to request: Authorization) -> Int32 {
    guard keepsRowDeletes else { return SQLITE_OK }
    switch request.action {
    case SQLITE_DROP_TABLE, SQLITE_DROP_TEMP_TABLE, SQLITE_DROP_VIEW, SQLITE_DROP_TEMP_VIEW,
      SQLITE_DROP_VTABLE:
      dropped = request.first
    case SQLITE_DELETE:
      defer { dropped = nil }
      let isSchema = request.first?.hasPrefix("sqlite_") ?? true
      return isSchema || request.first == dropped ? SQLITE_OK : SQLITE_IGNORE
    default: break
    }
    return SQLITE_OK
  }
}

extension ConnectionHandle {
  /// Makes SQLite ask, if there is anything to ask (`sqlite3_set_authorizer`).
  func installAuthorizer() {
    let isNeeded = decide != nil || keepsRowDeletes
    authorizer = isNeeded ? Authorizer(decide, keepsRowDeletes: keepsRowDeletes, hook) : nil
    let context = unsafe authorizer.map { unsafe Unmanaged.passUnretained($0).toOpaque() }
    // SQLite compiles all statements anew, so that cached ones are asked about, too.
    unsafe sqlite3_set_authorizer(pointer, isNeeded ? authorize : nil, context)
  }
}

extension Connection {
  /// Lets a closure decide about each statement that is compiled on this connection.
  ///
  /// Each connection of a pool asks its own: set it in ``Database/Options/prepareConnection``. The
  /// transactions that this library begins and ends itself are not asked about.
  ///
  /// - Parameter decide: The decision, or nil to allow everything. It cannot use the database.
  /// - Throws: ``SQLiteError`` outside the access.
  public func setAuthorizer(
    _ decide: (@Sendable (Authorization) -> AuthorizationDecision)?
  ) throws(SQLiteError) {
    try checkAccess()
    handle.decide = decide
    handle.installAuthorizer()
  }
}

private func authorize(
  context: UnsafeMutableRawPointer?, action: Int32, first: UnsafePointer<CChar>?,
  second: UnsafePointer<CChar>?, schema: UnsafePointer<CChar>?, accessor: UnsafePointer<CChar>?
) -> Int32 {
  guard let context = unsafe context else { return SQLITE_OK }
  let authorizer = unsafe Unmanaged<Authorizer>.fromOpaque(context).takeUnretainedValue()
  if authorizer.isSuspended { return SQLITE_OK }
  func text(_ pointer: UnsafePointer<CChar>?) -> String? {
    unsafe pointer.map { unsafe String(cString: $0) }
  }
  let request = unsafe Authorization(
    action: action, first: text(first), second: text(second), schema: text(schema),
    accessor: text(accessor))
  switch authorizer.decision(on: request) {
  case .allow: return authorizer.answer(to: request)
  case .deny: return SQLITE_DENY
  case .ignore: return SQLITE_IGNORE
  }
}
