import Foundation
import SQLiteAssets
import SQLiteCore
import Synchronization
import TestSupport

/// The changes that a process makes to a store until it is killed, recorded in a journal.
///
/// Each key has one asset. The process writes a line with `?` to the journal before each change and
/// a line with `!` after the change is acknowledged. The journal is append-only, so a kill can
/// damage only its last line.
struct KillWorkload {
  let path: String
  /// The number of the process among those that use the store concurrently. Each has its own keys.
  let process: Int
  let isNaive: Bool
  private var random: SplitMix64
  private let journal: FileHandle

  init(path: String, process: Int, seed: UInt64, isNaive: Bool) throws {
    self.path = path
    self.process = process
    self.isNaive = isNaive
    random = SplitMix64(seed: seed)
    let file = "\(path)/journal-\(process)"
    if !FileManager.default.fileExists(atPath: file) { try Data().write(to: URL(filePath: file)) }
    journal = try FileHandle(forWritingTo: URL(filePath: file))
    try journal.seekToEnd()
  }

  /// Opens the database of a workload and creates its tables.
  static func open(_ path: String) throws -> Database {
    let database = try Database(path: "\(path)/data.sqlite3")
    try database.write { connection in
      try connection.executeMultipleChanges(
        """
        CREATE TABLE IF NOT EXISTS owner (key TEXT PRIMARY KEY);
        CREATE TABLE IF NOT EXISTS item (
          key TEXT PRIMARY KEY REFERENCES owner ON DELETE CASCADE, asset TEXT);
        CREATE TRIGGER IF NOT EXISTS item_deleted AFTER DELETE ON item
        BEGIN DELETE FROM magicdata_asset WHERE id = OLD.asset; END;
        """)
    }
    return database
  }

  /// Returns the content of a key's version, from a few to some thousand bytes.
  static func content(_ key: String, _ version: UInt64) -> [UInt8] {
    Array(String(repeating: "\(key):\(version);", count: 1 + Int(version % 400)).utf8)
  }

  /// Makes changes until the process is killed.
  ///
  /// - Parameters:
  ///   - call: The index of the file system call before which the process is killed. The calls that
  ///     open the store count, too.
  ///   - time: The time after which the process is killed at the latest.
  mutating func run(until call: Int, or time: Duration) throws -> Never {
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: time / .seconds(1))
      kill(getpid(), SIGKILL)
    }
    let database = try KillWorkload.open(path)
    let operations = FaultyFileOperations(.init(failing: call, isDeadly: true))
    let store = try AssetStore(database, folder: "\(path)/assets", operations: operations)
    // Short contents are stored in rows.
    store.minimumFileSize = isNaive ? 0 : 100
    while true {
      if isNaive {
        try changeNaively(database, operations)
      } else {
        try change(database, store)
      }
    }
  }

  private mutating func change(_ database: Database, _ store: AssetStore) throws {
    let keys = (0..<(random.next() % 8 == 0 ? 20 : 1)).map { _ in randomKey() }
    let kind = random.next() % 10
    let version = random.next() >> 32
    let lines = Set(keys).sorted().map { kind < 7 ? "set \($0) \(version)" : "drop \($0)" }
    try write("?", lines)
    try database.write { connection in
      for key in Set(keys).sorted() {
        let row = try connection.firstRow(
          "SELECT asset FROM item WHERE key = \(key)", as: AssetID.self)
        switch (kind, row) {
        case (0..<7, nil):
          let record = try store.put(KillWorkload.content(key, version), in: connection)
          try connection.executeChange("INSERT INTO owner VALUES (\(key)) ON CONFLICT DO NOTHING")
          try connection.executeChange("INSERT INTO item VALUES (\(key), \(record.id))")
        case (0..<7, let id?):
          try store.replace(id, with: KillWorkload.content(key, version), in: connection)
        case (7, let id?):
          try store.delete(id, in: connection)
          try connection.executeChange("DELETE FROM item WHERE key = \(key)")
        case (8, _):
          // Plain SQL: the trigger deletes the asset.
          try connection.executeChange("DELETE FROM item WHERE key = \(key)")
        default:
          // The cascade deletes the item.
          try connection.executeChange("DELETE FROM owner WHERE key = \(key)")
        }
      }
    }
    try write("!", lines)
  }

  /// Changes files and rows in an unsafe order: a new file before its row, a row's deletion before
  /// its file's.
  private mutating func changeNaively(
    _ database: Database, _ operations: FaultyFileOperations
  ) throws {
    let name = AssetID().description
    let file = "\(path)/assets/files/\(name)"
    let content = KillWorkload.content("naive", random.next() % 400)
    try operations.step()
    try Data(content).write(to: URL(filePath: file))
    try operations.step()
    try database.executeChange(
      """
      INSERT INTO magicdata_asset (id, file, size, sha256)
      VALUES (\(AssetID()), \(name), \(content.count), \(SHA256.digest(of: content).bytes))
      """)
    guard random.next() % 2 == 0 else { return }
    try operations.step()
    try database.write { connection in
      try connection.executeChange("DELETE FROM magicdata_asset WHERE file = \(name)")
      try connection.executeChange("DELETE FROM magicdata_asset_trash")
    }
    try operations.step()
    try FileManager.default.removeItem(atPath: file)
  }

  private mutating func randomKey() -> String { "p\(process)k\(random.next() % 30)" }

  private func write(_ mark: String, _ lines: [String]) throws {
    try journal.write(contentsOf: Data(lines.map { "\(mark) \($0)\n" }.joined().utf8))
  }
}
