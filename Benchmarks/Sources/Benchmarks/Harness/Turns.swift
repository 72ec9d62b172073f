/// The initial content of the database that a turn opens.
enum Start {
  /// The database of the items. Turns must not change it.
  case shared
  /// A copy of the database of the items.
  case copy
  /// A new database, created by an SQL script.
  case script(String)

  /// A new database with the empty table of the items.
  static let empty = Start.script(Item.createTable)
}

/// Creates a turn from its parts. Only `work` is measured.
///
/// Closes the store at the end, because a task or thread could otherwise release it later and close
/// it during the next turn.
///
/// - Parameters:
///   - open: Opens the database at a path.
///   - start: The initial content of the database.
///   - prepare: Creates the input of `work`.
///   - work: The measured operation.
///   - check: Returns a checksum of the output of `work`.
func turn<Store, Prepared, Output>(
  _ open: @escaping (String) throws -> Store, from start: Start = .shared,
  preparing prepare: @escaping (Store, Fixture) throws -> Prepared,
  _ work: @escaping (Store, Prepared) throws -> Output,
  checking check: @escaping (Output, Fixture) throws -> Checksum
) -> Turn {
  { trial in
    let fixture = trial.fixture
    let store = try open(try fixture.begin(start))
    let prepared = try prepare(store, fixture)
    let output = try trial.measure { try work(store, prepared) }
    let checksum = try check(output, fixture)
    try (store as? any Closable)?.close()
    return checksum
  }
}

/// Creates a turn that changes a copy of the items. Its checksum is computed from the stored items.
func changing<Store>(
  _ open: @escaping (String) throws -> Store, from start: Start = .copy,
  _ work: @escaping (Store, Fixture) throws -> Void
) -> Turn {
  turn(
    open, from: start, preparing: { $1 }, work, checking: { try $1.storedItems() })
}

/// Creates a turn that changes a copy of the items, using prepared input. Its checksum is computed
/// from the stored items.
func changing<Store, Prepared>(
  _ open: @escaping (String) throws -> Store, from start: Start = .copy,
  preparing prepare: @escaping (Store, Fixture) throws -> Prepared,
  _ work: @escaping (Store, Prepared) throws -> Void
) -> Turn {
  turn(open, from: start, preparing: prepare, work, checking: { try $1.storedItems() })
}

extension Fixture {
  /// Creates the initial database of a turn and returns its path.
  fileprivate func begin(_ start: Start) throws -> String {
    switch start {
    case .shared: return path
    case .copy: try copyToFresh()
    case .script(let script): try CConnection(path: freshPath).execute(script)
    }
    return freshPath
  }

  /// Returns the checksum of the stored items, read with the C functions on another connection.
  func storedItems() throws -> Checksum {
    Checksum(of: try CConnection(path: freshPath).fetch())
  }
}
