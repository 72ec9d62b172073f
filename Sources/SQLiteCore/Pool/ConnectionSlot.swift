import Synchronization

/// The slot for one connection: opened at first use, used by one access at a time.
final class ConnectionSlot: Sendable {
  private let stored = Mutex<Connection?>(nil)

  /// Lends the connection to an access, opening it if need be.
  ///
  /// Only the holder of the slot may call this: the scheduler gives it to one access at a time.
  func withConnection(
    open: () throws(SQLiteError) -> sending Connection,
    _ body: (Connection) throws -> Void
  ) throws {
    let lent = try presentConnection() ?? openedConnection(open)
    lent.beginAccess()
    defer {
      lent.endAccess()
      if !lent.isUsable { close() }
    }
    try lent.setUp()
    try body(lent)
  }

  /// Takes over the connection that writes from its slot, if it can read here. Only the holder of both slots may
  /// call this.
  func takeOver(_ writer: ConnectionSlot) {
    guard let connection = writer.presentConnection(), connection.becomeReader() else { return }
    let address = ConnectionSlot.retainedAddress(of: connection)
    writer.stored.withLock { $0 = nil }
    stored.withLock { $0 = address.flatMap(ConnectionSlot.connection) }
  }

  /// Whether no connection is open.
  var isEmpty: Bool { stored.withLock { $0 == nil } }

  /// Lends the connection to an access inside the one that runs on this thread.
  func withRunningConnection(_ body: (Connection) throws -> Void) throws {
    try body(connection())
  }

  /// Closes the connection. Only the holder of the slot may call this, or anybody while there is none.
  func close() {
    // Outside the lock: with the connection functions and other objects of the user's are released.
    let address = stored.withLock { connection in
      defer { connection = nil }
      return ConnectionSlot.retainedAddress(of: connection)
    }
    address.flatMap(ConnectionSlot.connection)?.close()
  }

  /// The stored connection, outside the lock.
  ///
  /// The compiler rightly does not let a lock's content out. Here the lock guards only the storing:
  /// the scheduler has given the slot to the access that runs on this thread, so nobody else uses
  /// or closes the connection until that access has ended.
  private func presentConnection() -> Connection? {
    stored.withLock { ConnectionSlot.retainedAddress(of: $0) }
      .flatMap(ConnectionSlot.connection)
  }

  private func connection() throws(SQLiteError) -> Connection {
    guard let connection = presentConnection() else {
      throw SQLiteError(.misuse, "the connection is closed")
    }
    return connection
  }

  /// Opens the connection outside the lock, since the user's preparation of it may use the database.
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
