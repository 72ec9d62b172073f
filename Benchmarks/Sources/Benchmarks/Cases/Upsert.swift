import GRDB
import MagicData
import SQLiteCore
import SQLiteMapping

/// A case that writes rows, half of which already exist.
struct Upsert: Case {
  let name = "upsert"
  let summary = "insert or update a quarter of the rows, half of them new, in one transaction"

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: changing(openC) { try $0.write(items($1), by: Item.upsert) },
      .statement: changing(openDatabase) { try $0.write(items($1), by: Item.upsert) },
      .rows: changing(openDatabase, upsertByLiterals),
      .record: changing(openDatabase) { database, fixture in
        _ = try database.write { try $0.update(contentsOf: items(fixture)) }
      },
      .object: changing(openStore, preparing: { items($1).map(ItemObject.init) }) {
        _ = try $0.update($1)
      },
      .grdbStatement: changing(openQueue) { try $0.write(items($1), by: Item.upsert) },
      .grdbRecord: changing(openQueue, preparing: { items($1).map(ItemRecord.init) }) {
        try $0.forEach($1) { database in { try $0.upsert(database) } }
      },
      .grdbCodable: changing(openQueue) {
        try $0.forEach(items($1)) { database in { try $0.upsert(database) } }
      },
    ]
  }

  func operations(on fixture: Fixture) -> Int { fixture.changes.count }

  /// Returns the changed items. Every other one has a new key.
  private func items(_ fixture: Fixture) -> [Item] {
    fixture.changes.enumerated().map { place, item in
      var item = item
      if place % 2 == 1 { item.id += Int64(fixture.items.count) }
      return item
    }
  }

  private func upsertByLiterals(_ database: SQLiteCore.Database, _ fixture: Fixture) throws {
    try database.write { connection in
      for item in items(fixture) {
        try connection.executeChange(
          """
          INSERT INTO item (id, name, quantity, price, isActive, note, rating, payload)
          VALUES (\(item.id), \(item.name), \(item.quantity), \(item.price), \(item.isActive),
            \(item.note), \(item.rating), \(item.payload))
          ON CONFLICT (id) DO UPDATE SET name = excluded.name, quantity = excluded.quantity,
            price = excluded.price, isActive = excluded.isActive, note = excluded.note,
            rating = excluded.rating, payload = excluded.payload
          """)
      }
    }
  }
}
