import CSQLite
import GRDB
import MagicData
import SQLiteCore
import SQLiteMapping

/// A case in which concurrent callers look up rows: suspending tasks, compared with the same number
/// of C threads with a connection each.
struct Callers: Case {
  let name: String
  let summary: String
  private let callers: Int

  static let all = [Callers(1), Callers(64)]

  private init(_ callers: Int) {
    self.callers = callers
    name = "callers-\(callers)"
    summary =
      "query one row by its key, each in a separate read, by \(callers) concurrent tasks, "
      + "in C by as many threads"
  }

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: threads,
      .statement: tasks(openDatabase) { database, key in
        try await database.readBriefly { try Item.selected(by: key, on: $0) }
      },
      .record: tasks(openDatabase) { database, key in
        try await database.readBriefly { try $0.object(of: Item.self, ifPresent: key) }
      },
      .object: tasks(openStore) {
        Item(try await $0.object(of: ItemObject.self, primary: Int($1)))
      },
      .grdbStatement: tasks(openPool) { pool, key in
        try await pool.read { database in
          let statement = try database.cachedStatement(sql: Item.selectOne)
          return try Row.fetchOne(statement, arguments: [key]).map { ItemRecord(row: $0).item }
        }
      },
    ]
  }

  func operations(on fixture: Fixture) -> Int { callers * each(fixture) }

  /// Returns the number of rows that each caller looks up.
  private func each(_ fixture: Fixture) -> Int {
    max(10, min(fixture.keys.count, fixture.items.count / 10) / callers)
  }

  private func threads(_ trial: inout Trial) throws -> Checksum {
    let fixture = trial.fixture
    let (path, each) = (fixture.path, each(fixture))
    let group = ThreadGroup()
    for caller in 0..<callers {
      group.add {
        let connection = try CConnection(path: path)
        return (connection, try CStatement(Item.selectOne, connection))
      } _: { _, statement in
        var checksum = Checksum()
        for number in 0..<each {
          try statement.bind(fixture.keys[(caller + number) % fixture.keys.count], at: 1)
          if try statement.step() { checksum.add(try unsafe Item(statement.pointer)) }
          try statement.reset()
        }
        return checksum
      }
    }
    group.waitUntilReady()
    return try Self.sum(
      trial.measure {
        group.start()
        return try group.finish()
      })
  }

  private func tasks<Store: Sendable>(
    _ open: @escaping (String) throws -> Store,
    _ query: @escaping @Sendable (Store, Int64) async throws -> Item?
  ) -> Turn {
    let callers = callers
    return turn(
      open, preparing: { _, fixture in fixture },
      { store, fixture in
        let each = each(fixture)
        return try runBlocking {
          try await withThrowingTaskGroup(of: (Int, Checksum).self) { group in
            for caller in 0..<callers {
              group.addTask {
                var checksum = Checksum()
                for number in 0..<each {
                  let key = fixture.keys[(caller + number) % fixture.keys.count]
                  if let item = try await query(store, key) { checksum.add(item) }
                }
                return (caller, checksum)
              }
            }
            var sums: [Int: Checksum] = [:]
            for try await (caller, checksum) in group { sums[caller] = checksum }
            return (0..<callers).compactMap { sums[$0] }
          }
        }
      }, checking: { sums, _ in Self.sum(sums) })
  }

  private static func sum(_ checksums: [Checksum]) -> Checksum {
    var sum = Checksum()
    for checksum in checksums { sum.add(checksum) }
    return sum
  }
}
