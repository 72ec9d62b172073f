/// A state of a database file, as far as others change it: other processes, and other databases of this
/// one. Two that differ say that others have committed between them, or may have.
package struct ForeignVersion: Hashable, Sendable {
  /// Which of the database's connections was asked: each counts on its own.
  fileprivate let opening: Int
  fileprivate let data: Int64
}

extension Database {
  /// The state now, if nobody uses the connection that writes (`PRAGMA data_version`).
  ///
  /// This waits for nobody. It blocks the thread for a query without rows, or for the opening of the
  /// connection if that was closed.
  ///
  /// - Returns: Nil if it is not to be had at once, for whatever reason.
  package func foreignVersionAtOnce() -> ForeignVersion? {
    let access = Access(scope: .bare, cancellation: Cancellation(), deadline: nil)
    guard
      let grant = try? scheduler.grant(
        .write, thread: currentThread(), access.cancellation)
    else { return nil }
    return try? run(grant, access) { try $0.foreignVersion() }
  }

  /// The state now (`PRAGMA data_version`). It waits for its turn, however long that takes, and not for
  /// the locks of others.
  ///
  /// - Throws: ``SQLiteError``.
  package func foreignVersion() async throws -> ForeignVersion {
    let access = Access(scope: .bare, cancellation: Cancellation(), deadline: nil)
    return try await perform(access) { try $0.foreignVersion() }
  }
}

extension Connection {
  fileprivate func foreignVersion() throws -> ForeignVersion {
    let busyTimeout = interruption.busyTimeout
    let isSuspended = handle.authorizer?.isSuspended ?? false
    interruption.busyTimeout = .zero
    handle.authorizer?.isSuspended = true
    defer {
      interruption.busyTimeout = busyTimeout
      handle.authorizer?.isSuspended = isSuspended
    }
    let data = try firstRow("PRAGMA data_version", as: Int64.self) ?? 0
    return ForeignVersion(opening: opening, data: data)
  }
}
