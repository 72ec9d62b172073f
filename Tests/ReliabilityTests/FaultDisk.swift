import CFaultVFS
import Foundation
import MagicData
import TestSupport
import Workload

/// A disk in memory that fails on demand, with a folder beside it for what is not SQLite's.
final class FaultDisk {
  enum Kind: String, CaseIterable, Sendable {
    case error, full, torn, power

    var code: Int32 {
      switch self {
      case .error: 1
      case .full: 2
      case .torn: 3
      case .power: 4
      }
    }
  }

  /// What goes wrong, and when.
  struct Fault: Hashable, Sendable {
    var kind: Kind
    /// Which of the calls that it concerns, from 1; 0 for none.
    var call: Int64
    /// Whether it goes on until it is mended.
    var isPersistent = false
    /// What survives a power cut; 0 for nothing of what was not synced.
    var seed: UInt64 = 0
  }

  private let number: Int32
  let folder: TestFolder
  var options: Database.Options

  /// Makes an empty disk; one that is reset to another must have the same folder.
  init(
    _ journalMode: Database.Options.JournalMode, isDurable: Bool = true,
    in folder: TestFolder? = nil
  ) throws {
    number = fault_disk_create()
    guard number >= 0 else { throw SQLiteError(.error, "there are too many disks") }
    self.folder = try folder ?? TestFolder.inMemory()
    options = Database.Options()
    options.vfs = "fault-\(number)"
    options.journalMode = journalMode
    options.busyTimeout = .milliseconds(200)
    options.maximumReaderCount = 2
    // Checkpoints happen in the middle of the work, too.
    options.journalSizeLimit = 0
    if !isDurable { options.synchronous = .offMayCorruptOnPowerCut }
  }

  var openFiles: Int32 { fault_disk_open_files(number) }
  var calls: Int64 { fault_disk_calls(number) }
  var faults: Int64 { fault_disk_faults(number) }

  func open() throws -> Workload { try Workload(path: folder.path, options: options) }

  /// Makes the disk and the folder hold what another disk holds. That must have no assets.
  func reset(to source: FaultDisk?) throws {
    if let source {
      fault_disk_copy(number, source.number)
    } else {
      fault_disk_clear(number)
    }
    let manager = FileManager.default
    let assets = folder.file("assets")
    guard manager.fileExists(atPath: assets) else { return }
    for part in ["files", "pending"] {
      for name in try manager.contentsOfDirectory(atPath: "\(assets)/\(part)") {
        try manager.removeItem(atPath: "\(assets)/\(part)/\(name)")
      }
    }
    guard source == nil else { return }
    try manager.removeItem(atPath: assets)
  }

  func arm(_ fault: Fault) {
    fault_disk_arm(number, fault.kind.code, fault.call, fault.isPersistent ? 1 : 0)
  }

  func mend() { fault_disk_arm(number, 0, 0, 0) }

  /// Ends a power cut. No file may be open.
  func restart(seed: UInt64) { fault_disk_restart(number, seed) }

  /// Writes the database file into the folder, for finding out what went wrong.
  func export(to path: String) {
    for suffix in ["", "-wal", "-journal"] {
      _ = unsafe fault_disk_export(number, "default.sqlite3\(suffix)", path + suffix)
    }
  }
}
