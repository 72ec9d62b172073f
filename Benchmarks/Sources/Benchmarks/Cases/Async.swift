import CSQLite
import Foundation
import GRDB
import MagicData
import SQLiteCore
import SQLiteMapping

/// A case that looks up single rows with asynchronous calls, compared with blocking C calls.
struct Async: Case {
  let name = "async"
  let summary = "query one row by its key with an asynchronous call, in C with a blocking call"

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: turn(
        openC, preparing: { _, fixture in keys(fixture) }, c,
        checking: { items, _ in Checksum(of: items) }),
      .statement: calling(openDatabase) { database, key in
        try await database.readBriefly { try Item.selected(by: key, on: $0) }
      },
      .rows: calling(openDatabase) { database, key in
        try await database.rows(
          """
          SELECT id, name, quantity, price, isActive, note, rating, payload FROM item
          WHERE id = \(key)
          """, as: Int64.self, String.self, Int64.self, Double.self, Bool.self, String?.self,
          Double?.self, Data.self
        ).first.map(Item.init)
      },
      .record: calling(openDatabase) { database, key in
        try await database.readBriefly { try $0.object(of: Item.self, ifPresent: key) }
      },
      .object: calling(openStore) {
        Item(try await $0.object(of: ItemObject.self, primary: Int($1)))
      },
      .grdbStatement: calling(openPool) { pool, key in
        try await pool.read { database in
          let statement = try database.cachedStatement(sql: Item.selectOne)
          return try Row.fetchOne(statement, arguments: [key]).map { ItemRecord(row: $0).item }
        }
      },
      .grdbRecord: calling(openPool) { pool, key in
        try await pool.read { try ItemRecord.fetchOne($0, key: key)?.item }
      },
      .grdbCodable: calling(openPool) { pool, key in
        try await pool.read { try Item.fetchOne($0, key: key) }
      },
    ]
  }

  func operations(on fixture: Fixture) -> Int { keys(fixture).count }

  fileprivate func keys(_ fixture: Fixture) -> [Int64] {
    Array(fixture.keys.prefix(max(100, fixture.items.count / 40)))
  }

  fileprivate func c(_ connection: CConnection, _ keys: [Int64]) throws -> [Item] {
    let statement = try unsafe connection.prepare(Item.selectOne)
    defer { unsafe sqlite3_finalize(statement) }
    return try keys.compactMap { key in
      try connection.check(unsafe sqlite3_bind_int64(statement, 1, key))
      defer { unsafe sqlite3_reset(statement) }
      return try unsafe connection.step(statement) ? try unsafe Item(statement) : nil
    }
  }

  fileprivate func calling<Store: Sendable>(
    _ open: @escaping (String) throws -> Store,
    _ query: @escaping @Sendable (Store, Int64) async throws -> Item?
  ) -> Turn {
    turn(
      open, preparing: { _, fixture in keys(fixture) },
      { store, keys in
        try runBlocking {
          var items: [Item] = []
          for key in keys { if let item = try await query(store, key) { items.append(item) } }
          return items
        }
      }, checking: { items, _ in Checksum(of: items) })
  }
}

/// A case that looks up rows like ``Async``, but with `read`, whose closure always runs on another
/// thread.
struct AsyncRead: Case {
  let name = "async-read"
  let summary = "like async, with a read on a thread of the database"
  private let base = Async()

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: turn(
        openC, preparing: { _, fixture in base.keys(fixture) }, base.c,
        checking: { items, _ in Checksum(of: items) }),
      .statement: base.calling(openDatabase) { database, key in
        try await database.read { try Item.selected(by: key, on: $0) }
      },
    ]
  }

  func operations(on fixture: Fixture) -> Int { base.operations(on: fixture) }
}

extension Item {
  /// Fetches the row with a key, or returns nil if it doesn't exist.
  static func selected(by key: Int64, on connection: Connection) throws -> Item? {
    var statement = try connection.statement(SQLiteCore.SQL(unchecked: selectOne))
    try statement.bind(key, at: 1)
    return try statement.step() ? try Item(statement) : nil
  }
}
