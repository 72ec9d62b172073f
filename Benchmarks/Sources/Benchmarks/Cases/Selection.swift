import CSQLite
import Foundation
import GRDB
import MagicData
import SQLiteCore
import SQLiteMapping

/// A case that fetches a few rows with conditions, written in SQL or in the engine's query
/// language.
struct Selection: Case {
  let name = "filter"
  let summary =
    "fetch some rows with three conditions, in SQL or in the query language of the library"

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: selecting(openC, c), .statement: selecting(openDatabase, statement),
      .rows: selecting(openDatabase) { database, keys in
        try database.read { connection in
          try keys.map { key in
            try connection.rows(
              """
              SELECT id, name, quantity, price, isActive, note, rating, payload FROM item
              WHERE id >= \(key) AND id < \(key + 134) AND price > \(Self.price) ORDER BY id
              """, as: Int64.self, String.self, Int64.self, Double.self, Bool.self, String?.self,
              Double?.self, Data.self
            ).map(Item.init)
          }
        }
      },
      .record: selecting(openDatabase) { database, keys in
        try database.read { connection in
          try keys.map { key in
            try connection.objects(
              of: Item.self,
              where: "id >= \(key) AND id < \(key + 134) AND price > \(Self.price)",
              orderedBy: .column("id"))
          }
        }
      },
      .object: turn(
        openStore, preparing: { keys($1) },
        { magic, keys in try magic.database.read { _ in try keys.map(Self.objects(magic)) } },
        checking: { objects, _ in Checksum(of: objects.joined().map(Item.init)) }),
      .grdbStatement: selecting(openQueue) { queue, keys in
        try queue.read { database in
          let statement = try database.makeStatement(sql: Self.sql)
          return try keys.map { key in
            try Row.fetchAll(statement, arguments: [key, key + 134, Self.price])
              .map { ItemRecord(row: $0).item }
          }
        }
      },
      .grdbRecord: selecting(openQueue) { queue, keys in
        try queue.read { database in
          try keys.map { try Self.request(ItemRecord.all(), $0).fetchAll(database).map(\.item) }
        }
      },
      .grdbCodable: selecting(openQueue) { queue, keys in
        try queue.read { database in
          try keys.map { try Self.request(Item.all(), $0).fetchAll(database) }
        }
      },
    ]
  }

  func operations(on fixture: Fixture) -> Int { keys(fixture).count }

  static let price = 250_000.0
  private static let sql = """
    SELECT id, name, quantity, price, isActive, note, rating, payload FROM item
    WHERE id >= ? AND id < ? AND price > ? ORDER BY id
    """

  private func keys(_ fixture: Fixture) -> [Int64] {
    Array(fixture.keys.prefix(max(100, fixture.items.count / 40)))
  }

  private func selecting<Store>(
    _ open: @escaping (String) throws -> Store,
    _ work: @escaping (Store, [Int64]) throws -> [[Item]]
  ) -> Turn {
    turn(
      open, preparing: { keys($1) }, work,
      checking: { items, _ in Checksum(of: Array(items.joined())) })
  }

  // Returns a separate array for each selection, like the other engines, so that the benchmark
  // doesn't measure joining the arrays.
  private func c(_ connection: CConnection, _ keys: [Int64]) throws -> [[Item]] {
    try connection.execute("BEGIN")
    let statement = try unsafe connection.prepare(Self.sql)
    defer { unsafe sqlite3_finalize(statement) }
    let found = try keys.map { key in
      var items: [Item] = []
      try connection.check(unsafe sqlite3_bind_int64(statement, 1, key))
      try connection.check(unsafe sqlite3_bind_int64(statement, 2, key + 134))
      try connection.check(unsafe sqlite3_bind_double(statement, 3, Self.price))
      while try unsafe connection.step(statement) { items.append(try unsafe Item(statement)) }
      try connection.check(unsafe sqlite3_reset(statement))
      return items
    }
    try connection.execute("COMMIT")
    return found
  }

  private func statement(_ database: SQLiteCore.Database, _ keys: [Int64]) throws -> [[Item]] {
    try database.read { connection in
      try keys.map { key in
        var items: [Item] = []
        var statement = try connection.statement(SQLiteCore.SQL(unchecked: Self.sql))
        try statement.bind(key, at: 1)
        try statement.bind(key + 134, at: 2)
        try statement.bind(Self.price, at: 3)
        while try statement.step() { items.append(try Item(statement)) }
        return items
      }
    }
  }

  private static func request<Value>(
    _ all: QueryInterfaceRequest<Value>, _ key: Int64
  ) -> QueryInterfaceRequest<Value> {
    all.filter(
      GRDB.Column("id") >= key && GRDB.Column("id") < key + 134 && GRDB.Column("price") > price
    ).order(GRDB.Column("id"))
  }
}
