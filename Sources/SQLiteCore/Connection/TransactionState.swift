/// The transactions of a connection: who may begin and end them, which are open, and whether they are lost.
///
/// ```
/// closed <-> bare           withoutTransaction begins (enterBare) and ends (leaveBare)
/// closed, bare -> open      the outermost transaction or savepoint begins (open)
/// open -> closed, bare      it ends (close)
/// bare, open -> ended       SQLite has rolled back the whole transaction (end)
/// bare, open -> broken      a ROLLBACK has failed (break)
/// ended -> closed, bare     the outermost scope ends (close), or none was open (forgive)
/// ```
///
/// A broken connection stays so, and is closed at the end of its access.
///
/// A class, and the scopes a chain of objects: of a structure or an array that is changed in place, Swift
/// checks at each reading that nobody changes it just then, which took a fifth of the instructions of an empty
/// read.
final class TransactionState {
  /// A transaction or a savepoint that this library has begun, or a savepoint that SQL of the user's has opened.
  final class Scope {
    /// The scope of the library's around it.
    let outer: Scope?
    /// How many scopes are around it.
    let depth: Int
    /// The savepoint's name, or nil for the transaction itself.
    let savepoint: String?
    /// Whether closing it commits.
    let isOutermost: Bool
    /// How many actions waited before it.
    let actions: Int
    /// The end of the recording before it.
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
    /// No scope is open, and SQL of the user's must not begin or end transactions.
    case closed
    /// No scope is open, and SQL of the user's may begin and end transactions.
    case bare
    /// Scopes are open; SQL of the user's must not end them.
    case open(insideBare: Bool)
    /// SQLite has rolled back the transaction, for this error; its scopes are still to be left.
    case ended(SQLiteError, insideBare: Bool)
    /// A ROLLBACK has failed with this error: the connection can only be closed.
    case broken(SQLiteError)
  }

  private var phase = Phase.closed {
    didSet { isSound = failure == nil }
  }
  /// Whether there is no ``failure``: asked at each statement.
  private(set) var isSound = true
  /// The innermost scope of the library's that is open.
  private(set) var innermost: Scope?
  /// The savepoints that SQL of the user's has opened, the outermost first. Scopes of the library's are inside all of them:
  /// while one is open, SQL of the user's opens none.
  private(set) var savepoints: [Scope] = []

  /// The end of the recording before the innermost transaction or savepoint; nil if nothing was recorded then.
  var innermostMark: RecordingMark? { (innermost ?? savepoints.last)?.changes }

  /// Whether any scope of the library's is open.
  var isInsideScope: Bool { innermost != nil }

  /// How many scopes are open.
  var depth: Int { innermost.map { $0.depth + 1 } ?? 0 }

  /// Whether the outermost scope that is open is a transaction, and no savepoint.
  var ownsTransaction: Bool {
    guard var scope = innermost else { return false }
    while let outer = scope.outer { scope = outer }
    return scope.savepoint == nil
  }

  /// Whether the innermost scope that is open is part of a transaction that outlives it.
  var isInsideAnother: Bool { innermost.map { !$0.isOutermost } ?? false }

  /// Whether no scope is open and SQL of the user's must not begin one.
  var isClosed: Bool { if case .closed = phase { true } else { false } }

  /// Whether SQL of the user's may begin and end transactions.
  var allowsControl: Bool {
    switch phase {
    case .bare: true
    case .ended(_, let isInsideBare): isInsideBare && !isInsideScope
    case .closed, .open, .broken: false
    }
  }

  /// Why no statement may run and nothing be committed any more, or nil.
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

  /// Lets SQL of the user's begin and end transactions.
  ///
  /// - Returns: False if that is so already, or a scope is open.
  func enterBare() -> Bool {
    guard isClosed else { return false }
    phase = .bare
    return true
  }

  /// Ends what ``enterBare()`` began.
  func leaveBare() {
    if !isBroken { phase = .closed }
  }

  /// Notes that a transaction or a savepoint has begun.
  func open(_ scope: Scope) {
    if !isInsideScope, !isEnded, !isBroken { phase = .open(insideBare: isInsideBare) }
    innermost = scope
  }

  /// Notes that the innermost scope has ended.
  func close() {
    innermost = innermost?.outer
    if !isInsideScope, !isBroken { phase = isInsideBare ? .bare : .closed }
  }

  /// Notes that SQL of the user's has opened a savepoint.
  func openSavepoint(_ savepoint: Scope) { savepoints.append(savepoint) }

  /// Returns the index of the savepoint that a RELEASE or a ROLLBACK TO refers to: the innermost one of the name.
  func savepoint(named name: String) -> Int? { savepoints.lastIndex { $0.savepoint == name } }

  /// Notes that only the first savepoints are still open.
  func keepSavepoints(_ count: Int) { savepoints.removeLast(savepoints.count - count) }

  /// Notes that SQLite has rolled back the open transaction, of the library's or of the user's.
  func end(by error: SQLiteError) {
    if !isEnded, !isBroken { phase = .ended(error, insideBare: isInsideBare) }
  }

  /// Notes that a ROLLBACK has failed: the changes that it should have undone may still be there.
  func `break`(by error: SQLiteError) {
    let message = "the changes could not be undone, so the connection is closed"
    phase = .broken(SQLiteError(error.code, "\(message): \(error.message)", sql: error.sql))
  }

  /// Forgets that SQLite has rolled back a transaction of the user's SQL.
  func forgive() {
    if isEnded, !isInsideScope { phase = isInsideBare ? .bare : .closed }
  }
}
