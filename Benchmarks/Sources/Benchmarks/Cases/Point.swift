import CSQLite
import GRDB

/// A case that looks up single rows by random keys, all in one transaction.
struct Point: Case {
  let name = "point"
  let summary = "query one row by its key into a struct, for random keys"

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: c, .statement: statement, .rows: rows, .record: record, .object: object,
      .grdbStatement: grdbStatement, .grdbRecord: grdbRecord, .grdbCodable: grdbCodable,
    ]
  }

  func operations(on fixture: Fixture) -> Int { fixture.keys.count }

  private func c(_ trial: inout Trial) throws -> Checksum {
    let connection = try CConnection(path: trial.fixture.path)
    try connection.execute(Item.warm)
    let keys = trial.fixture.keys
    let items = try trial.measure {
      try connection.execute("BEGIN")
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
      try connection.execute("COMMIT")
      return items
    }
    return Checksum(of: items)
  }

  private func grdbStatement(_ trial: inout Trial) throws -> Checksum {
    let queue = try DatabaseQueue(warm: trial.fixture)
    let keys = trial.fixture.keys
    let items = try trial.measure {
      try queue.read { database in
        let statement = try database.makeStatement(sql: Item.selectOne)
        var items: [Item] = []
        for key in keys {
          let rows = try Row.fetchCursor(statement, arguments: [key])
          if let row = try rows.next() {
            items.append(ItemRecord(row: row).item)
          }
        }
        return items
      }
    }
    return Checksum(of: items)
  }

  private func grdbRecord(_ trial: inout Trial) throws -> Checksum {
    let queue = try DatabaseQueue(warm: trial.fixture)
    let keys = trial.fixture.keys
    let records = try trial.measure {
      try queue.read { database in
        try keys.compactMap { try ItemRecord.fetchOne(database, key: $0) }
      }
    }
    return Checksum(of: records.map(\.item))
  }

  private func grdbCodable(_ trial: inout Trial) throws -> Checksum {
    let queue = try DatabaseQueue(warm: trial.fixture)
    let keys = trial.fixture.keys
    let items = try trial.measure {
      try queue.read { database in
        try keys.compactMap { try Item.fetchOne(database, key: $0) }
      }
    }
    return Checksum(of: items)
  }
}
