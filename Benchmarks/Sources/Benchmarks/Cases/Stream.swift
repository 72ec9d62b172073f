import CSQLite
import GRDB
import SQLiteCore
import SQLiteMapping

/// A case that reads rows one by one without keeping them. It reads five times as many rows as the
/// other cases.
struct Stream: Case {
  let name = "stream"
  let summary = "read a million rows into structs one by one without keeping them"

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: streaming(openC) { connection, take in
        let statement = try unsafe connection.prepare(Item.selectAll)
        defer { unsafe sqlite3_finalize(statement) }
        while try unsafe connection.step(statement) { take(try unsafe Item(statement)) }
      },
      .statement: streaming(openDatabase) { database, take in
        try database.read { connection in
          try connection.forEachRow(SQLiteCore.SQL(unchecked: Item.selectAll)) { row in
            take(try Item(row))
          }
        }
      },
      .record: streaming(openDatabase) { database, take in
        try database.read { connection in
          try connection.forEach(.sql(SQLiteCore.SQL(unchecked: Item.selectAll), as: Item.self)) {
            take($0)
          }
        }
      },
      .grdbStatement: streaming(openQueue) { queue, take in
        try queue.read { database in
          let rows = try Row.fetchCursor(database, sql: Item.selectAll)
          while let row = try rows.next() { take(ItemRecord(row: row).item) }
        }
      },
      .grdbRecord: streaming(openQueue) { queue, take in
        try queue.read { database in
          let records = try ItemRecord.fetchCursor(database, sql: Item.selectAll)
          while let record = try records.next() { take(record.item) }
        }
      },
      .grdbCodable: streaming(openQueue) { queue, take in
        try queue.read { database in
          let items = try Item.fetchCursor(database, sql: Item.selectAll)
          while let item = try items.next() { take(item) }
        }
      },
    ]
  }

  func size(for rows: Int) -> Int { rows * 5 }
  var maximumRuns: Int { 3 }

  private func streaming<Store>(
    _ open: @escaping (String) throws -> Store,
    _ read: @escaping (Store, (Item) -> Void) throws -> Void
  ) -> Turn {
    turn(
      open, preparing: { _, _ in },
      { store, _ in
        var checksum = Checksum()
        try read(store) { checksum.add($0) }
        return checksum
      }, checking: { checksum, _ in checksum })
  }
}
