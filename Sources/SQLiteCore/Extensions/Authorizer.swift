import CSQLite

/// An action of a statement that needs permission when SQLite compiles the statement
/// (`sqlite3_set_authorizer`).
public struct Authorization: Hashable, Sendable {
  /// SQLite's number for the action, such as 9 for `SQLITE_DELETE`.
  public let action: Int32
  /// The first detail of the action, which is a table's name for most actions; nil if the action
  /// has none.
  public let first: String?
  /// The second detail of the action, such as the name of the column that is read or updated, or of
  /// the function that is called; nil if the action has none.
  public let second: String?
  /// The name of the database: `main`, `temp`, or that of an attached database; nil if the action
  /// doesn't concern a single database.
  public let schema: String?
  /// The name of the innermost view or trigger that performs the action; nil if the statement
  /// itself performs it.
  public let accessor: String?

  /// The number of the action that deletes rows of the table `first` (`SQLITE_DELETE`).
  public static let delete = SQLITE_DELETE
  /// The number of the action that inserts rows into the table `first` (`SQLITE_INSERT`).
  public static let insert = SQLITE_INSERT
  /// The number of the action that updates the column `second` of the table `first`
  /// (`SQLITE_UPDATE`).
  public static let update = SQLITE_UPDATE
  /// The number of the action that reads the column `second` of the table `first` (`SQLITE_READ`).
  public static let read = SQLITE_READ
  /// The number of the action that runs a SELECT (`SQLITE_SELECT`).
  public static let select = SQLITE_SELECT
  /// The number of the action that calls the function `second` (`SQLITE_FUNCTION`).
  public static let function = SQLITE_FUNCTION
  /// The number of the action that runs the pragma `first` with the argument `second`
  /// (`SQLITE_PRAGMA`).
  public static let pragma = SQLITE_PRAGMA
  /// The number of the action that attaches the file `first` (`SQLITE_ATTACH`).
  public static let attach = SQLITE_ATTACH
  /// The number of the action that creates the table `first` (`SQLITE_CREATE_TABLE`).
  public static let createTable = SQLITE_CREATE_TABLE
  /// The number of the action that drops the table `first` (`SQLITE_DROP_TABLE`).
  public static let dropTable = SQLITE_DROP_TABLE
}

/// The answer to an ``Authorization``: whether SQLite may compile the action into a statement.
public enum AuthorizationDecision: Sendable {
  /// Allows the action.
  case allow
  /// Rejects the statement. Compiling it fails with ``ResultCode/authorization``.
  case deny
  /// Ignores the action: a column that is read becomes NULL, and most other actions have no effect.
  /// A DELETE still deletes its rows.
  case ignore
}

/// A flag that is set while SQLite calls a closure of the program. The connection checks it,
/// because the closure must not use the connection.
final class UserCallback {
  private(set) var isRunning = false

  func run<Result>(_ body: () -> Result) -> Result {
    let outer = isRunning
    isRunning = true
    defer { isRunning = outer }
    return body()
  }
}

/// The rules that permit the actions of a connection's statements: the user's closure, and the
/// library's own. SQLite's authorizer callback doesn't retain this object, so the connection keeps
/// it alive.
final class Authorizer {
  private let decide: ((Authorization) -> AuthorizationDecision)?
  private let callback: UserCallback
  /// Whether the library is compiling its own statements, for which the user's closure isn't
  /// called.
  var isSuspended = false
  /// Whether SQLite must delete all rows of a table one by one, so that it calls the hooks.
  let keepsRowDeletes: Bool
  /// The name of the table or view that is being dropped. The deletion of its rows isn't recorded.
  fileprivate var dropped: String?

  init(
    _ decide: ((Authorization) -> AuthorizationDecision)?, keepsRowDeletes: Bool,
    _ callback: UserCallback
  ) {
    self.decide = decide
    self.keepsRowDeletes = keepsRowDeletes
    self.callback = callback
  }

  /// Returns the decision of the user's closure on an action. Without a closure, everything is
  /// allowed.
  fileprivate func decision(on request: Authorization) -> AuthorizationDecision {
    guard let decide else { return .allow }
    return callback.run { decide(request) }
  }

  /// Returns the library's own decision on an action that the user's closure has allowed, as
  /// SQLite's result code.
  ///
  /// If it is `SQLITE_IGNORE` for the deletion of all rows of a table, SQLite still deletes the
  /// rows, but one by one, so that it calls the hooks. SQLite wouldn't drop a table then, so the
  /// decision is `SQLITE_OK` for a table that is being dropped.
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

  /// Registers an authorizer with SQLite, or removes the current one if `authorizer` is nil
  /// (`sqlite3_set_authorizer`). The caller must keep the authorizer alive.
  static func install(_ authorizer: Authorizer?, on handle: ConnectionHandle) {
    let context = unsafe authorizer.map { unsafe Unmanaged.passUnretained($0).toOpaque() }
    // SQLite recompiles all statements, so that the authorizer is called for cached ones, too.
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
