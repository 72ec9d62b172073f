/// The content of the database that a turn opens.
enum Start {
  /// The database of the items, which stays as it is.
  case shared
  /// A copy of it.
  case copy
  /// A fresh one, by this script.
  case script(String)

  /// The empty table of the items.
  static let empty = Start.script(Item.createTable)
}

/// Makes a turn of its parts: opening and preparing, which are not timed, the work, which is, and the
/// checksum of what came of it. The store is closed at its end: a task or a thread may let go of it
/// later, and would close it beside the next turn.
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

/// Makes a turn that changes a copy of the items.
func changing<Store>(
  _ open: @escaping (String) throws -> Store, from start: Start = .copy,
  _ work: @escaping (Store, Fixture) throws -> Void
) -> Turn {
  turn(
    open, from: start, preparing: { $1 }, work, checking: { try $1.storedItems() })
}

/// Makes a turn that changes a copy of the items by what was prepared.
func changing<Store, Prepared>(
  _ open: @escaping (String) throws -> Store, from start: Start = .copy,
  preparing prepare: @escaping (Store, Fixture) throws -> Prepared,
  _ work: @escaping (Store, Prepared) throws -> Void
) -> Turn {
  turn(open, from: start, preparing: prepare, work, checking: { try $1.storedItems() })
}

extension Fixture {
  /// Makes what a turn starts from, and returns the database's path.
  fileprivate func begin(_ start: Start) throws -> String {
    switch start {
    case .shared: return path
    case .copy: try copyToFresh()
    case .script(let script): try CConnection(path: freshPath).execute(script)
    }
    return freshPath
  }

  /// Returns the checksum of what was written, read back by C calls on another connection.
  func storedItems() throws -> Checksum {
    Checksum(of: try CConnection(path: freshPath).fetch())
  }
}
