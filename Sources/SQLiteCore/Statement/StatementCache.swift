/// The prepared statements of one connection, by their SQL; the least recently used go first.
///
/// A handle stays in the cache while it is used, marked as checked out, so that two users of one
/// text never share it: the second one gets a statement of its own that is not cached.
final class StatementCache {
  /// The most statements that are kept.
  let capacity: Int
  private var handles: [String: StatementHandle] = [:]
  /// Handles found lately, by the lengths of their texts: comparing one text costs a fifth of hashing
  /// it (benchmark `cache`).
  private var recent = [StatementHandle?](repeating: nil, count: 64)
  private var clock: UInt64 = 0

  init(capacity: Int) {
    self.capacity = max(0, capacity)
  }

  /// Finds an idle handle for `sql` and checks it out.
  func checkOut(_ sql: String) -> StatementHandle? {
    if let handle = recent[place(of: sql)], sameBytes(handle.sql, sql) {
      return checkOut(handle)
    }
    // A dictionary takes canonically equivalent texts for one; to SQLite they are two statements.
    guard let handle = handles[sql], sameBytes(handle.sql, sql) else { return nil }
    recent[place(of: sql)] = handle
    return checkOut(handle)
  }

  /// Finds an idle handle for a literal among those found lately, without joining its text.
  func checkOutRecent(_ sql: SQL) -> StatementHandle? {
    guard let handle = recent[sql.utf8Count & 63], sql.isSpelled(handle.sql) else { return nil }
    return checkOut(handle)
  }

  private func checkOut(_ handle: StatementHandle) -> StatementHandle? {
    if handle.isCheckedOut { return nil }
    clock += 1
    handle.lastUse = clock
    handle.isCheckedOut = true
    return handle
  }

  private func place(of sql: String) -> Int { sql.utf8.count & 63 }

  private func remove(_ handle: StatementHandle) {
    handle.isCached = false
    handles[handle.sql] = nil
    let place = place(of: handle.sql)
    if recent[place] === handle { recent[place] = nil }
  }

  /// Takes in a new handle that is in use, unless its text is there, and drops the idle handle that
  /// was used longest ago if there are too many.
  ///
  /// - Returns: Whether the handle is in the cache now.
  /// - Complexity: O(*n*) in the number of statements if one is dropped.
  func insert(_ handle: StatementHandle) -> Bool {
    guard capacity > 0, handles[handle.sql] == nil else { return false }
    clock += 1
    handle.lastUse = clock
    handles[handle.sql] = handle
    handle.isCached = true
    guard handles.count > capacity else { return true }
    let idle = handles.values.filter { !$0.isCheckedOut }
    if let oldest = idle.min(by: { $0.lastUse < $1.lastUse }) {
      remove(oldest)
      oldest.finalize()
    }
    return true
  }

  /// Forgets the statements that are in use, and returns them.
  func removeCheckedOut() -> [StatementHandle] {
    let used = handles.values.filter(\.isCheckedOut)
    for handle in used { remove(handle) }
    return used
  }

  /// Finalizes all statements, between accesses: none is in use.
  func removeAll() {
    for handle in handles.values {
      handle.isCached = false
      handle.finalize()
    }
    handles.removeAll()
    recent = recent.map { _ in nil }
  }
}
