import Foundation
import MagicData
@testable import MagicSync
import SyncWorkload
import TestSupport
import Testing

/// Histories through a folder whose copier delays, doubles, reorders, truncates, alters and drops
/// files, adds foreign ones, and fails.
///
/// `MAGICDATA_HISTORIES` sets the number of seeds.
@Suite struct HostileFolderTests {
  @Test(.timeLimit(.minutes(40)), arguments: seeds(1...(HistoryTests.count ?? 6)))
  func `histories through a hostile folder converge`(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    let files = try TestFolder.inMemory()
    let count = Int.random(in: 2...4, using: &random)
    let copier = HostileCopier(readers: count, seed: random.next())
    var devices: [TestDevice] = []
    for index in 0..<count {
      devices.append(
        try await TestDevice(
          files.file("\(index)"), through: copier.folder(of: index), seed: random.next(),
          device: ["A", "B", "C", "D"][index]))
    }
    // In some histories, all devices have met, or one has begun. In the others, several may begin
    // without seeing each other's files.
    let beginning = seed % 3
    if beginning == 0 { try await settle(devices) }
    if beginning == 1 { try await devices[0].sync.once() }
    copier.becomeHostile()
    for step in 0..<90 {
      let index = Int.random(in: devices.indices, using: &random)
      if step < count || Int.random(in: 0..<2, using: &random) == 0 {
        let report = try await devices[index].sync.once()
        for name in copier.takeDamaged(by: index) where name.hasPrefix("c-") {
          // An altered byte may be the version or the mark of encryption.
          let problems: [SyncProblem] = [
            .damagedFile(name: name), .newerFormat(name: name), .wrongKey(name: name),
          ]
          #expect(problems.contains(where: report.problems.contains), "seed \(seed)")
        }
        // Nothing is half applied.
        if step % 5 == 0 {
          let faults = try await SyncCheck.faults(devices[index].magic)
          #expect(faults == [], "step \(step) of seed \(seed)")
        }
      } else {
        try devices[index].edit()
      }
    }
    copier.becomeFriendly()
    try await settle(devices)
    var haveBegunIndependently = false
    for device in devices {
      let former = try await device.magic.database.read { try SyncTables.formerDevices($0) }
      if !former.isEmpty { haveBegunIndependently = true }
    }
    try await check(
      devices, "seed \(seed)", haveBegunIndependently: haveBegunIndependently)
  }
}
