import CSQLite
import GRDB
import MagicData
import SQLiteCore
import SQLiteMapping

/// A case that inserts rows in separate transactions. Each commit waits for the disk.
struct DurableInsert: Case {
  let name = "durable-insert"
  let summary = "insert single rows, each in a separate transaction, synchronous FULL"

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: changing({ try CConnection(path: $0, isDurable: true) }, from: .empty) {
        connection, fixture in
        let statement = try unsafe connection.prepare(Item.insert)
        defer { unsafe sqlite3_finalize(statement) }
        for item in items(fixture) {
          try unsafe item.bind(to: statement, of: connection)
          _ = try unsafe connection.step(statement)
          try connection.check(unsafe sqlite3_reset(statement))
        }
      },
      .statement: changing(database, from: .empty) { database, fixture in
        for item in items(fixture) { try database.write([item], by: Item.insert) }
      },
      .rows: changing(database, from: .empty) { database, fixture in
        for item in items(fixture) {
          try database.executeChange(
            """
            INSERT INTO item (id, name, quantity, price, isActive, note, rating, payload)
            VALUES (\(item.id), \(item.name), \(item.quantity), \(item.price), \(item.isActive),
              \(item.note), \(item.rating), \(item.payload))
            """)
        }
      },
      .record: changing(database, from: .empty) { database, fixture in
        for item in items(fixture) { _ = try database.write { try $0.insert(item) } }
      },
      .object: changing(
        { try MagicData(settingsAt: $0, isDurable: true) }, from: .empty,
        preparing: { items($1).map(ItemObject.init) }
      ) { magic, objects in
        for object in objects { _ = try magic.update(object) }
      },
      .grdbStatement: changing(queue, from: .empty) { queue, fixture in
        for item in items(fixture) { try queue.write([item], by: Item.insert) }
      },
      .grdbRecord: changing(queue, from: .empty) { queue, fixture in
        for item in items(fixture) { try queue.write { try ItemRecord(item).insert($0) } }
      },
      .grdbCodable: changing(queue, from: .empty) { queue, fixture in
        for item in items(fixture) { try queue.write { try item.insert($0) } }
      },
    ]
  }

  func operations(on fixture: Fixture) -> Int { max(10, fixture.items.count / 2_000) }

  private func items(_ fixture: Fixture) -> ArraySlice<Item> {
    fixture.items.prefix(operations(on: fixture))
  }

  private func database(_ path: String) throws -> SQLiteCore.Database {
    try SQLiteCore.Database(settingsAt: path, isDurable: true)
  }

  private func queue(_ path: String) throws -> DatabaseQueue {
    try DatabaseQueue(settingsAt: path, isDurable: true)
  }
}
