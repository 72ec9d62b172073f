/// The transaction state of a connection: which scopes are open, who can begin and end
/// transactions, and whether SQLite has ended one unexpectedly.
///
/// ```
/// closed <-> bare           withoutTransaction begins (enterBare) and ends (leaveBare)
/// closed, bare -> open      the outermost transaction or savepoint begins (open)
/// open -> closed, bare      it ends (close)
/// bare, open -> ended       SQLite has rolled back the whole transaction (end)
/// any -> broken             a ROLLBACK has failed, or a server's session was lost (break)
/// ended -> closed, bare     the outermost scope ends (close), or none was open (clearEnded)
/// ```
///
/// A broken connection stays broken and is closed at the end of its access.
///
/// This is a class, and the scopes are a linked list of objects, because Swift checks each read of
/// a struct or an array that is changed in place for exclusivity. Those checks took a fifth of the
/// instructions of an empty read.
final class TransactionState {
  /// A transaction or savepoint that the library has begun, or a savepoint that the program's SQL
  /// has opened.
  final class Scope {
    /// The library's scope that contains this one; nil for the outermost scope.
    let outer: Scope?
    /// The number of the library's scopes that contain this one.
    let depth: Int
    /// The name of the savepoint, or nil for a transaction.
    let savepoint: String?
    /// Whether the scope is the outermost one, so that closing it commits.
    let isOutermost: Bool
    /// The number of commit and rollback actions that were waiting when the scope was opened.
    let actions: Int
    /// The position of the change recording when the scope was opened, or nil if nothing was being
    /// recorded.
    let changes: RecordingMark?

    init(
      outer: Scope?, savepoint: String?, isOutermost: Bool, actions: Int,
      changes: RecordingMark?
    ) {
      self.outer = outer
      depth = outer.map { $0.depth + 1 } ?? 0
      self.savepoint = savepoint
      self.isOutermost = isOutermost
      self.actions = actions
      self.changes = changes
    }
  }

  private enum Phase {
    /// No scope is open, and the program's SQL must not begin or end transactions.
    case closed
    /// No scope is open, and the program's SQL can begin and end transactions.
    case bare
    /// Scopes of the library are open, and the program's SQL must not end them. `insideBare` is
    /// true if they are inside an access without a transaction (``bare``).
    case open(insideBare: Bool)
    /// SQLite has rolled back the transaction because of this error. Its scopes are still open.
    case ended(SQLiteError, insideBare: Bool)
    /// A ROLLBACK has failed, or a server's session has been lost, with this error. The connection
    /// can only be closed.
    case broken(SQLiteError)
  }

  private var phase = Phase.closed {
    didSet { isSound = failure == nil }
  }
  /// Whether ``failure`` is nil. Stored, because every statement checks it.
  private(set) var isSound = true
  /// The innermost open scope that the library has begun, or nil if none is open.
  private(set) var innermost: Scope?
  /// The savepoints that the program's SQL has opened, the outermost first. The library's scopes
  /// are inside all of them, as the program's SQL can't open a savepoint while such a scope is
  /// open.
  private(set) var savepoints: [Scope] = []

  /// The position of the change recording when the innermost scope, which can be a savepoint of the
  /// program's SQL, was opened; nil if no scope is open or nothing was being recorded.
  var innermostMark: RecordingMark? { (innermost ?? savepoints.last)?.changes }

  /// Whether a transaction or savepoint that the library has begun is open.
  var isInsideScope: Bool { innermost != nil }

  /// The number of open transactions and savepoints that the library has begun.
  var depth: Int { innermost.map { $0.depth + 1 } ?? 0 }

  /// Whether the library's outermost open scope is a transaction rather than a savepoint.
  var ownsTransaction: Bool {
    guard var scope = innermost else { return false }
    while let outer = scope.outer { scope = outer }
    return scope.savepoint == nil
  }

  /// Whether the library's innermost open scope is a savepoint inside a transaction, so that a
  /// rollback of that transaction also undoes the savepoint's changes.
  var isInsideOuterTransaction: Bool { innermost.map { !$0.isOutermost } ?? false }

  /// Whether no scope is open and the program's SQL must not begin one.
  var isClosed: Bool { if case .closed = phase { true } else { false } }

  /// Whether the program's SQL can begin and end transactions.
  var allowsControl: Bool {
    switch phase {
    case .bare: true
    case .ended(_, let isInsideBare): isInsideBare && !isInsideScope
    case .closed, .open, .broken: false
    }
  }

  /// The error with which further statements and the commit fail, or nil if they are allowed.
  var failure: SQLiteError? {
    switch phase {
    case .closed, .bare, .open: nil
    case .ended(let error, _): error.asEndOfTransaction()
    case .broken(let error): error
    }
  }

  var isEnded: Bool { if case .ended = phase { true } else { false } }
  var isBroken: Bool { if case .broken = phase { true } else { false } }

  private var isInsideBare: Bool {
    switch phase {
    case .bare, .open(insideBare: true), .ended(_, insideBare: true): true
    case .closed, .open, .ended, .broken: false
    }
  }

  /// Allows the program's SQL to begin and end transactions, until ``leaveBare()``.
  ///
  /// - Returns: True if the permission was granted. False if the program's SQL already has it, a
  ///   scope is open, or the connection is broken.
  func enterBare() -> Bool {
    guard isClosed else { return false }
    phase = .bare
    return true
  }

  /// Ends the permission of ``enterBare()``: the program's SQL must not begin or end transactions
  /// any more.
  func leaveBare() {
    if !isBroken { phase = .closed }
  }

  /// Records that the library has begun a transaction or a savepoint.
  func open(_ scope: Scope) {
    if !isInsideScope, !isEnded, !isBroken { phase = .open(insideBare: isInsideBare) }
    innermost = scope
  }

  /// Records that the library's innermost scope has ended.
  func close() {
    innermost = innermost?.outer
    if !isInsideScope, !isBroken { phase = isInsideBare ? .bare : .closed }
  }

  /// Records that the program's SQL has opened a savepoint.
  func openSavepoint(_ savepoint: Scope) { savepoints.append(savepoint) }

  /// Returns the index in ``savepoints`` of the innermost savepoint with a name, to which RELEASE
  /// and ROLLBACK TO refer; nil if there is none.
  func savepoint(named name: String) -> Int? { savepoints.lastIndex { $0.savepoint == name } }

  /// Records that only the first `count` savepoints are still open.
  func keepSavepoints(_ count: Int) { savepoints.removeLast(savepoints.count - count) }

  /// Records that SQLite has rolled back the open transaction because of an error.
  func end(by error: SQLiteError) {
    if !isEnded, !isBroken { phase = .ended(error, insideBare: isInsideBare) }
  }

  /// Records that a ROLLBACK has failed or that a server's session has been lost. In both cases,
  /// the transaction's changes may not have been undone.
  func `break`(by error: SQLiteError) {
    let message = "the transaction could not be rolled back, so the connection is closed"
    phase = .broken(SQLiteError(error.code, "\(message): \(error.message)", sql: error.sql))
  }

  /// Discards the record that SQLite has rolled back a transaction, unless a scope of the library
  /// is still open.
  func clearEnded() {
    if isEnded, !isInsideScope { phase = isInsideBare ? .bare : .closed }
  }
}
