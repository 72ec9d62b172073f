import Foundation
import SQLiteCluster
package import SQLiteCore
import Synchronization
package import Testing

/// The engines that a test runs on.
package enum Engine: String, Sendable {
  /// SQLite in this process.
  case local
  /// Three nodes on the loopback interface, one cluster for the process and a database for each test.
  case cluster

  /// The engine of the running test. A thread that the test starts itself has the local one.
  @TaskLocal package static var current = Engine.local

  /// A text as a test's engine can keep it: without NULs on a cluster, which refuses them
  /// (`ClusterDatabaseTests`).
  package static func text(_ text: String) -> String {
    current == .cluster ? text.replacing("\0", with: "\u{1}") : text
  }

  /// The engine that the environment asks for, so that one can be looked at alone:
  /// `MAGICDATA_ENGINE=cluster swift test --filter RecordTests`.
  static let only: Engine? = cutsStreams ? .cluster : environment.flatMap { Engine(rawValue: $0) }

  private static let environment = ProcessInfo.processInfo.environment["MAGICDATA_ENGINE"]

  /// Whether the tests run on a cluster only, and transactions are interrupted there (`MAGICDATA_ENGINE=cut`).
  static let cutsStreams = environment == "cut"

  /// Whether only what is left out on a cluster runs there (`MAGICDATA_ENGINE=left-out`): a test that passes
  /// is no longer to be left out.
  static let runsLeftOut = environment == "left-out"
}

/// What a test may need, and a cluster lacks: features of a database that can be asked for, and limits that
/// the article on clusters names.
package enum Capability: String, CaseIterable, Sendable {
  case functions, collations, authorization, tracing, blobs, backup, files, settings, rowChanges
  /// Texts with a NUL in them.
  case nulInText = "NUL in texts"
  /// More than 255 values for a statement.
  case manyParameters = "many parameters"
  /// Column types that a node reads in its own way, such as BOOLEAN and DATE.
  case columnTypes = "types that a node reads in its own way"
  /// The work of SQLite here: its statements, their plans, costs and the number of its connections.
  case localWork = "SQLite's work in this process"
  /// Statements that end while they run: a node cannot be asked to stop.
  case interruption
  /// Claims of tables that several databases of a process share.
  case sharedClaims = "claims of tables by other databases of the process"
}

/// Runs each test of a suite on SQLite here, and once more on a cluster, if it can be had.
package struct EngineTrait: SuiteTrait, TestTrait, TestScoping {
  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @Sendable () async throws -> Void
  ) async throws {
    if Engine.only != .cluster && !Engine.runsLeftOut { try await function() }
    guard Engine.only != .local else { return }
    guard TestCluster.isThere else { return ConformanceReport.noteNoCluster() }
    let needed = test.traits.flatMap { ($0 as? CapabilityTrait)?.capabilities ?? [] }
    if let first = needed.first, !Engine.runsLeftOut {
      return ConformanceReport.noteLeftOut(test, first)
    }
    guard !needed.isEmpty || !Engine.runsLeftOut else { return }
    try await Engine.$current.withValue(.cluster) { try await function() }
  }
}

/// Names what a cluster lacks for a test.
package struct CapabilityTrait: SuiteTrait, TestTrait {
  let capabilities: [Capability]
  package var isRecursive: Bool { true }
}

extension Trait where Self == EngineTrait {
  /// The tests run on every engine.
  package static var everyEngine: Self { EngineTrait() }
}

extension Trait where Self == CapabilityTrait {
  /// The tests run only where there is what they need.
  package static func requires(_ capabilities: Capability...) -> Self {
    CapabilityTrait(capabilities: capabilities)
  }
}

/// Counts what ran on the cluster and what was left out, and prints it when the process ends.
enum ConformanceReport {
  private struct Tally: Sendable {
    var run: Set<Test.ID> = []
    var leftOut: [Test.ID: Capability] = [:]
    var hasCluster = true
  }

  private static let tally = {
    atexit { ConformanceReport.print() }
    return Mutex(Tally())
  }()

  static func noteLeftOut(_ test: Test, _ capability: Capability) {
    tally.withLock { $0.leftOut[test.id] = capability }
  }

  static func noteNoCluster() { tally.withLock { $0.hasCluster = false } }

  /// Notes that the running test has opened a database of the cluster.
  static func noteOpening() {
    guard let test = Test.current else { return }
    _ = tally.withLock { $0.run.insert(test.id) }
  }

  private static func print() {
    let tally = tally.withLock { $0 }
    guard tally.hasCluster else {
      return Swift.print("cluster: all tests on nodes were skipped, since \(TestCluster.reason)")
    }
    let reasons = Capability.allCases.compactMap { capability in
      let count = tally.leftOut.values.count { $0 == capability }
      return count == 0 ? nil : "\(count) \(capability.rawValue)"
    }
    Swift.print(
      "cluster: \(tally.run.count) tests run, \(tally.leftOut.count) left out"
        + (reasons.isEmpty ? "" : ": \(reasons.joined(separator: ", "))"))
  }
}

extension Database {
  /// Opens a new, empty database of the engine that the test runs on.
  package static func fresh(options: Options = Options()) throws -> Database {
    switch Engine.current {
    case .local: try .memory(options: options)
    case .cluster: try .at("fresh-\(UUID().uuidString)", options: options)
    }
  }

  /// Opens the database of a path: a file, or the cluster's database of that name.
  package static func at(_ path: String, options: Options = Options()) throws -> Database {
    switch Engine.current {
    case .local: return try Database(path: path, options: options)
    case .cluster:
      ConformanceReport.noteOpening()
      return try TestCluster.shared.get().database(path.replacing("/", with: "_")) {
        $0.database = options
        if Engine.cutsStreams { $0.transport = CuttingTransport() }
      }
    }
  }
}
