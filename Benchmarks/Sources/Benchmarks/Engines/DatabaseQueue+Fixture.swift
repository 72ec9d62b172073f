import GRDB

extension Configuration {
  /// Returns the settings that all engines use.
  static func settings(isDurable: Bool = false) -> Configuration {
    var configuration = Configuration()
    // In addition to the pragma, because GRDB runs statements before it prepares the connection.
    configuration.busyMode = .timeout(Double(Pragmas.busyTimeout) / 1_000)
    configuration.prepareDatabase { database in
      try database.execute(sql: Pragmas.script(isDurable: isDurable))
      try Pragmas.check(isDurable: isDurable) { try String.fetchOne(database, sql: $0) }
    }
    return configuration
  }
}

extension DatabaseQueue {
  /// Opens the database at `path` with the settings that all engines use.
  ///
  /// - Parameter isDurable: Whether each commit waits for the disk.
  convenience init(settingsAt path: String, isDurable: Bool = false) throws {
    try self.init(path: path, configuration: .settings(isDurable: isDurable))
  }

  /// Opens the database of `fixture` and reads it into the cache.
  convenience init(warm fixture: Fixture) throws {
    try self.init(settingsAt: fixture.path)
    _ = try inDatabase { try Int.fetchOne($0, sql: Item.warm) }
  }
}
