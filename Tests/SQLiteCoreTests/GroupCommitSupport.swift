import Conformance
import Dispatch
import Foundation
import SQLiteCore
import Synchronization
import TestSupport
import Testing

/// What a write of a test does.
typealias Work = @Sendable (Connection) throws -> Int

extension GroupCommit {
  /// Takes in writes however slow the machine is.
  static var unhurried: GroupCommit {
    var groupCommit = GroupCommit()
    groupCommit.maximumDuration = .seconds(3_600)
    return groupCommit
  }
}

/// The commits of a database, counted by its trace.
final class CommitCount: Sendable {
  private let count = Atomic<Int>(0)
  /// Databases of a cluster, which count what they have committed.
  private let remotes = Mutex<[Database]>([])
  /// The connections to a cluster that were opened.
  private let connections = Atomic<Int>(0)

  /// Opens a database whose commits are counted.
  func database(_ path: String, _ groupCommit: GroupCommit = .unhurried) throws -> Database {
    guard Engine.current == .cluster else {
      return try Database(path: path, options: options(groupCommit))
    }
    var options = Database.Options()
    options.groupCommit = groupCommit
    options.prepareConnection = { [self] _ in connections.add(1, ordering: .relaxed) }
    let database = try Database.at(path, options: options)
    remotes.withLock { $0.append(database) }
    return database
  }

  /// Options whose connections are counted.
  func options(_ groupCommit: GroupCommit = .unhurried) -> Database.Options {
    var options = Database.Options()
    options.groupCommit = groupCommit
    options.prepareConnection = { [self] connection in
      try connection.trace { event in
        if event == .begins(sql: "COMMIT") { self.count.add(1, ordering: .relaxed) }
      }
    }
    return options
  }

  /// The numbers of commits and of connections at one moment.
  struct Mark {
    fileprivate let commits: Int
    fileprivate let connections: Int
  }

  /// The state now, once the connections of the databases are open.
  var mark: Mark {
    get throws {
      Mark(commits: try value, connections: connections.load(ordering: .relaxed))
    }
  }

  /// Expects so many commits since a mark. On a cluster whose leader was lost since then there may be others: the group
  /// that it had not committed runs again, and is committed in other parts.
  func expect(
    _ count: Int, since mark: Mark, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let found = try value - mark.commits
    if hasNewConnections(since: mark), found > 0 { return }
    #expect(found == count, sourceLocation: sourceLocation)
  }

  /// Whether a connection to a cluster was opened since a mark: it has replaced one that lost its leader.
  func hasNewConnections(since mark: Mark) -> Bool {
    connections.load(ordering: .relaxed) > mark.connections
  }

  private var value: Int {
    get throws {
      try remotes.withLock { $0 }.reduce(count.load(ordering: .relaxed)) {
        try $0
          + ($1.rows(
            "SELECT max(number) FROM \(identifier: Connection.tokenTable)", as: Int.self
          ).first ?? 0)
      }
    }
  }
}

/// Holds the writer's place, so that others wait for it.
struct WriterHold {
  private let leave = DispatchSemaphore(value: 0)

  init(_ database: Database) async {
    let entered = DispatchSemaphore(value: 0), leave = leave
    Thread.detachNewThread {
      _ = sqliteError {
        try database.withoutTransaction { _ in
          entered.signal()
          leave.wait()
        }
      }
    }
    await wait(for: entered)
  }

  func release() { leave.signal() }
}

extension Database {
  /// Waits until so many accesses wait. A task may start minutes late, behind all other tests.
  func whenWaiting(_ count: Int) async throws {
    try await waitUntil { waitingAccessCount >= count }
  }

  /// Lets writes wait in this order, then run together, and returns their outcomes.
  func inGroup(_ works: [Work]) async throws -> [Result<Int, any Error>] {
    let hold = await WriterHold(self)
    var tasks: [Task<Int, any Error>] = []
    for work in works {
      tasks.append(Task { try await self.writeInGroup(work) })
      try await whenWaiting(tasks.count)
    }
    hold.release()
    var outcomes: [Result<Int, any Error>] = []
    for task in tasks { outcomes.append(await task.result) }
    return outcomes
  }

  /// The numbers in the table t, in the order of their insertion.
  func numbers() throws -> [Int] {
    try rows("SELECT a FROM t ORDER BY rowid", as: Int.self)
  }
}

/// Inserts a number.
func inserting(_ number: Int) -> Work {
  { connection in
    try connection.executeChange("INSERT INTO t VALUES (\(number))")
    return number
  }
}

extension Result<Int, any Error> {
  /// The number, or what the error says.
  var summary: String {
    switch self {
    case .success(let number): "\(number)"
    case .failure(let error as SQLiteError): "\(error.code.rawValue) \(error.message)"
    case .failure(let error): "\(error)"
    }
  }
}
