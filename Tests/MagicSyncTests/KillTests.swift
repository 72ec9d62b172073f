import Foundation
import MagicData
import MagicSync
import SyncWorkload
import TestSupport
import Testing

/// Devices in processes that are killed, with a copier that makes faults between their folders. The
/// program of each device is replaced by newer ones with more migrations, at different times.
///
/// `MAGICDATA_SYNC_EDITS` sets the number of edits of all processes, and `MAGICDATA_KILLS` the number
/// of kills. The full run has 5 processes:
///
///     MAGICDATA_SYNC_EDITS=10000 MAGICDATA_KILLS=100 swift test --filter MagicSyncTests.KillTests
@Suite(.serialized) struct KillTests {
  private static func number(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
  }

  static let edits = number("MAGICDATA_SYNC_EDITS")
  static let kills = number("MAGICDATA_KILLS")

  @Test(.timeLimit(.minutes(40)))
  func `killed devices lose nothing`() async throws {
    let stores = Self.edits == nil ? ["A", "B", "C"] : ["A", "B", "C", "D", "E"]
    try await run(
      stores.map { ($0, $0) }, edits: Self.edits ?? 90, kills: Self.kills ?? 9, migrates: true)
  }

  @Test(.timeLimit(.minutes(40)))
  func `killed processes of one store lose nothing`() async throws {
    try await run(
      [("A", "A1"), ("A", "A2"), ("B", "B")], edits: (Self.edits ?? 300) / 5,
      kills: (Self.kills ?? 30) / 5, migrates: false)
  }

  /// - Parameters:
  ///   - processes: The store and the name of each process.
  ///   - edits: The number of edits of all processes.
  ///   - kills: The number of kills of all processes.
  ///   - migrates: Whether later programs know more migrations.
  private func run(
    _ processes: [(store: String, name: String)], edits: Int, kills: Int, migrates: Bool
  ) async throws {
    let lastLevel = migrates ? SyncVenue.migrations.count : 0
    let files = try TestFolder.inMemory()
    let stores = Set(processes.map(\.store)).sorted()
    let shared = stores.map { files.file("shared-\($0)") }
    for folder in shared {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }
    let copier = FolderCopier(shared, seed: 1)
    try await settle(stores, in: files, copier, level: 0) { _ in }

    copier.start()
    let start = ContinuousClock.now
    let share = edits / processes.count
    try await withThrowingTaskGroup { group in
      for (index, process) in processes.enumerated() {
        let count = (kills + index) / processes.count
        group.addTask {
          var random = SplitMix64(seed: UInt64(index))
          var level = 0
          for run in 0..<count {
            // A killed migration is repeated, and some devices skip a version.
            let next = run * (lastLevel + 1) / (count + 1) + Int.random(in: 0...1, using: &random)
            level = max(level, min(lastLevel, next))
            let time = Int.random(in: 30...(Self.edits == nil ? 600 : 4_000), using: &random)
            let result = try await helper(
              files, process, seed: random.next(), edits: share, milliseconds: time, level: level)
            #expect(result == -SIGKILL)
          }
          let result = try await helper(
            files, process, seed: random.next(), edits: share, milliseconds: 0, level: lastLevel)
          #expect(result == 0)
        }
      }
      try await group.waitForAll()
    }
    copier.stop()

    let journals = try processes.map { try SyncJournal(folder: files.path, device: $0.name) }
    try await settle(stores, in: files, copier, level: lastLevel) { devices in
      let differences = try await SyncCheck.differences(devices.map(\.magic))
      #expect(differences == [])
      var committed: [SyncEdit] = []
      for device in devices {
        #expect(try await SyncCheck.faults(device.magic) == [])
        let seen = try await device.magic.database.read { try SyncEdit.seen($0) }
        committed = []
        for (process, journal) in zip(processes, journals) {
          let last = seen[process.name] ?? 0
          #expect(last == share && journal.acknowledged.allSatisfy { $0 <= last })
          committed += (1...share).compactMap { journal.edits[$0] }
        }
        #expect(committed.count == share * processes.count)
      }
      try await checkLosses(committed, [devices[0].sync], devices[0].magic, "")
      let conflicts = try await devices[0].sync.conflicts().count
      print(
        "\(processes.count) processes: \(committed.count) edits, \(kills) kills, \(conflicts) conflicts, \(ContinuousClock.now - start)"
      )
    }
  }

  /// Opens all stores, exchanges their changes until nothing is left, and calls `body`.
  private func settle(
    _ stores: [String], in files: TestFolder, _ copier: FolderCopier, level: Int,
    _ body: ([SyncProcess]) async throws -> Void
  ) async throws {
    var devices: [SyncProcess] = []
    for store in stores {
      devices.append(
        try await SyncProcess(folder: files.path, store: store, name: store, level: level))
    }
    var quietRounds = 0
    var reports: [SyncReport] = []
    for _ in 0..<100 where quietRounds < 3 {
      reports = []
      for device in devices {
        reports.append(try await device.sync.once())
        copier.copy(isHostile: false)
      }
      let isQuiet = reports.allSatisfy {
        $0.sentCount == 0 && $0.receivedCount == 0 && $0.problems == []
      }
      quietRounds = isQuiet ? quietRounds + 1 : 0
    }
    #expect(quietRounds == 3, "\(reports)")
    try await body(devices)
  }
}

/// Runs a helper process.
///
/// - Returns: Its exit code, or its negative signal.
private func helper(
  _ files: TestFolder, _ process: (store: String, name: String), seed: UInt64, edits: Int,
  milliseconds: Int, level: Int
) async throws -> Int32 {
  let helper = Process()
  helper.executableURL = try helperProgram("SyncHelper")
  helper.arguments = [
    files.path, process.store, process.name, "\(seed)", "\(edits)", "\(milliseconds)", "\(level)",
  ]
  return try await withCheckedThrowingContinuation { continuation in
    helper.terminationHandler = { helper in
      continuation.resume(
        returning: helper.terminationReason == .uncaughtSignal
          ? -helper.terminationStatus : helper.terminationStatus)
    }
    do { try helper.run() } catch { continuation.resume(throwing: error) }
  }
}
