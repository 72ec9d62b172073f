import CSQLite
import Synchronization

/// What layers above set up on the connection that writes, whenever that is opened.
final class WriterSetups: Sendable {
  typealias Setup = @Sendable (Connection) throws -> Void

  private struct State: Sendable {
    var setups: [UInt64: Setup] = [:]
    var lastID: UInt64 = 0
  }

  private let state = Mutex(State())

  func add(_ body: @escaping Setup) -> UInt64 {
    state.withLock { state in
      state.lastID += 1
      state.setups[state.lastID] = body
      return state.lastID
    }
  }

  func remove(_ id: UInt64) {
    // It goes outside the lock, and what it holds with it.
    _ = state.withLock { $0.setups.removeValue(forKey: id) }
  }

  func run(on connection: Connection) throws {
    let setups = state.withLock { $0.setups }
    for (_, body) in setups.sorted(by: { $0.key < $1.key }) { try body(connection) }
  }
}

/// Ends a setup when it goes: later connections do without.
package final class WriterSetup: Sendable {
  private let setups: WriterSetups
  private let id: UInt64

  fileprivate init(_ setups: WriterSetups, _ body: @escaping WriterSetups.Setup) {
    self.setups = setups
    id = setups.add(body)
  }

  deinit { setups.remove(id) }
}

extension Database {
  /// Runs `body` on the connection that writes, now and whenever it is opened anew.
  ///
  /// For what belongs to a connection and not to the file: functions, temporary triggers.
  ///
  /// - Parameter body: Sets the connection up, outside any transaction.
  /// - Returns: What keeps the setup alive. What it has made on the present connection stays.
  package func setUpWriter(
    _ body: @escaping @Sendable (Connection) throws -> Void
  ) throws -> WriterSetup {
    let setup = WriterSetup(file.writerSetups, body)
    try withoutTransaction { try body($0) }
    return setup
  }
}

extension Connection {
  /// Makes a function without arguments and value, for triggers, that is told its connection.
  ///
  /// - Parameters:
  ///   - name: The function's name.
  ///   - body: Runs in the middle of a statement: it may ask to be called after the commit, but may
  ///     run no SQL.
  package func addSignal(
    _ name: String, _ body: @escaping @Sendable (Connection) -> Void
  ) throws(SQLiteError) {
    // SQLite owns the function, and the connection owns SQLite's handle.
    let function = ScalarFunction { [weak self] _ in
      if let self { body(self) }
      return .null
    }
    try add(function, name, argumentCount: 0, SQLITE_UTF8 | SQLITE_INNOCUOUS)
  }
}
