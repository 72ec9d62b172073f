import Foundation
import SQLiteCluster
package import SQLiteCore
import Synchronization
package import Testing

/// The engine that a test runs on.
package enum Engine: String, Sendable {
  /// SQLite in this process.
  case local
  /// Three nodes on the loopback interface: one cluster per process, and a database per test.
  case cluster

  /// The engine of the running test. Threads that a test starts itself use the local one.
  @TaskLocal package static var current = Engine.local

  /// Returns `text` as the current engine can store it: without NULs on a cluster, which rejects
  /// them (`ClusterDatabaseTests`).
  package static func text(_ text: String) -> String {
    current == .cluster ? text.replacing("\0", with: "\u{1}") : text
  }

  /// The engine that the environment selects, or nil to run all engines:
  /// `MAGICDATA_ENGINE=cluster swift test --filter RecordTests`.
  static let only: Engine? = cutsStreams ? .cluster : environment.flatMap { Engine(rawValue: $0) }

  private static let environment = ProcessInfo.processInfo.environment["MAGICDATA_ENGINE"]

  /// Whether tests run on a cluster only, with one stream cut per database
  /// (`MAGICDATA_ENGINE=cut`).
  static let cutsStreams = environment == "cut"

  /// Whether only the tests that are normally skipped on a cluster run there
  /// (`MAGICDATA_ENGINE=left-out`). If one passes, remove its `.requires`.
  static let runsSkippedTests = environment == "left-out"
}

/// A feature or limit that a test may require and a cluster doesn't support: features that a
/// database reports, and limits that the article on clusters lists.
package enum Capability: String, CaseIterable, Sendable {
  case functions, collations, authorization, tracing, blobs, backup, files, settings, rowChanges
  /// Text that contains NUL.
  case nulInText = "NUL in texts"
  /// More than 255 values in one statement.
  case manyParameters = "more than 255 parameters"
  /// Column types that a node interprets differently, such as BOOLEAN and DATE.
  case columnTypes = "column types that nodes interpret differently"
  /// SQLite running in this process: its statements, query plans, costs and number of connections.
  case localWork = "SQLite in this process"
  /// Statements that are stopped while they run, which a node doesn't support.
  case interruption
  /// Claims of tables that the databases of a process share.
  case sharedClaims = "table claims shared within the process"
}

/// Runs each test of a suite on SQLite in this process, and again on a cluster if one is available.
package struct EngineTrait: SuiteTrait, TestTrait, TestScoping {
  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @Sendable () async throws -> Void
  ) async throws {
    if Engine.only != .cluster && !Engine.runsSkippedTests { try await function() }
    guard Engine.only != .local else { return }
    guard TestCluster.isAvailable else { return ConformanceReport.recordMissingCluster() }
    let needed = test.traits.flatMap { ($0 as? CapabilityTrait)?.capabilities ?? [] }
    if let first = needed.first, !Engine.runsSkippedTests {
      return ConformanceReport.recordSkipped(test, first)
    }
    guard !needed.isEmpty || !Engine.runsSkippedTests else { return }
    try await Engine.$current.withValue(.cluster) { try await function() }
  }
}

/// Lists the capabilities that a test requires and a cluster lacks.
package struct CapabilityTrait: SuiteTrait, TestTrait {
  let capabilities: [Capability]
  package var isRecursive: Bool { true }
}

extension Trait where Self == EngineTrait {
  /// Runs the tests on every engine.
  package static var everyEngine: Self { EngineTrait() }
}

extension Trait where Self == CapabilityTrait {
  /// Skips the tests on engines without these capabilities.
  package static func requires(_ capabilities: Capability...) -> Self {
    CapabilityTrait(capabilities: capabilities)
  }
}

/// Counts the tests that ran on the cluster and those that were skipped, and prints the counts when
/// the process exits.
enum ConformanceReport {
  private struct Tally: Sendable {
    var run: Set<Test.ID> = []
    var skipped: [Test.ID: Capability] = [:]
    var hasCluster = true
  }

  private static let tally = {
    atexit { ConformanceReport.print() }
    return Mutex(Tally())
  }()

  static func recordSkipped(_ test: Test, _ capability: Capability) {
    tally.withLock { $0.skipped[test.id] = capability }
  }

  static func recordMissingCluster() { tally.withLock { $0.hasCluster = false } }

  /// Records that the running test opened a database of the cluster.
  static func recordOpening() {
    guard let test = Test.current else { return }
    _ = tally.withLock { $0.run.insert(test.id) }
  }

  private static func print() {
    let tally = tally.withLock { $0 }
    guard tally.hasCluster else {
      return Swift.print("cluster: all tests on nodes were skipped: \(TestCluster.reason)")
    }
    let reasons = Capability.allCases.compactMap { capability in
      let count = tally.skipped.values.count { $0 == capability }
      return count == 0 ? nil : "\(count) \(capability.rawValue)"
    }
    Swift.print(
      "cluster: \(tally.run.count) tests run, \(tally.skipped.count) skipped"
        + (reasons.isEmpty ? "" : ": \(reasons.joined(separator: ", "))"))
  }
}

extension Database {
  /// Opens a new, empty database on the engine of the running test.
  package static func fresh(options: Options = Options()) throws -> Database {
    switch Engine.current {
    case .local: try .memory(options: options)
    case .cluster: try .at("fresh-\(UUID().uuidString)", options: options)
    }
  }

  /// Opens the database file at `path`, or the cluster's database with that name.
  package static func at(_ path: String, options: Options = Options()) throws -> Database {
    switch Engine.current {
    case .local: return try Database(path: path, options: options)
    case .cluster:
      ConformanceReport.recordOpening()
      return try TestCluster.shared.get().database(path.replacing("/", with: "_")) {
        $0.database = options
        if Engine.cutsStreams { $0.transport = CuttingTransport() }
      }
    }
  }
}
