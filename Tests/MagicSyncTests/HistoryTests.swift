import Foundation
import MagicData
@testable import MagicSync
import SyncWorkload
import TestSupport
import Testing

/// Random histories of small stores with all kinds of types, relations and rules.
///
/// `MAGICDATA_HISTORIES` sets the number of seeds.
@Suite struct HistoryTests {
  static let count = ProcessInfo.processInfo.environment["MAGICDATA_HISTORIES"].flatMap {
    UInt64($0)
  }

  @Test(.timeLimit(.minutes(40)), arguments: seeds(1...(count ?? 6)))
  func `edits of all kinds converge and none is lost silently`(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    let files = try TestFolder.inMemory()
    let count = Int.random(in: 2...4, using: &random)
    var devices: [TestDevice] = []
    for index in 0..<count {
      devices.append(
        try await TestDevice(
          files.file("\(index)"), through: .folder(files.file("shared")), seed: random.next(),
          device: ["A", "B", "C", "D"][index]))
    }
    try await settle(devices)
    for _ in 0..<50 {
      let index = Int.random(in: devices.indices, using: &random)
      if Int.random(in: 0..<5, using: &random) == 0 {
        try await devices[index].sync.once()
      } else if Int.random(in: 0..<25, using: &random) == 0 {
        // A clock is wrong by up to an hour.
        let milliseconds = Int64.random(in: 0..<3_600_000, using: &random)
        try await devices[index].magic.database.write { connection in
          let now = SyncTime(after: .zero)
          try SyncClock.advance(to: SyncTime(bits: now.bits + milliseconds << 16), connection)
        }
      } else {
        try devices[index].edit()
      }
    }
    try await settle(devices)
    try await check(devices, "seed \(seed)")
  }
}

/// A device of a history.
struct TestDevice {
  let magic: MagicData
  let sync: Sync
  var editor: SyncEditor
  private(set) var edits: [SyncEdit] = []

  init(_ path: String, through folder: some SyncFolder, seed: UInt64, device: String) async throws {
    magic = try await MagicData(path: path)
    magic.assets.minimumFileSize = 20
    try SyncModels.prepareTables(magic)
    sync = try await Sync(
      magic, through: folder, objects: SyncModels.objects, records: SyncModels.records,
      deviceName: device)
    editor = SyncEditor(seed: seed, device: device)
  }

  mutating func edit() throws {
    if let edit = try editor.edit(magic) { edits.append(edit) }
  }
}

/// Runs passes until two rounds in a row have exchanged nothing.
func settle(_ devices: [TestDevice]) async throws {
  let reports = try await settle(devices.map(\.sync))
  #expect(reports.flatMap(\.problems) == [])
}

/// Checks settled stores: they are equal and intact, and no edit was lost silently.
///
/// Devices that have begun independently keep the conflicts that they found before they met.
func check(
  _ devices: [TestDevice], _ name: String, haveBegunIndependently: Bool = false
) async throws {
  let differences = try await SyncCheck.differences(
    devices.map(\.magic), comparesConflicts: !haveBegunIndependently)
  #expect(differences == [], "\(name)")
  for device in devices {
    let faults = try await SyncCheck.faults(device.magic)
    #expect(faults == [], "\(name)")
  }
  let syncs = haveBegunIndependently ? devices.map(\.sync) : [devices[0].sync]
  try await checkLosses(
    devices.flatMap(\.edits), syncs, devices[0].magic, name,
    ignoringRemovals: haveBegunIndependently)
}

/// Checks that each edit is in a settled store, was replaced knowingly, or is named by a conflict.
func checkLosses(
  _ edits: [SyncEdit], _ syncs: [Sync], _ magic: MagicData, _ name: String,
  ignoringRemovals: Bool = false
) async throws {
  var found: [SyncConflict] = []
  for sync in syncs { found += try await sync.conflicts() }
  let conflicts = found
  let losses = try await magic.database.read { connection in
    try SyncOracle(edits, conflicts, connection).losses(ignoringRemovals: ignoringRemovals)
  }
  #expect(losses == [], "\(name)")
}
