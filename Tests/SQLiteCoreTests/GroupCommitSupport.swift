import Conformance
import Dispatch
import Foundation
import SQLiteCore
import Synchronization
import TestSupport
import Testing

/// The work of one write in a test.
typealias Work = @Sendable (Connection) throws -> Int

extension GroupCommit {
  /// A group commit whose maximum duration is an hour, so that tests don't depend on the machine's
  /// speed.
  static var unhurried: GroupCommit {
    var groupCommit = GroupCommit()
    groupCommit.maximumDuration = .seconds(3_600)
    return groupCommit
  }
}

/// Counts the commits of databases: with a trace, or on a cluster from the nodes' tokens.
final class CommitCount: Sendable {
  private let count = Atomic<Int>(0)
  /// The databases on a cluster. They store the number of their last commit.
  private let remotes = Mutex<[Database]>([])
  /// The number of connections that were opened to a cluster.
  private let connections = Atomic<Int>(0)

  /// Opens a database and counts its commits.
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

  /// Returns options that count the commits of a local database.
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

  /// The numbers of commits and connections at one time.
  struct Mark {
    fileprivate let commits: Int
    fileprivate let connections: Int
  }

  /// The current numbers. Reading them first opens the databases' connections.
  var mark: Mark {
    get throws {
      Mark(commits: try value, connections: connections.load(ordering: .relaxed))
    }
  }

  /// Expects `count` commits since a mark.
  ///
  /// On a cluster that has lost its leader since the mark, the number may differ: the uncommitted
  /// group runs again and may be committed in other parts.
  func expect(
    _ count: Int, since mark: Mark, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let found = try value - mark.commits
    if hasNewConnections(since: mark), found > 0 { return }
    #expect(found == count, sourceLocation: sourceLocation)
  }

  /// Returns whether a connection to a cluster was opened since a mark. It replaces a connection
  /// that lost its leader.
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

/// Holds the writer connection so that other writes wait.
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
  /// Waits until at least `count` accesses wait. A task may start minutes late while other tests
  /// run.
  func waitForWaitingAccesses(_ count: Int) async throws {
    try await waitUntil { waitingAccessCount >= count }
  }

  /// Queues writes in this order, lets them run together, and returns their outcomes.
  func inGroup(_ works: [Work]) async throws -> [Result<Int, any Error>] {
    let hold = await WriterHold(self)
    var tasks: [Task<Int, any Error>] = []
    for work in works {
      tasks.append(Task { try await self.writeInGroup(work) })
      try await waitForWaitingAccesses(tasks.count)
    }
    hold.release()
    var outcomes: [Result<Int, any Error>] = []
    for task in tasks { outcomes.append(await task.result) }
    return outcomes
  }

  /// Returns the numbers in the table `t` in insertion order.
  func numbers() throws -> [Int] {
    try rows("SELECT a FROM t ORDER BY rowid", as: Int.self)
  }
}

/// Returns work that inserts a number.
func inserting(_ number: Int) -> Work {
  { connection in
    try connection.executeChange("INSERT INTO t VALUES (\(number))")
    return number
  }
}

extension Result<Int, any Error> {
  /// The number, or the error's code and message.
  var summary: String {
    switch self {
    case .success(let number): "\(number)"
    case .failure(let error as SQLiteError): "\(error.code.rawValue) \(error.message)"
    case .failure(let error): "\(error)"
    }
  }
}
