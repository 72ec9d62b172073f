import CSQLite
import GRDB
import MagicData
import SQLiteCore
import SQLiteMapping

/// A case that repeatedly opens a database, queries one row and closes the database.
///
/// Each engine only changes the settings that differ from its defaults, because applying settings
/// is part of the cost of opening. GRDB is represented by its pool, which like MagicData reads
/// concurrently with a writer.
struct Open: Case {
  let name = "open"
  let summary = "open a database in WAL mode, query one row by its key, and close it"

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: opening(c),
      .statement: opening { path, key in
        let database = try SQLiteCore.Database(path: path, options: Self.options)
        return try database.read { connection in
          var statement = try connection.statement(SQLiteCore.SQL(unchecked: Item.selectOne))
          try statement.bind(key, at: 1)
          return try statement.step() ? try Item(statement) : nil
        }
      },
      .record: opening { path, key in
        let database = try SQLiteCore.Database(path: path, options: Self.options)
        return try database.read { try $0.object(of: Item.self, ifPresent: key) }
      },
      .object: opening { path, key in
        let magic = try MagicData(path: path, options: Self.options)
        return Item(try magic.object(of: ItemObject.self, primary: Int(key)))
      },
      .grdbStatement: opening { path, key in
        let pool = try DatabasePool(path: path, configuration: Self.configuration)
        return try pool.read { database in
          try Row.fetchOne(database, sql: Item.selectOne, arguments: [key])
            .map { ItemRecord(row: $0).item }
        }
      },
      .grdbRecord: opening { path, key in
        let pool = try DatabasePool(path: path, configuration: Self.configuration)
        return try pool.read { try ItemRecord.fetchOne($0, key: key)?.item }
      },
      .grdbCodable: opening { path, key in
        let pool = try DatabasePool(path: path, configuration: Self.configuration)
        return try pool.read { try Item.fetchOne($0, key: key) }
      },
    ]
  }

  func operations(on fixture: Fixture) -> Int { keys(fixture).count }

  private static var options: SQLiteCore.Database.Options {
    var options = SQLiteCore.Database.Options()
    options.busyTimeout = .milliseconds(Pragmas.busyTimeout)
    options.synchronous = .normalLosesLastCommitsOnPowerCut
    return options
  }

  private static var configuration: Configuration {
    var configuration = Configuration()
    configuration.busyMode = .timeout(Double(Pragmas.busyTimeout) / 1_000)
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = 1") }
    return configuration
  }

  private func keys(_ fixture: Fixture) -> ArraySlice<Int64> {
    fixture.keys.prefix(max(10, fixture.items.count / 8_000))
  }

  private func opening(_ query: @escaping (String, Int64) throws -> Item?) -> Turn {
    turn(
      { $0 }, preparing: { _, fixture in keys(fixture) },
      { path, keys in try keys.compactMap { try query(path, $0) } },
      checking: { items, _ in Checksum(of: items) })
  }

  private func c(_ path: String, _ key: Int64) throws -> Item? {
    let connection = try CConnection(
      path: path,
      settings: """
        PRAGMA busy_timeout = \(Pragmas.busyTimeout); PRAGMA journal_mode = wal;
        PRAGMA synchronous = 1; PRAGMA foreign_keys = 1
        """)
    let statement = try unsafe connection.prepare(Item.selectOne)
    defer { unsafe sqlite3_finalize(statement) }
    try connection.check(unsafe sqlite3_bind_int64(statement, 1, key))
    return try unsafe connection.step(statement) ? try unsafe Item(statement) : nil
  }
}
