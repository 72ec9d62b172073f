import Synchronization

/// A slot for one connection, which is opened at first use and used by one access at a time.
final class ConnectionSlot: Sendable {
  private let stored = Mutex<Connection?>(nil)

  /// Runs an access on the connection, after opening it if necessary.
  ///
  /// Call this only while holding the slot: the scheduler grants it to one access at a time.
  func withConnection(
    open: () throws(SQLiteError) -> sending Connection,
    _ body: (Connection) throws -> Void
  ) throws {
    let borrowed = try storedConnection() ?? openedConnection(open)
    borrowed.beginAccess()
    defer {
      borrowed.endAccess()
      if !borrowed.isUsable { close() }
    }
    try borrowed.setUp()
    try body(borrowed)
  }

  /// Moves the writer's connection from its slot to this one, if the connection can become a
  /// reader. Call this only while holding both slots.
  func takeOver(_ writer: ConnectionSlot) {
    guard let connection = writer.storedConnection(), connection.becomeReader() else { return }
    let address = ConnectionSlot.retainedAddress(of: connection)
    writer.stored.withLock { $0 = nil }
    stored.withLock { $0 = address.flatMap(ConnectionSlot.connection) }
  }

  /// Whether the slot has no open connection.
  var isEmpty: Bool { stored.withLock { $0 == nil } }

  /// Runs a nested access on the connection that the outer access on this thread uses. Throws
  /// ``ResultCode/misuse`` if the connection is closed.
  func withRunningConnection(_ body: (Connection) throws -> Void) throws {
    try body(connection())
  }

  /// Closes the connection. Call this only while holding the slot, or while no access can hold it.
  func close() {
    // Outside the lock, because closing releases the program's functions and other objects.
    let address = stored.withLock { connection in
      defer { connection = nil }
      return ConnectionSlot.retainedAddress(of: connection)
    }
    address.flatMap(ConnectionSlot.connection)?.close()
  }

  /// Returns the stored connection for use outside the lock.
  ///
  /// The compiler rightly keeps a mutex's content inside the lock. This lock, however, protects
  /// only the storage: the scheduler has granted the slot to the access that is running on this
  /// thread, so no other thread uses or closes the connection until the access ends.
  private func storedConnection() -> Connection? {
    stored.withLock { ConnectionSlot.retainedAddress(of: $0) }
      .flatMap(ConnectionSlot.connection)
  }

  private func connection() throws(SQLiteError) -> Connection {
    guard let connection = storedConnection() else {
      throw SQLiteError(.misuse, "the connection is closed")
    }
    return connection
  }

  /// Opens the connection outside the lock, because the program's `prepareConnection` may use the
  /// database.
  @inline(never)
  private func openedConnection(
    _ open: () throws(SQLiteError) -> sending Connection
  ) throws(SQLiteError) -> Connection {
    let fresh = ConnectionSlot.retainedAddress(of: try open())
    stored.withLock { $0 = fresh.flatMap(ConnectionSlot.connection) }
    return try connection()
  }

  private static func retainedAddress(of connection: Connection?) -> UInt? {
    connection.map { unsafe UInt(bitPattern: Unmanaged.passRetained($0).toOpaque()) }
  }

  private static func connection(retainedAt address: UInt) -> Connection? {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
    return unsafe Unmanaged<Connection>.fromOpaque(pointer).takeRetainedValue()
  }
}
