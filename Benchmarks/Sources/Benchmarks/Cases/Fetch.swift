import GRDB

/// A case that fetches all rows into an array of structs.
struct Fetch: Case {
  let name = "fetch"
  let summary = "fetch all rows into an array of structs"

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: c, .statement: statement, .rows: rows, .record: record, .object: object,
      .grdbStatement: grdbStatement, .grdbRecord: grdbRecord, .grdbCodable: grdbCodable,
    ]
  }

  func c(_ trial: inout Trial) throws -> Checksum {
    let connection = try CConnection(path: trial.fixture.path)
    try connection.execute(Item.warm)
    let items = try trial.measure { try connection.fetch() }
    return Checksum(of: items)
  }

  func grdbStatement(_ trial: inout Trial) throws -> Checksum {
    let queue = try DatabaseQueue(warm: trial.fixture)
    let items = try trial.measure {
      try queue.read { database in
        let rows = try Row.fetchCursor(database, sql: Item.selectAll)
        var items: [Item] = []
        while let row = try rows.next() {
          items.append(ItemRecord(row: row).item)
        }
        return items
      }
    }
    return Checksum(of: items)
  }

  func grdbRecord(_ trial: inout Trial) throws -> Checksum {
    let queue = try DatabaseQueue(warm: trial.fixture)
    let records = try trial.measure {
      try queue.read { try ItemRecord.fetchAll($0, sql: Item.selectAll) }
    }
    return Checksum(of: records.map(\.item))
  }

  func grdbCodable(_ trial: inout Trial) throws -> Checksum {
    let queue = try DatabaseQueue(warm: trial.fixture)
    let items = try trial.measure {
      try queue.read { try Item.fetchAll($0, sql: Item.selectAll) }
    }
    return Checksum(of: items)
  }
}
