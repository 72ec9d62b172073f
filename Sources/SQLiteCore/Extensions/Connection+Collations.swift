import CSQLite

/// A collation, owned by SQLite.
private final class Collation {
  let compare: (String, String) -> Int

  init(_ compare: @escaping (String, String) -> Int) {
    self.compare = compare
  }
}

extension Connection {
  /// Makes a Swift closure a collation of SQL on this connection.
  ///
  ///     try connection.addCollation("byLength") { $0.utf8.count - $1.utf8.count }
  ///
  /// Each connection of a pool needs the collation: add it in
  /// ``Database/Options/prepareConnection``. An index that uses it is damaged if the order changes.
  ///
  /// - Parameters:
  ///   - name: The collation's name.
  ///   - compare: Returns a negative number if the first text comes first, zero if both are equal,
  ///     else a positive number. It must order all texts the same way each time. Bytes that are not
  ///     valid UTF-8 arrive repaired.
  /// - Throws: ``SQLiteError`` if the name cannot be one, or if a statement is using the collation.
  public func addCollation(
    _ name: String, _ compare: @escaping @Sendable (String, String) -> Int
  ) throws(SQLiteError) {
    try checkFunctionName(name)
    let collation = unsafe Unmanaged.passRetained(Collation(compare))
    let code = unsafe sqlite3_create_collation_v2(
      handle.pointer, name, SQLITE_UTF8, collation.toOpaque(), callCollation, releaseObject)
    // Unlike functions, collations are not released if the call fails.
    if code != SQLITE_OK { unsafe collation.release() }
    try handle.check(code)
  }
}

private func callCollation(
  context: UnsafeMutableRawPointer?, firstCount: Int32, first: UnsafeRawPointer?,
  secondCount: Int32, second: UnsafeRawPointer?
) -> Int32 {
  guard let context = unsafe context else { return 0 }
  let collation = unsafe Unmanaged<Collation>.fromOpaque(context).takeUnretainedValue()
  let order = unsafe collation.compare(
    String(decoding: UnsafeRawBufferPointer(start: first, count: Int(firstCount)), as: UTF8.self),
    String(decoding: UnsafeRawBufferPointer(start: second, count: Int(secondCount)), as: UTF8.self))
  return Int32(order.signum())
}
