import Foundation
import SQLiteAssets
import SQLiteCore
import Testing
import TestSupport

/// Processes are killed while they work on a store, and what they left is compared with what was
/// acknowledged to them.
///
/// `MAGICDATA_KILLS` sets the number of kills of each test.
@Suite(.serialized) struct AssetStoreKillTests {
  static let kills = ProcessInfo.processInfo.environment["MAGICDATA_KILLS"].flatMap { Int($0) }

  @Test func `a killed process leaves what was acknowledged, and no file too many`() async throws {
    var history = try KillHistory(processes: 1)
    for round in 0..<(Self.kills ?? 100) {
      try await work(history.path, process: 0, round: round)
      try history.check()
    }
    #expect(history.acknowledged > 0)
  }

  @Test func `so do three processes on one store`() async throws {
    var history = try KillHistory(processes: 3)
    for round in 0..<((Self.kills ?? 100) + 2) / 3 {
      let path = history.path
      try await withThrowingTaskGroup(of: Void.self) { group in
        for process in 0..<3 {
          group.addTask { try await work(path, process: process, round: round) }
        }
        try await group.waitForAll()
      }
      try history.check()
    }
    #expect(history.acknowledged > 0)
  }

  @Test func `the order that writes in place first leaves files too many`() async throws {
    let history = try KillHistory(processes: 1)
    var orphans = 0
    var round = 0
    // How soon depends on how fast this machine is now.
    while orphans == 0, round < 300 {
      try await work(history.path, process: 0, round: round, isNaive: true)
      orphans = try history.orphans()
      round += 1
    }
    #expect(orphans > 0)
  }
}

/// Runs a workload in another process until that is killed.
private func work(
  _ path: String, process: Int, round: Int, isNaive: Bool = false
) async throws {
  // Some are killed at a call into the file system, some at any moment.
  let seed = UInt64(process * 1_000 + round)
  var random = SplitMix64(seed: seed &+ 77)
  let call = round % 2 == 0 ? Int(random.next() % 200) : Int.max
  let microseconds = round % 2 == 0 ? 5_000_000 : Int(random.next() % 60_000) + 5_000
  await #expect(processExitsWith: .signal(SIGKILL)) {
    [
      path = path as String, process = process as Int, seed = seed as UInt64,
      isNaive = isNaive as Bool, call = call as Int, microseconds = microseconds as Int,
    ] in
    var workload = try KillWorkload(path: path, process: process, seed: seed, isNaive: isNaive)
    try workload.run(until: call, or: .microseconds(microseconds))
  }
}
