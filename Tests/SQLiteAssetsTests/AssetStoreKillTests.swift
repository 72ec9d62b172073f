import Foundation
import SQLiteAssets
import SQLiteCore
import Testing
import TestSupport

/// Tests that kill processes while they use a store. Afterwards, the tests compare the store with
/// the changes that it acknowledged.
///
/// `MAGICDATA_KILLS` sets the number of kills per test.
@Suite(.serialized) struct AssetStoreKillTests {
  static let kills = ProcessInfo.processInfo.environment["MAGICDATA_KILLS"].flatMap { Int($0) }

  @Test func `a killed process leaves all acknowledged changes and no orphaned file`() async throws
  {
    var history = try KillHistory(processes: 1)
    for round in 0..<(Self.kills ?? 100) {
      try await work(history.path, process: 0, round: round)
      try history.check()
    }
    #expect(history.acknowledged > 0)
  }

  @Test func `three killed processes leave all acknowledged changes and no orphaned file`()
    async throws
  {
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

  @Test func `writing files in place before the commit leaves orphaned files`() async throws {
    let history = try KillHistory(processes: 1)
    var orphans = 0
    var round = 0
    // The number of rounds that this takes depends on the speed of the machine.
    while orphans == 0, round < 300 {
      try await work(history.path, process: 0, round: round, isNaive: true)
      orphans = try history.orphans()
      round += 1
    }
    #expect(orphans > 0)
  }
}

/// Runs a workload in another process until that process is killed.
private func work(
  _ path: String, process: Int, round: Int, isNaive: Bool = false
) async throws {
  // Even rounds kill at a file system call, odd rounds at a random time.
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
