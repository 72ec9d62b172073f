import Foundation
import MagicData
import SQLitePortable

/// The calls that write a file or folder at a path that the caller chooses.
package enum FileWork: String, CaseIterable, Sendable {
  case dumpIntoNewFile, dumpOverFile
  case copyIntoNewFile, copyIntoDatabase
  case restoreIntoNewFile, restoreIntoDatabase
  case saveIntoNewFile, saveIntoStore
  case vacuumIntoNewFile
  case backupIntoNewFolder, backupIntoEmptyFolder
  case assetsIntoFolder

  package struct Item: Codable, Hashable {
    var number: Int
    var text: String
  }

  /// Whether SQLite changes a database in place, with a journal next to it.
  package var isInPlace: Bool {
    [.copyIntoDatabase, .restoreIntoDatabase, .saveIntoStore].contains(self)
  }

  /// Whether the same call can be repeated after it has completed.
  package var replaces: Bool {
    ![.vacuumIntoNewFile, .backupIntoNewFolder, .backupIntoEmptyFolder].contains(self)
  }

  /// Creates the files that the calls read, in the folder `in`.
  package static func makeSources(in folder: String) throws {
    let manager = FileManager.default
    try manager.createDirectory(atPath: "\(folder)/in", withIntermediateDirectories: false)
    let source = try Database(path: "\(folder)/in/source.sqlite3")
    try fill(source, 300)
    try source.dump(to: .spon(path: "\(folder)/in/source.spon"))
    try source.close()
    let magic = try MagicData(path: "\(folder)/in/store")
    for number in 0..<6 {
      _ = try magic.assets.put([UInt8](repeating: UInt8(number), count: 50_000 * number))
    }
    try magic.database.close()
  }

  private static func fill(_ database: Database, _ rows: Int) throws {
    try database.write { connection in
      try connection.executeChange("CREATE TABLE t (n INTEGER PRIMARY KEY, b BLOB)")
      for number in 0..<rows {
        try connection.executeChange("INSERT INTO t VALUES (\(number), zeroblob(2000))")
      }
    }
  }

  private static func items(_ count: Int) -> [Item] {
    (0..<count).map { Item(number: $0, text: String(repeating: "x", count: 1_000)) }
  }

  private func target(_ folder: String) -> String { "\(folder)/out/target" }

  /// Creates the folder `out` with the state before the call.
  package func prepare(in folder: String) throws {
    let manager = FileManager.default
    if manager.fileExists(atPath: "\(folder)/out") {
      try manager.removeItem(atPath: "\(folder)/out")
    }
    try manager.createDirectory(atPath: "\(folder)/out", withIntermediateDirectories: false)
    let target = target(folder)
    switch self {
    case .dumpOverFile:
      try Data("old".utf8).write(to: URL(filePath: target))
    case .copyIntoDatabase, .restoreIntoDatabase:
      let old = try Database(path: target)
      try Self.fill(old, 200)
      try old.close()
    case .saveIntoStore:
      let old = try CodableStore(path: target)
      try old.insert(items: Self.items(200))
      try old.database.close()
    case .backupIntoEmptyFolder:
      try manager.createDirectory(atPath: target, withIntermediateDirectories: false)
    default: break
    }
  }

  /// Makes the call.
  package func run(in folder: String) throws {
    let target = target(folder)
    let source = DataFile.sqlite(path: "\(folder)/in/source.sqlite3")
    let text = DataFile.spon(path: "\(folder)/in/source.spon")
    switch self {
    case .dumpIntoNewFile: try source.copy(to: .spon(path: target))
    case .dumpOverFile: try source.copy(to: .json(path: target))
    case .copyIntoNewFile, .copyIntoDatabase: try source.copy(to: .sqlite(path: target))
    case .restoreIntoNewFile: try text.copy(to: .sqlite(path: target))
    case .restoreIntoDatabase:
      let database = try Database(path: target)
      try database.restore(from: text)
      try database.close()
    case .saveIntoNewFile, .saveIntoStore:
      let store = try CodableStore()
      try store.insert(items: Self.items(300))
      try store.save(to: URL(filePath: target))
    case .vacuumIntoNewFile:
      let database = try Database(path: source.path)
      try database.vacuum(into: target)
      try database.close()
    case .backupIntoNewFolder, .backupIntoEmptyFolder:
      let magic = try MagicData(path: "\(folder)/in/store")
      _ = try magic.backup(to: target)
      try magic.database.close()
    case .assetsIntoFolder:
      let magic = try MagicData(path: "\(folder)/in/store")
      let ids = try magic.assets.records().map(\.id)
      try magic.database.read {
        try magic.assets.copyFiles(of: ids, to: target, in: $0)
      }
      try magic.database.close()
    }
  }

  package enum State: Hashable {
    case old, new
    case wrong(String)
  }

  /// Returns whether the state is the one before or after the call, as seen by the next program.
  package func state(in folder: String) throws -> State {
    let target = target(folder)
    let exists = FileManager.default.fileExists(atPath: target)
    switch self {
    case .dumpIntoNewFile, .dumpOverFile:
      guard exists else { return self == .dumpIntoNewFile ? .old : .wrong("missing") }
      if self == .dumpOverFile, try Data(contentsOf: URL(filePath: target)) == Data("old".utf8) {
        return .old
      }
      let copy = try Database.memory(
        restoring: self == .dumpOverFile ? .json(path: target) : .spon(path: target))
      return try Self.rows(of: copy) == 300 ? .new : .wrong("rows")
    case .copyIntoNewFile, .restoreIntoNewFile, .vacuumIntoNewFile:
      guard exists else { return .old }
      let copy = try Database(path: target, options: .init(mode: .readWrite))
      defer { try? copy.close() }
      return try Self.rows(of: copy) == 300 ? .new : .wrong("rows")
    case .copyIntoDatabase, .restoreIntoDatabase:
      let copy = try Database(path: target, options: .init(mode: .readWrite))
      defer { try? copy.close() }
      let rows = try Self.rows(of: copy)
      return rows == 200 ? .old : rows == 300 ? .new : .wrong("\(rows ?? -1) rows")
    case .saveIntoNewFile, .saveIntoStore:
      guard exists else { return self == .saveIntoNewFile ? .old : .wrong("missing") }
      let store = try CodableStore(path: target)
      defer { try? store.database.close() }
      let items: [Item] = try store.read()
      if self == .saveIntoStore, items == Self.items(200) { return .old }
      return items == Self.items(300) ? .new : .wrong("\(items.count) items")
    case .backupIntoNewFolder, .backupIntoEmptyFolder:
      guard exists else { return self == .backupIntoNewFolder ? .old : .wrong("missing") }
      if self == .backupIntoEmptyFolder,
        try FileManager.default.contentsOfDirectory(atPath: target).isEmpty
      {
        return .old
      }
      let magic = try MagicData(path: target)
      defer { try? magic.database.close() }
      let isIntact = try magic.assets.records().count == 6 && magic.assets.verify().isEmpty
      return isIntact ? .new : .wrong("assets")
    case .assetsIntoFolder:
      guard exists else { return .old }
      let magic = try MagicData(path: "\(folder)/in/store")
      defer { try? magic.database.close() }
      var present = 0
      for record in try magic.assets.records() {
        let path = "\(target)/\(record.file.text)"
        guard FileManager.default.fileExists(atPath: path) else { continue }
        present += 1
        guard try Array(Data(contentsOf: URL(filePath: path))) == magic.assets.bytes(of: record.id)
        else { return .wrong("a file is incomplete") }
      }
      // Each file is a separate content that no row references yet.
      return present == 6 ? .new : .old
    }
  }

  private static func rows(of database: Database) throws -> Int? {
    guard try database.rows("PRAGMA integrity_check", as: String.self).first == "ok" else {
      return nil
    }
    return try database.rows("SELECT count(*) FROM t", as: Int.self).first
  }
}
