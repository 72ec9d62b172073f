import GRDB
import MagicData
import SQLiteCore
import SQLiteMapping

/// A case that runs a tenth of the updates of ``GroupCommits``, with an individual commit for each
/// update.
struct CommitEach: Case {
  let name: String
  let summary: String
  private let group: GroupCommits

  static let all = [CommitEach(tasks: 100), CommitEach(tasks: 10), CommitEach(tasks: 1)]

  init(tasks: Int) {
    group = GroupCommits(tasks: tasks, share: 10)
    name = tasks == 100 ? "commit-each" : "commit-each-\(tasks)"
    summary = "durable updates by \(tasks) concurrent tasks, one commit each"
  }

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: turn(
        { try CConnection(path: $0, isDurable: true) }, from: .script(GroupCommits.createTable),
        preparing: { $1 }, group.c, checking: { try group.stored($1) }),
      .statement: group.tasks(group.openDatabase) { database, task, value in
        try await database.write { connection in
          var statement = try connection.statement(SQLiteCore.SQL(unchecked: GroupCommits.update))
          _ = try statement.run(task, value)
        }
      },
      .object: group.tasks({ try MagicData(settingsAt: $0, isDurable: true) }) {
        magic, task, value in
        let counter = try await magic.object(of: CounterObject.self, primary: Int(task))
        counter.value += value
        _ = try await magic.update(counter)
      },
      .grdbStatement: group.tasks({ try DatabaseQueue(settingsAt: $0, isDurable: true) }) {
        queue, task, value in
        try await queue.write { database in
          try database.cachedStatement(sql: GroupCommits.update).execute(arguments: [task, value])
        }
      },
    ]
  }

  func operations(on fixture: Fixture) -> Int { group.operations(on: fixture) }
  var maximumRuns: Int { 3 }
}
