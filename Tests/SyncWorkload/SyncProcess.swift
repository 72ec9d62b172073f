import Foundation
package import MagicData
package import MagicSync

/// A store and its sync, as a process opens them.
package struct SyncProcess: Sendable {
  package let magic: MagicData
  package let sync: Sync

  /// - Parameters:
  ///   - folder: The folder of the whole test.
  ///   - store: The name of the store, and of the folder through which it is synced.
  ///   - name: The name of the device.
  ///   - level: The number of migrations that the program knows.
  package init(folder: String, store: String, name: String, level: Int) async throws {
    magic = try await MagicData(path: "\(folder)/store-\(store)")
    magic.assets.minimumFileSize = 20
    try SyncModels.prepareTables(magic)
    sync = try await Sync(
      magic, through: .folder("\(folder)/shared-\(store)"), objects: SyncModels.objects,
      records: SyncModels.records + [SyncVenue.type(level)],
      migrations: Array(SyncVenue.migrations.prefix(level)), deviceName: name)
  }

  /// Returns the number of the last edit of a process that the store contains.
  package func lastEdit(of process: String) throws -> Int {
    try magic.database.read { try SyncEdit.seen($0)[process] ?? 0 }
  }
}

/// The edits in the journal of a process.
package struct SyncJournal {
  /// The last attempt of each edit, which is the one that was committed if any was.
  package private(set) var edits: [Int: SyncEdit] = [:]
  /// The numbers of the edits whose commits have returned.
  package private(set) var acknowledged: Set<Int> = []

  package init(folder: String, device: String) throws {
    let content = try Data(contentsOf: URL(filePath: "\(folder)/journal-\(device)"))
    for line in content.split(separator: UInt8(ascii: "\n")) {
      if line.first == UInt8(ascii: "!") {
        if let number = Int(String(decoding: line.dropFirst(2), as: UTF8.self)) {
          acknowledged.insert(number)
        }
      } else if let edit = try? JSONDecoder().decode(SyncEdit.self, from: line.dropFirst(2)) {
        edits[edit.number] = edit
      }
    }
  }
}
