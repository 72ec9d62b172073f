/// The prepared statements of one connection, by their SQL; the least recently used go first.
///
/// A handle stays in the cache while it is used, marked as checked out, so that two users of one
/// text never share it: the second one gets a statement of its own that is not cached.
///
/// A statement that was prepared against an older schema stays here: SQLite prepares it anew at its first step, as
/// `sqlite3_prepare_v3` says, and ``StatementHandle/columnNames`` are then read again.
final class StatementCache {
  /// The most statements that are kept.
  let capacity: Int
  private var handles: [String: StatementHandle] = [:]
  /// Handles found lately, by the lengths of their texts: comparing one text costs a fifth of hashing
  /// it (benchmark `cache`).
  private let recent = (0..<64).map { _ in Recent() }
  /// Handles found lately by literals, by ``SQL/literalNumber``: a literal that runs again is known by its place
  /// in memory (benchmark `insert`).
  private let literals = (0..<64).map { _ in Recent() }
  private var clock: UInt64 = 0
  /// How many statements are checked out.
  private var checkedOutCount = 0
  /// Statements that are checked out and not kept.
  private var transient: [WeakStatement] = []
  /// Whether there are any: asked at the end of each access.
  private var hasTransient = false
  /// How many statements were not kept, or were dropped.
  private var unkeptCount = 0

  init(capacity: Int) {
    self.capacity = max(0, capacity)
  }

  /// Finds an idle handle for `sql` and checks it out.
  func checkOut(_ sql: String) -> StatementHandle? {
    if let handle = recent[slot(of: sql)].handle, sameBytes(handle.sql, sql) {
      return checkOut(handle)
    }
    // A dictionary takes canonically equivalent texts for one; to SQLite they are two statements.
    guard let handle = handles[sql], sameBytes(handle.sql, sql) else { return nil }
    recent[slot(of: sql)].handle = handle
    return checkOut(handle)
  }

  /// Finds an idle handle for a literal among those found lately, without joining its text.
  ///
  /// The handle may still have values of its last use: the caller binds all parameters before it runs.
  func checkOutRecent(_ sql: SQL) -> StatementHandle? {
    let place = literals[sql.literalNumber & 63]
    if let handle = place.handle, let texts = handle.literal, sql.hasTexts(texts) {
      return checkOut(handle, bindsAll: true)
    }
    guard let handle = recent[sql.utf8Count & 63].handle, sql.isSpelled(handle.sql) else {
      return nil
    }
    // Only the first literal of this spelling is kept: several would replace each other again and again.
    if handle.literal == nil { handle.literal = sql.texts ?? [] }
    if let texts = handle.literal, sql.hasTexts(texts) { place.handle = handle }
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

  /// Takes in a fresh statement that is in use.
  ///
  /// - Parameter isKept: Whether it is kept for others, if there is room.
  func use(_ statement: StatementHandle, isKept: Bool) {
    statement.isCheckedOut = true
    checkedOutCount += 1
    if isKept, insert(statement) { return }
    unkeptCount += 1
    transient.removeAll { $0.statement == nil }
    transient.append(WeakStatement(statement: statement))
    hasTransient = true
  }

  /// Takes back a statement whose user has gone: it is idle, or finalized if it is not kept.
  func takeBack(_ statement: StatementHandle) {
    guard !statement.isOrphan else { return }
    checkedOutCount -= 1
    if statement.isBound { statement.endUse() }
    statement.isCheckedOut = false
    // If the user has kept the handle, it must not be finalized later on another thread.
    if !statement.isCached { statement.finalize() }
  }

  /// Finalizes the statements that are still checked out: the access has ended.
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

  /// Takes in a new handle that is in use, unless its text is there, and drops the idle handle that
  /// was used longest ago if there are too many.
  ///
  /// - Returns: Whether the handle is in the cache now.
  /// - Complexity: O(*n*) in the number of statements if one is dropped.
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

  /// A moment in the use of the statements.
  struct Mark {
    fileprivate let clock: UInt64
    fileprivate let unkeptCount: Int
  }

  /// The present moment.
  var mark: Mark { Mark(clock: clock, unkeptCount: unkeptCount) }

  /// The texts of all statements that were checked out since a moment; nil if some of them are not kept.
  ///
  /// - Complexity: O(*n*) in the number of statements.
  func texts(since mark: Mark) -> [String]? {
    guard unkeptCount == mark.unkeptCount else { return nil }
    return handles.values.filter { $0.lastUse > mark.clock }.map(\.sql)
  }

  /// Finalizes all statements, between accesses: none is in use.
  func removeAll() {
    for handle in handles.values {
      handle.isCached = false
      handle.finalize()
    }
    handles.removeAll()
    for place in recent + literals { place.handle = nil }
  }
}

/// A handle that was found lately. An object: Swift checks each reading of an array that is changed in place.
private final class Recent {
  var handle: StatementHandle?
}

/// A statement that may be gone.
private struct WeakStatement {
  weak var statement: StatementHandle?
}
