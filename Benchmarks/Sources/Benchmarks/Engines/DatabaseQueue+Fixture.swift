import GRDB

extension DatabaseQueue {
  /// Opens the database at `path` with the settings of all engines.
  convenience init(settingsAt path: String) throws {
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: Pragmas.script) }
    try self.init(path: path, configuration: configuration)
    try inDatabase { database in
      try Pragmas.check { try String.fetchOne(database, sql: $0) }
    }
  }

  /// Opens the database of `fixture` and reads it into the cache.
  convenience init(warm fixture: Fixture) throws {
    try self.init(settingsAt: fixture.path)
    _ = try inDatabase { try Int.fetchOne($0, sql: Item.warm) }
  }
}
