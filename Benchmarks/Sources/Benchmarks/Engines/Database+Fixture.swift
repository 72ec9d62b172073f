import SQLiteCore

extension Database {
  /// Opens the database at `path` with the settings of all engines.
  convenience init(settingsAt path: String) throws {
    var options = Options()
    options.synchronous = .normalLosesLastCommitsOnPowerCut
    options.prepareConnection = { try $0.applySettings() }
    try self.init(path: path, options: options)
  }

  /// Opens the database of `fixture` and reads it into the cache.
  convenience init(warm fixture: Fixture) throws {
    try self.init(settingsAt: fixture.path)
    _ = try firstRow(SQL(unchecked: Item.warm))
  }
}

extension Connection {
  func applySettings() throws {
    for setting in Pragmas.statements {
      var statement = try statement(SQL(unchecked: setting))
      try statement.run()
    }
    try Pragmas.check { query in
      var statement = try statement(SQL(unchecked: query))
      return try statement.step() ? try statement.text(at: 0) : nil
    }
  }
}
