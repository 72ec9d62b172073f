import CSQLite
import GRDB
import MagicData
import SQLiteCore
import SQLiteMapping

/// A case that fetches pages of 50 rows. Each page is a separate query in its own read transaction.
struct Page: Case {
  let name = "page"
  let summary = "fetch the 50 rows after a key, in a separate read"

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: fetching(openC, c),
      .record: fetching(openDatabase) { database, keys in
        try keys.map { key in
          try database.read { connection in
            try connection.objects(
              of: Item.self, where: "id > \(key)", orderedBy: .column("id"), limit: 50)
          }
        }
      },
      .object: turn(
        openStore, preparing: { keys($1) },
        { magic, keys in try keys.map(Self.objects(magic)) },
        checking: { objects, _ in Checksum(of: objects.joined().map(Item.init)) }),
      .grdbRecord: fetching(openQueue) { queue, keys in
        try keys.map { key in
          try queue.read { database in
            try ItemRecord.all().filter(GRDB.Column("id") > key).order(GRDB.Column("id")).limit(50)
              .fetchAll(database).map(\.item)
          }
        }
      },
    ]
  }

  func operations(on fixture: Fixture) -> Int { keys(fixture).count }

  private func keys(_ fixture: Fixture) -> [Int64] {
    // Key 0, so that the first page contains the first item, which can have wrong values.
    [0] + fixture.keys.prefix(max(100, fixture.items.count / 40))
  }

  private func fetching<Store>(
    _ open: @escaping (String) throws -> Store,
    _ work: @escaping (Store, [Int64]) throws -> [[Item]]
  ) -> Turn {
    turn(
      open, preparing: { keys($1) }, work,
      checking: { items, _ in Checksum(of: Array(items.joined())) })
  }

  private func c(_ connection: CConnection, _ keys: [Int64]) throws -> [[Item]] {
    let statement = try unsafe connection.prepare(
      """
      SELECT id, name, quantity, price, isActive, note, rating, payload FROM item
      WHERE id > ? ORDER BY id LIMIT 50
      """)
    defer { unsafe sqlite3_finalize(statement) }
    return try keys.map { key in
      var items: [Item] = []
      try connection.check(unsafe sqlite3_bind_int64(statement, 1, key))
      while try unsafe connection.step(statement) { items.append(try unsafe Item(statement)) }
      try connection.check(unsafe sqlite3_reset(statement))
      return items
    }
  }
}
