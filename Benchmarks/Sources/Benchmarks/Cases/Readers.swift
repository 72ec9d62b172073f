import CSQLite
import Foundation
import GRDB
import SQLiteCore
import SQLiteMapping

/// A case that reads on zero or more threads, with or without a concurrent writer that never
/// pauses.
struct Readers: Case {
  let name: String
  let summary: String
  /// The number of reading threads.
  let readers: Int
  let hasWriter: Bool

  static let all = [
    Readers(readers: 0, hasWriter: true), Readers(readers: 1, hasWriter: false),
    Readers(readers: 1, hasWriter: true), Readers(readers: 2, hasWriter: true),
  ]

  private init(readers: Int, hasWriter: Bool) {
    self.readers = readers
    self.hasWriter = hasWriter
    name = hasWriter ? "readers-\(readers)" : "readers-alone-\(readers)"
    summary =
      readers == 0
      ? "a writer alone: transactions of 20 updates"
      : "read 100 rows at a time on \(readers) threads, "
        + (hasWriter ? "with a busy writer" : "without a writer")
  }

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: raceInC,
      .statement: race(
        sharing: openDatabase,
        read: { database, key in
          try database.read { connection in
            var statement = try connection.statement(SQLiteCore.SQL(unchecked: Self.select))
            try statement.bind(key, at: 1)
            try statement.bind(key + 100, at: 2)
            var items: [Item] = []
            while try statement.step() { items.append(try Item(statement)) }
            return items
          }
        },
        write: { database, keys in
          try database.write { connection in
            var statement = try connection.statement(SQLiteCore.SQL(unchecked: Self.update))
            for key in keys { try statement.run(key) }
          }
        }),
      .record: race(
        sharing: openDatabase,
        read: { database, key in
          try database.read { try $0.fetch(.sql(Self.literal(key), as: Item.self)) }
        },
        write: { database, keys in
          try database.write { connection in
            for key in keys {
              try connection.executeChange(
                "UPDATE item SET quantity = quantity WHERE id = \(key)")
            }
          }
        }),
      .grdbStatement: race(
        sharing: openPool,
        read: { pool, key in
          try pool.read { database in
            let statement = try database.cachedStatement(sql: Self.select)
            let rows = try Row.fetchCursor(statement, arguments: [key, key + 100])
            var items: [Item] = []
            while let row = try rows.next() { items.append(ItemRecord(row: row).item) }
            return items
          }
        },
        write: { pool, keys in
          try pool.write { database in
            let statement = try database.cachedStatement(sql: Self.update)
            for key in keys { try statement.execute(arguments: [key]) }
          }
        }),
      .grdbCodable: race(
        sharing: openPool,
        read: { pool, key in
          try pool.read { database in
            try Item.fetchAll(
              database.cachedStatement(sql: Self.select), arguments: [key, key + 100])
          }
        },
        write: { pool, keys in
          try pool.write { database in
            for key in keys {
              try database.execute(
                sql: "UPDATE item SET quantity = quantity WHERE id = ?", arguments: [key])
            }
          }
        }),
    ]
  }

  func operations(on fixture: Fixture) -> Int { max(100, fixture.items.count / 100) }

  private static let select = """
    SELECT id, name, quantity, price, isActive, note, rating, payload FROM item
    WHERE id >= ? AND id < ? ORDER BY id
    """
  /// Writes a page without changing the values that readers see.
  private static let update = "UPDATE item SET quantity = quantity WHERE id = ?"

  private static func literal(_ key: Int64) -> SQLiteCore.SQL {
    """
    SELECT id, name, quantity, price, isActive, note, rating, payload FROM item
    WHERE id >= \(key) AND id < \(key + 100) ORDER BY id
    """
  }

  /// The work of a reading thread: returns the rows from a key on.
  private typealias Read = (Int64) throws -> [Item]
  /// The work of the writing thread: updates the rows with the given keys in one transaction.
  private typealias Write = (ArraySlice<Int64>) throws -> Void

  private func race<Store: Sendable>(
    sharing open: @escaping (String) throws -> Store,
    read: @escaping @Sendable (Store, Int64) throws -> [Item],
    write: @escaping @Sendable (Store, ArraySlice<Int64>) throws -> Void
  ) -> Turn {
    { trial in
      try trial.fixture.copyToFresh()
      let store = try open(trial.fixture.freshPath)
      let checksum = try run(
        &trial, reader: { { try read(store, $0) } }, writer: { { try write(store, $0) } })
      try (store as? any Closable)?.close()
      return checksum
    }
  }

  /// Runs the threads in C. Each thread has its own connection.
  private func raceInC(_ trial: inout Trial) throws -> Checksum {
    try trial.fixture.copyToFresh()
    let path = trial.fixture.freshPath
    return try run(
      &trial,
      reader: {
        let connection = try CConnection(path: path)
        let statement = try CStatement(Self.select, connection)
        return { key in
          try statement.reset()
          try statement.bind(key, at: 1)
          try statement.bind(key + 100, at: 2)
          var items: [Item] = []
          while try statement.step() { items.append(try unsafe Item(statement.pointer)) }
          return items
        }
      },
      writer: {
        let connection = try CConnection(path: path)
        let statement = try CStatement(Self.update, connection)
        return { keys in
          try connection.execute("BEGIN IMMEDIATE")
          for key in keys {
            try statement.bind(key, at: 1)
            _ = try statement.step()
            try statement.reset()
          }
          try connection.execute("COMMIT")
        }
      })
  }

  /// Runs the threads until the readers are done. The writer runs during that time.
  private func run(
    _ trial: inout Trial, reader: @escaping @Sendable () throws -> Read,
    writer: @escaping @Sendable () throws -> Write
  ) throws -> Checksum {
    let fixture = trial.fixture
    let (count, readers) = (operations(on: fixture), readers)
    guard readers > 0 else {
      let write = try writer()
      try trial.measure {
        for number in 0..<count { try write(Self.keys(of: number, fixture)) }
      }
      return try fixture.storedItems()
    }
    let (reading, writing) = (ThreadGroup(), ThreadGroup())
    for _ in 0..<readers {
      reading.add(preparing: reader) { read in
        var checksum = Checksum()
        for number in 0..<count {
          for item in try read(fixture.keys[number % fixture.keys.count]) { checksum.add(item) }
        }
        return checksum
      }
    }
    if hasWriter {
      writing.add(preparing: writer) { write in
        var number = 0
        while !writing.isStopped {
          try write(Self.keys(of: number, fixture))
          number += 1
        }
        return Checksum()
      }
    }
    reading.waitUntilReady()
    writing.waitUntilReady()
    writing.start()
    let checksums = try trial.measure {
      reading.start()
      return try reading.finish()
    }
    writing.stop()
    _ = try writing.finish()
    return checksums.reduce(into: Checksum()) { $0.add($1) }
  }

  private static func keys(of number: Int, _ fixture: Fixture) -> ArraySlice<Int64> {
    let start = number * 20 % max(1, fixture.keys.count - 20)
    return fixture.keys[start..<min(start + 20, fixture.keys.count)]
  }
}
