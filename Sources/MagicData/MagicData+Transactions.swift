import SQLiteCore

extension MagicData {
  /// Runs several calls in one transaction, blocking the thread.
  ///
  ///     try magic.transaction {
  ///       try magic.update(order)
  ///       try magic.remove(cart)
  ///     }
  ///
  /// If `body` throws, nothing was saved or removed, and objects that were saved in it are as unsaved
  /// as before. Calls of this store in it must be the blocking ones, on the same thread: others wait
  /// for the transaction's end.
  ///
  /// - Parameter body: The calls.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, or ``SQLiteError``.
  public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    try database.write { _ in try body() }
  }
}

extension Array where Element: MagicObject {
  /// The objects that a condition holds for: a filter in memory, in Swift.
  ///
  /// A ``Filter`` given to the fetch finds them without fetching the others.
  ///
  /// - Parameter isIncluded: Says whether an object is wanted.
  public func `where`(_ isIncluded: (Element) throws -> Bool) rethrows -> [Element] {
    try filter(isIncluded)
  }
}
