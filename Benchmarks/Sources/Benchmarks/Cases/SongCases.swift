import CSQLite
import MagicData

/// The cases that fetch values instead of objects.
let songCases: [any Case] = [SongValues(), SongGroups(), SongLookup()]

/// A case that fetches values through references, with a query in Swift and with the equivalent
/// SQL.
struct SongValues: Case {
  let name = "values"
  let summary = "fetch three columns with two joins"

  var engines: KeyValuePairs<Engine, Turn> { [.c: c, .object: object] }

  func operations(on fixture: Fixture) -> Int { Songs.count(in: fixture) }

  private func c(_ trial: inout Trial) throws -> Checksum {
    let connection = try CConnection(warm: Songs(trial.fixture))
    let rows = try trial.measure {
      let statement = try unsafe connection.prepare(
        """
        SELECT Song.title, Disc.title, Band.name FROM Song LEFT JOIN Disc ON Disc.id = Song.disc
        LEFT JOIN Band ON Band.id = Disc.band ORDER BY Song.id
        """)
      defer { unsafe sqlite3_finalize(statement) }
      var rows: [(String, String?, String?)] = []
      while try unsafe connection.step(statement) {
        rows.append(
          (
            try unsafe connection.text(statement, 0),
            try unsafe optionalText(connection, statement, 1),
            try unsafe optionalText(connection, statement, 2)
          ))
      }
      return rows
    }
    return Checksum(of: rows)
  }

  @unsafe private func optionalText(
    _ connection: CConnection, _ row: OpaquePointer, _ column: Int32
  ) throws -> String? {
    unsafe sqlite3_column_type(row, column) == SQLITE_NULL
      ? nil : try unsafe connection.text(row, column)
  }

  private func object(_ trial: inout Trial) throws -> Checksum {
    let magic = try MagicData(warm: Songs(trial.fixture))
    _ = try magic.fetch(SongObject.all.limit(1).values(\.$id))
    let rows = try trial.measure {
      try magic.fetch(SongObject.all.values(\.$title, \.$disc.$title, \.$disc.$band.$name))
    }
    return Checksum(of: rows)
  }
}

/// A case that counts and sums values in groups.
struct SongGroups: Case {
  let name = "groups"
  let summary = "count rows and sum values in 2,003 groups"

  var engines: KeyValuePairs<Engine, Turn> { [.c: c, .object: object] }

  func operations(on fixture: Fixture) -> Int { Songs.count(in: fixture) }

  private func c(_ trial: inout Trial) throws -> Checksum {
    let connection = try CConnection(warm: Songs(trial.fixture))
    let groups = try trial.measure {
      let statement = try unsafe connection.prepare(
        "SELECT genre, count(*), sum(seconds) FROM Song GROUP BY genre ORDER BY genre")
      defer { unsafe sqlite3_finalize(statement) }
      var groups: [(Int, Int, Int)] = []
      while try unsafe connection.step(statement) {
        groups.append(
          (
            Int(unsafe sqlite3_column_int64(statement, 0)),
            Int(unsafe sqlite3_column_int64(statement, 1)),
            Int(unsafe sqlite3_column_int64(statement, 2))
          ))
      }
      return groups
    }
    var checksum = Checksum()
    for group in groups { checksum.add(group.0, group.1, group.2) }
    return checksum
  }

  private func object(_ trial: inout Trial) throws -> Checksum {
    let magic = try MagicData(warm: Songs(trial.fixture))
    _ = try magic.fetch(SongObject.all.limit(1).values(\.$id))
    let groups = try trial.measure {
      try magic.fetch(SongObject.all.aggregate(.count, .sum(\.$seconds), by: \.$genre))
    }
    var checksum = Checksum()
    for group in groups { checksum.add(group.key, group.value.0, group.value.1) }
    return checksum
  }
}

/// A case that fetches one value at a time. C prepares its statement once, so the difference is the
/// cost of building the query in Swift and finding its cached statement.
struct SongLookup: Case {
  let name = "query"
  let summary = "fetch one value with a filter that is built for each call"

  var engines: KeyValuePairs<Engine, Turn> { [.c: c, .object: object] }

  func operations(on fixture: Fixture) -> Int { Songs.count(in: fixture) }

  private func c(_ trial: inout Trial) throws -> Checksum {
    let songs = try Songs(trial.fixture)
    let connection = try CConnection(warm: songs)
    let statement = try unsafe connection.prepare("SELECT seconds FROM Song WHERE id = ?")
    defer { unsafe sqlite3_finalize(statement) }
    let found = try trial.measure {
      var found: [Int] = []
      for id in 1...songs.count {
        try connection.check(unsafe sqlite3_bind_int64(statement, 1, Int64(id)))
        while try unsafe connection.step(statement) {
          found.append(Int(unsafe sqlite3_column_int64(statement, 0)))
        }
        try connection.check(unsafe sqlite3_reset(statement))
      }
      return found
    }
    return Checksum(of: found)
  }

  private func object(_ trial: inout Trial) throws -> Checksum {
    let songs = try Songs(trial.fixture)
    let magic = try MagicData(warm: songs)
    _ = try magic.fetch(SongObject.all.limit(1).values(\.$id))
    let found = try trial.measure {
      var found: [Int] = []
      for id in 1...songs.count {
        found += try magic.fetch(SongObject.where(\.$id == id).values(\.$seconds))
      }
      return found
    }
    return Checksum(of: found)
  }
}

extension CConnection {
  /// Opens the database of songs and reads it into the cache.
  fileprivate convenience init(warm songs: Songs) throws {
    try self.init(path: songs.path)
    for sql in Songs.warm { try execute(sql) }
  }
}

extension Checksum {
  fileprivate init(of rows: [(String, String?, String?)]) {
    self.init()
    for row in rows {
      add(row.0)
      for text in [row.1, row.2] { if let text { add(text) } else { addNull() } }
    }
  }

  fileprivate mutating func add(_ key: Int, _ count: Int, _ sum: Int) {
    for number in [key, count, sum] { add(Int64(number)) }
  }
}
