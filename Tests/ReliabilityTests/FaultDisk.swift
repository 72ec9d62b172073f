import CFaultVFS
import Foundation
import MagicData
import TestSupport
import Workload

/// An in-memory disk that fails on demand, with a real folder for files that aren't SQLite's.
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

  /// A fault and the call at which it occurs.
  struct Fault: Hashable, Sendable {
    var kind: Kind
    /// The number of the affected call, from 1, or 0 for no call.
    var call: Int64
    /// Whether the fault lasts until it is repaired.
    var isPersistent = false
    /// The seed that decides which unsynced data survives a power cut, or 0 if none does.
    var seed: UInt64 = 0
  }

  private let number: Int32
  let folder: TestFolder
  var options: Database.Options

  /// Creates an empty disk. To be reset to another disk, it must have the same folder.
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
    // Checkpoints also occur in the middle of the work.
    options.journalSizeLimit = 0
    if !isDurable { options.synchronous = .offMayCorruptOnPowerCut }
  }

  var openFiles: Int32 { fault_disk_open_files(number) }
  var calls: Int64 { fault_disk_calls(number) }
  var faults: Int64 { fault_disk_faults(number) }

  func open() throws -> Workload { try Workload(path: folder.path, options: options) }

  /// Copies the content of another disk without assets, or clears the disk and the folder if
  /// `source` is nil.
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

  func repair() { fault_disk_arm(number, 0, 0, 0) }

  /// Ends a power cut. No file may be open.
  func restart(seed: UInt64) { fault_disk_restart(number, seed) }

  /// Writes the database files into the folder, for debugging.
  func export(to path: String) {
    for suffix in ["", "-wal", "-journal"] {
      _ = unsafe fault_disk_export(number, "default.sqlite3\(suffix)", path + suffix)
    }
  }
}
