import CSQLite
import SQLiteCore

/// A case that repeatedly finds a statement in the cache by its SQL, compared with a statement that
/// the caller keeps.
struct Cache: Case {
  let name = "cache"
  let summary = "find a cached statement by its SQL and run it, in C keep the statement"

  var engines: KeyValuePairs<Engine, Turn> { [.c: c, .statement: statement] }

  private func c(_ trial: inout Trial) throws -> Checksum {
    let connection = try CConnection(path: trial.fixture.path)
    let items = trial.fixture.items
    return try trial.measure {
      let statement = try unsafe connection.prepare("SELECT ?1")
      defer { unsafe sqlite3_finalize(statement) }
      var checksum = Checksum()
      for item in items {
        try connection.check(unsafe sqlite3_bind_int64(statement, 1, item.quantity))
        if try unsafe connection.step(statement) {
          checksum.add(unsafe sqlite3_column_int64(statement, 0))
        }
        try connection.check(unsafe sqlite3_reset(statement))
      }
      return checksum
    }
  }

  private func statement(_ trial: inout Trial) throws -> Checksum {
    let database = try Database(settingsAt: trial.fixture.path)
    let items = trial.fixture.items
    return try trial.measure {
      try database.read { connection in
        var checksum = Checksum()
        for item in items {
          var statement = try connection.statement("SELECT ?1")
          try statement.bind(item.quantity, at: 1)
          if try statement.step() { checksum.add(statement.integer(at: 0)) }
        }
        return checksum
      }
    }
  }
}
