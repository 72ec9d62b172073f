import CSQLite
import MagicData
import SQLiteCore
import SQLiteMapping

/// A case that updates rows durably from concurrent tasks, with group commit.
///
/// Each task updates its own row repeatedly and waits until each update is durable. C commits the
/// updates one by one. The other libraries have no equivalent.
struct GroupCommits: Case {
  let name: String
  let summary: String
  /// The number of concurrent tasks.
  let tasks: Int
  /// The divisor of the number of updates. ``CommitEach`` runs only a part of them, because
  /// individual commits are slow.
  private let share: Int

  static let all = [GroupCommits(tasks: 100), GroupCommits(tasks: 10), GroupCommits(tasks: 1)]

  init(tasks: Int, share: Int = 1) {
    self.tasks = tasks
    self.share = share
    name = tasks == 100 ? "group-commit" : "group-commit-\(tasks)"
    summary = "durable updates by \(tasks) concurrent tasks: group commit, in C one commit each"
  }

  static let createTable = """
    CREATE TABLE counter (id INTEGER PRIMARY KEY, value INTEGER NOT NULL);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100)
    INSERT INTO counter SELECT i, 0 FROM n
    """
  static let update = "UPDATE counter SET value = value + ?2 WHERE id = ?1"

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: turn(
        { try CConnection(path: $0, isDurable: true) }, from: .script(Self.createTable),
        preparing: { $1 }, c, checking: { try stored($1) }),
      .statement: tasks(openDatabase) { database, task, value in
        try await database.writeInGroup { connection in
          var statement = try connection.statement(SQL(unchecked: Self.update))
          _ = try statement.run(task, value)
        }
      },
      .rows: tasks(openDatabase) { database, task, value in
        try await database.writeInGroup { connection in
          _ = try connection.executeChange(
            "UPDATE counter SET value = value + \(value) WHERE id = \(task)")
        }
      },
      .record: tasks(openDatabase) { database, task, value in
        try await database.writeInGroup { connection in
          guard var counter = try connection.object(of: Counter.self, ifPresent: task) else {
            throw Failure("counter \(task) is missing")
          }
          counter.value += value
          try connection.updateExisting(counter)
        }
      },
      .object: tasks(openMergingStore) { magic, task, value in
        let counter = try await magic.object(of: CounterObject.self, primary: Int(task))
        counter.value += value
        _ = try await magic.update(counter)
      },
    ]
  }

  func operations(on fixture: Fixture) -> Int { tasks * updates(fixture) }
  var maximumRuns: Int { 3 }

  /// Returns the speedup over individual commits, in C and with the same calls.
  func remark(on measurements: [Measurement]) -> String? {
    guard let merged = measurements.first(where: { $0.case == name && $0.engine == .statement })
    else { return nil }
    let times = fixed(1 / merged.ratioToC, digits: 0)
    let remark =
      "\(name): \(times) times as many durable updates (statement) as with single commits in C"
    let each = measurements.first {
      $0.case == CommitEach(tasks: tasks).name && $0.engine == .statement
    }
    guard let each else { return remark }
    let more = fixed(each.nanoseconds / merged.nanoseconds, digits: 0)
    return "\(remark), and \(more) times as many as with single commits by the same calls"
  }

  private func updates(_ fixture: Fixture) -> Int {
    max(1, min(100, fixture.items.count / 2_000) * (100 / tasks) / share)
  }

  func openDatabase(_ path: String) throws -> Database {
    try Database(settingsAt: path, isDurable: true)
  }

  private func openMergingStore(_ path: String) throws -> MagicData {
    var options = Database.Options.settings(isDurable: true)
    options.groupCommit.includesAsyncWrites = true
    return try MagicData(path: path, options: options)
  }

  func c(_ connection: CConnection, _ fixture: Fixture) throws {
    let statement = try CStatement(Self.update, connection)
    for _ in 0..<updates(fixture) {
      for task in 0..<tasks {
        try statement.bind(Int64(task + 1), at: 1)
        try statement.bind(Self.value(task, fixture), at: 2)
        _ = try statement.step()
        try statement.reset()
      }
    }
  }

  func tasks<Store: Sendable>(
    _ open: @escaping (String) throws -> Store,
    _ add: @escaping @Sendable (Store, Int64, Int64) async throws -> Void
  ) -> Turn {
    turn(
      open, from: .script(Self.createTable), preparing: { $1 },
      { store, fixture in
        let (tasks, updates) = (tasks, updates(fixture))
        try runBlocking {
          try await withThrowingTaskGroup { group in
            for task in 0..<tasks {
              let value = Self.value(task, fixture)
              group.addTask {
                for _ in 0..<updates { try await add(store, Int64(task + 1), value) }
              }
            }
            try await group.waitForAll()
          }
        }
      }, checking: { try stored($1) })
  }

  /// Returns the number that a task adds in each update.
  private static func value(_ task: Int, _ fixture: Fixture) -> Int64 {
    Int64(UInt16(truncatingIfNeeded: fixture.items[task].quantity))
  }

  func stored(_ fixture: Fixture) throws -> Checksum {
    let connection = try CConnection(path: fixture.freshPath)
    let statement = try CStatement("SELECT value FROM counter ORDER BY id", connection)
    var checksum = Checksum()
    while try statement.step() { checksum.add(unsafe sqlite3_column_int64(statement.pointer, 0)) }
    return checksum
  }
}

private struct Counter: Record {
  static let tableName = "counter"

  var id: Int64
  var value: Int64
}

struct CounterObject: MagicObject {
  static let tableName = "counter"

  @PrimaryMagicValue var id: Int
  @MagicValue var value: Int64

  init() {}
}
