import GRDB

/// A case that inserts all rows into a new database in one transaction.
struct Insert: Case {
  let name = "insert"
  let summary = "insert all rows into a fresh database, in one transaction"

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: c, .statement: statement, .rows: rows, .record: record, .object: object,
      .grdbStatement: grdbStatement, .grdbRecord: grdbRecord, .grdbCodable: grdbCodable,
    ]
  }

  func c(_ trial: inout Trial) throws -> Checksum {
    let connection = try CConnection(path: trial.fixture.freshPath)
    try connection.execute(Item.createTable)
    let items = trial.fixture.items
    try trial.measure { try connection.insert(items) }
    return try stored(by: trial)
  }

  func grdbStatement(_ trial: inout Trial) throws -> Checksum {
    let queue = try freshQueue(trial)
    let items = trial.fixture.items
    try trial.measure {
      try queue.write { database in
        let statement = try database.makeStatement(sql: Item.insert)
        for item in items {
          try statement.execute(arguments: item.arguments)
        }
      }
    }
    return try stored(by: trial)
  }

  func grdbRecord(_ trial: inout Trial) throws -> Checksum {
    let queue = try freshQueue(trial)
    let records = trial.fixture.items.map(ItemRecord.init)
    try trial.measure {
      try queue.write { database in
        for record in records { try record.insert(database) }
      }
    }
    return try stored(by: trial)
  }

  func grdbCodable(_ trial: inout Trial) throws -> Checksum {
    let queue = try freshQueue(trial)
    let items = trial.fixture.items
    try trial.measure {
      try queue.write { database in
        for item in items { try item.insert(database) }
      }
    }
    return try stored(by: trial)
  }

  private func freshQueue(_ trial: Trial) throws -> DatabaseQueue {
    let queue = try DatabaseQueue(settingsAt: trial.fixture.freshPath)
    try queue.write { try $0.execute(sql: Item.createTable) }
    return queue
  }

  /// Returns the checksum of the stored items, read with the C functions on another connection.
  func stored(by trial: Trial) throws -> Checksum {
    try trial.fixture.storedItems()
  }
}
