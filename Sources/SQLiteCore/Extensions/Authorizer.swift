import CSQLite

/// An action that a statement would take, judged when it is compiled (`sqlite3_set_authorizer`).
public struct Authorization: Hashable, Sendable {
  /// SQLite's number of the action, such as 9 for `SQLITE_DELETE`.
  public let action: Int32
  /// The first detail: a table for most actions, a function's name is the second.
  public let first: String?
  /// The second detail: a column for reading and updating.
  public let second: String?
  /// The database: `main`, `temp`, or the name of an attached one.
  public let schema: String?
  /// The view or trigger that takes the action, or nil for the statement itself.
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
  /// The statement may do it.
  case allow
  /// The statement does not compile: ``ResultCode/authorization``.
  case deny
  /// The column reads as NULL, the statement has no effect.
  case ignore
}

/// Whether SQLite is calling a closure of the user's, which must not use the connection.
final class UserCallback {
  private(set) var isRunning = false

  func run<Result>(_ body: () -> Result) -> Result {
    let outer = isRunning
    isRunning = true
    defer { isRunning = outer }
    return body()
  }
}

/// Asked by SQLite, kept alive by the connection.
final class Authorizer {
  private let decide: ((Authorization) -> AuthorizationDecision)?
  private let callback: UserCallback
  /// Whether statements of the library's own are compiled, about which the user's closure is not asked.
  var isSuspended = false
  /// Whether deletions of all rows must go row by row.
  let keepsRowDeletes: Bool
  /// The table that is being dropped: the deletion of its rows is not recorded.
  fileprivate var dropped: String?

  init(
    _ decide: ((Authorization) -> AuthorizationDecision)?, keepsRowDeletes: Bool,
    _ callback: UserCallback
  ) {
    self.decide = decide
    self.keepsRowDeletes = keepsRowDeletes
    self.callback = callback
  }

  /// Returns the user's decision.
  fileprivate func decision(on request: Authorization) -> AuthorizationDecision {
    guard let decide else { return .allow }
    return callback.run { decide(request) }
  }

  /// If told to ignore a DELETE of all rows, SQLite deletes them all the same, but row by row. It would not
  /// drop a table, so that is allowed as it is.
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

  /// Lets SQLite ask an authorizer, or nobody (`sqlite3_set_authorizer`). The caller keeps it alive.
  static func install(_ authorizer: Authorizer?, on handle: ConnectionHandle) {
    let context = unsafe authorizer.map { unsafe Unmanaged.passUnretained($0).toOpaque() }
    // SQLite compiles all statements anew, so that cached ones are asked about, too.
    unsafe sqlite3_set_authorizer(handle.pointer, authorizer == nil ? nil : authorize, context)
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
