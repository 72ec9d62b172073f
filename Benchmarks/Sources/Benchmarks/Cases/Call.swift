import CSQLite
import GRDB

/// A case that looks up single rows by key. Each lookup is a separate call in its own transaction.
struct Call: Case {
  let name = "call"
  let summary = "query one row by its key, each in a separate call and transaction"

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: c, .statement: statement, .rows: rows, .record: record, .object: object,
      .grdbRecord: grdbRecord,
    ]
  }

  func operations(on fixture: Fixture) -> Int { fixture.keys.count }

  private func c(_ trial: inout Trial) throws -> Checksum {
    let connection = try CConnection(path: trial.fixture.path)
    try connection.execute(Item.warm)
    let keys = trial.fixture.keys
    let items = try trial.measure {
      let statement = try unsafe connection.prepare(Item.selectOne)
      defer { unsafe sqlite3_finalize(statement) }
      var items: [Item] = []
      for key in keys {
        try connection.check(unsafe sqlite3_bind_int64(statement, 1, key))
        if try unsafe connection.step(statement) {
          items.append(try unsafe Item(statement))
        }
        try connection.check(unsafe sqlite3_reset(statement))
      }
      return items
    }
    return Checksum(of: items)
  }

  private func grdbRecord(_ trial: inout Trial) throws -> Checksum {
    let queue = try DatabaseQueue(warm: trial.fixture)
    let keys = trial.fixture.keys
    let records = try trial.measure {
      try keys.compactMap { key in
        try queue.read { try ItemRecord.fetchOne($0, key: key) }
      }
    }
    return Checksum(of: records.map(\.item))
  }
}
