import CSQLite
import Synchronization

/// Bodies of layers above, in the order in which they were added, each as long as its registration lives.
final class Registry<Body: Sendable>: Sendable {
  private struct State: Sendable {
    var bodies: [UInt64: Body] = [:]
    var lastID: UInt64 = 0
  }

  private let state = Mutex(State())

  var bodies: [Body] {
    state.withLock { $0.bodies }.sorted { $0.key < $1.key }.map(\.value)
  }

  func add(_ body: Body) -> Registration {
    let id = state.withLock { state in
      state.lastID += 1
      state.bodies[state.lastID] = body
      return state.lastID
    }
    return Registration { [self] in
      // It goes outside the lock, and what it holds with it.
      _ = state.withLock { $0.bodies.removeValue(forKey: id) }
    }
  }
}

/// Ends what was registered when it goes.
package final class Registration: Sendable {
  private let end: @Sendable () -> Void

  fileprivate init(end: @escaping @Sendable () -> Void) {
    self.end = end
  }

  deinit { end() }
}

/// What layers above set up on the connection that writes, whenever that is opened.
typealias WriterSetups = Registry<@Sendable (Connection) throws -> Void>

extension Database {
  /// Runs `body` on the connection that writes, now and whenever it is opened anew.
  ///
  /// For what belongs to a connection and not to the file: functions, temporary triggers.
  ///
  /// - Parameter body: Sets the connection up, outside any transaction.
  /// - Returns: What keeps the setup alive. What it has made on the present connection stays.
  package func setUpWriter(
    _ body: @escaping @Sendable (Connection) throws -> Void
  ) throws -> Registration {
    let setup = file.writerSetups.add(body)
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
