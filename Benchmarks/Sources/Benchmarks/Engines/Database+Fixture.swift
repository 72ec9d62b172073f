import SQLiteCore

extension Database {
  /// Opens the database at `path` with the settings that all engines use.
  ///
  /// - Parameter isDurable: Whether each commit waits for the disk.
  convenience init(settingsAt path: String, isDurable: Bool = false) throws {
    try self.init(path: path, options: .settings(isDurable: isDurable))
  }

  /// Opens the database of `fixture` and reads it into the cache.
  convenience init(warm fixture: Fixture) throws {
    try self.init(settingsAt: fixture.path)
    _ = try executeQuery(SQL(unchecked: Item.warm))
  }
}

extension Database.Options {
  /// Returns the settings that all engines use.
  static func settings(isDurable: Bool = false) -> Database.Options {
    var options = Database.Options()
    options.busyTimeout = .milliseconds(Pragmas.busyTimeout)
    if !isDurable { options.synchronous = .normalLosesLastCommitsOnPowerCut }
    options.prepareConnection = { try $0.applySettings(isDurable: isDurable) }
    return options
  }
}

extension Connection {
  fileprivate func applySettings(isDurable: Bool) throws {
    for setting in Pragmas.statements(isDurable: isDurable) {
      var statement = try statement(SQL(unchecked: setting))
      try statement.run()
    }
    try Pragmas.check(isDurable: isDurable) { query in
      var statement = try statement(SQL(unchecked: query))
      return try statement.step() ? try statement.text(at: 0) : nil
    }
  }
}
