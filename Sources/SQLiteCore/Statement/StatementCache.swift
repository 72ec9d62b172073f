/// The cache of a connection's prepared statements, keyed by their SQL. It evicts the least
/// recently used statements first.
///
/// A statement stays in the cache while it is in use, marked as checked out. A second user of the
/// same SQL gets a separate statement that isn't cached.
///
/// A statement that was prepared against an older schema stays in the cache: SQLite recompiles it
/// at its first step, as documented for `sqlite3_prepare_v3`. ``StatementHandle/columnNames`` are
/// then read again.
final class StatementCache {
  /// The maximum number of cached statements.
  let capacity: Int
  private var handles: [String: StatementHandle] = [:]
  /// Recently used statements. The index of a statement is the size of its SQL in bytes, modulo 64.
  /// Comparing an SQL text costs a fifth of hashing it (benchmark `cache`).
  private let recent = (0..<64).map { _ in Recent() }
  /// Recently used statements whose SQL is a literal. The index of a statement is its
  /// ``SQL/literalHash``, modulo 64. A literal that runs again is recognized by its address in
  /// memory (benchmark `insert`).
  private let literals = (0..<64).map { _ in Recent() }
  private var clock: UInt64 = 0
  /// The number of statements that are checked out.
  private var checkedOutCount = 0
  /// Statements that are checked out and not cached.
  private var transient: [WeakStatement] = []
  /// Whether `transient` has elements. Read at the end of each access.
  private var hasTransient = false
  /// The number of statements that were not cached or were evicted.
  private var unkeptCount = 0

  init(capacity: Int) {
    self.capacity = max(0, capacity)
  }

  /// Checks out an idle statement for `sql`, or returns nil if there is none.
  func checkOut(_ sql: String) -> StatementHandle? {
    if let handle = recent[slot(of: sql)].handle, sameBytes(handle.sql, sql) {
      return checkOut(handle)
    }
    // A dictionary treats canonically equivalent texts as equal, but SQLite doesn't.
    guard let handle = handles[sql], sameBytes(handle.sql, sql) else { return nil }
    recent[slot(of: sql)].handle = handle
    return checkOut(handle)
  }

  /// Checks out an idle, recently used statement for a literal, without joining the parts of the
  /// literal's text. Returns nil if there is none.
  ///
  /// The statement may still have bindings of its last use. The caller must bind all parameters
  /// before the statement runs.
  func checkOutRecent(_ sql: SQL) -> StatementHandle? {
    let place = literals[sql.literalHash & 63]
    if let handle = place.handle, let texts = handle.literal, sql.hasIdenticalTexts(texts) {
      return checkOut(handle, bindsAll: true)
    }
    guard let handle = recent[sql.utf8Count & 63].handle, sql.hasBytes(handle.sql) else {
      return nil
    }
    // Store only the first literal with this text. Several would keep replacing each other.
    if handle.literal == nil { handle.literal = sql.texts ?? [] }
    if let texts = handle.literal, sql.hasIdenticalTexts(texts) { place.handle = handle }
    return checkOut(handle, bindsAll: true)
  }

  private func checkOut(_ handle: StatementHandle, bindsAll: Bool = false) -> StatementHandle? {
    if handle.isCheckedOut { return nil }
    if !bindsAll, handle.isStale { handle.clearBindings() }
    clock += 1
    handle.lastUse = clock
    handle.isCheckedOut = true
    checkedOutCount += 1
    return handle
  }

  /// Registers a new statement that is in use.
  ///
  /// - Parameters:
  ///   - statement: The new statement, already checked out.
  ///   - isKept: Whether to cache the statement.
  func use(_ statement: StatementHandle, isKept: Bool) {
    statement.isCheckedOut = true
    checkedOutCount += 1
    if isKept, insert(statement) { return }
    unkeptCount += 1
    transient.removeAll { $0.statement == nil }
    transient.append(WeakStatement(statement: statement))
    hasTransient = true
  }

  /// Returns a statement after use. It becomes idle if it is cached, and is finalized otherwise.
  func checkIn(_ statement: StatementHandle) {
    guard !statement.isOrphan else { return }
    checkedOutCount -= 1
    if statement.isBound { statement.endUse() }
    statement.isCheckedOut = false
    // Finalize it now: if its user has retained the handle, it would be finalized later on another
    // thread.
    if !statement.isCached { statement.finalize() }
  }

  /// Finalizes the statements that are still checked out when the access ends.
  func orphanCheckedOut() {
    if checkedOutCount > 0 {
      let used = handles.values.filter(\.isCheckedOut)
      for handle in used { remove(handle) }
      for handle in used { handle.orphan() }
      for statement in transient { statement.statement?.orphan() }
      checkedOutCount = 0
    }
    if hasTransient {
      transient.removeAll()
      hasTransient = false
    }
  }

  private func slot(of sql: String) -> Int { sql.utf8.count & 63 }

  private func remove(_ handle: StatementHandle) {
    handle.isCached = false
    handles[handle.sql] = nil
    for place in [recent[slot(of: handle.sql)]] + literals where place.handle === handle {
      place.handle = nil
    }
  }

  /// Caches a new statement that is in use, unless the cache already has its SQL. If the cache is
  /// full, evicts the least recently used idle statement.
  ///
  /// - Returns: Whether the statement was cached.
  /// - Complexity: O(*n*) in the number of statements if one is evicted.
  private func insert(_ handle: StatementHandle) -> Bool {
    guard capacity > 0, handles[handle.sql] == nil else { return false }
    clock += 1
    handle.lastUse = clock
    handles[handle.sql] = handle
    handle.isCached = true
    guard handles.count > capacity else { return true }
    let idle = handles.values.filter { !$0.isCheckedOut }
    if let oldest = idle.min(by: { $0.lastUse < $1.lastUse }) {
      unkeptCount += 1
      remove(oldest)
      oldest.finalize()
    }
    return true
  }

  /// A point in time in the use of the cache.
  struct Mark {
    fileprivate let clock: UInt64
    fileprivate let unkeptCount: Int
  }

  /// The current point in time in the use of the cache, for ``texts(since:)``.
  var mark: Mark { Mark(clock: clock, unkeptCount: unkeptCount) }

  /// Returns the SQL of all statements that were checked out since `mark`; nil if a statement
  /// couldn't be cached or was evicted since then.
  ///
  /// - Complexity: O(*n*) in the number of statements.
  func texts(since mark: Mark) -> [String]? {
    guard unkeptCount == mark.unkeptCount else { return nil }
    return handles.values.filter { $0.lastUse > mark.clock }.map(\.sql)
  }

  /// Finalizes all statements. Called between accesses, when no statement is in use.
  func removeAll() {
    for handle in handles.values {
      handle.isCached = false
      handle.finalize()
    }
    handles.removeAll()
    for place in recent + literals { place.handle = nil }
  }
}

/// A slot for a recently used statement, which may be empty. It is a class so that an array of
/// slots can be constant: Swift checks for exclusive access whenever a mutable array is read.
private final class Recent {
  var handle: StatementHandle?
}

/// A weak reference to a statement.
private struct WeakStatement {
  weak var statement: StatementHandle?
}
