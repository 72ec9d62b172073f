import Essentials
import Platform
import SQLiteAssets
import SQLiteCore
import SQLiteMapping
import SQLiteObjects

/// The content of a filled template, from which copies are made.
final class StoreImage: Sendable {
  private let options: Database.Options
  private let minimumFileSize: Int
  /// The content of the database file.
  private let bytes: [UInt8]
  /// The position of the store's UUID in `bytes`, so that each copy can get its own UUID
  /// without a write; nil if the same text also occurs elsewhere, or if the file is encrypted.
  private let uuidStart: Int?
  private let files: AssetFiles?
  private let knowledge: StoreKnowledge
  /// The path of the template's database if copies in memory are made with a backup, or nil.
  private let source: String?
  /// The folder with the database and the assets, or nil if neither is needed any more.
  private let folder: TemporaryFolder?

  /// Fills a template in a temporary folder.
  init(
    options: Database.Options, minimumFileSize: Int, usesBackup: Bool,
    _ fill: (MagicData) throws -> Void
  ) throws {
    self.options = options
    self.minimumFileSize = minimumFileSize
    let folder = try TemporaryFolder()
    var unsynced = options
    unsynced.synchronous = .offMayCorruptOnPowerCut
    let magic = try MagicData(
      path: folder.path, options: unsynced, minimumFileSize: minimumFileSize)
    let path = "\(folder.path)/\(StorePath.fileName)"
    do {
      try fill(magic)
    } catch {
      // The error of the closure is more useful than one of closing.
      try? magic.close()
      throw error
    }
    knowledge = magic.knowledge
    let uuid = try magic.database.read { try MetaTable.presentUUID($0) }
    try magic.close()
    guard !FileManager.default.fileExists(atPath: path + "-wal") else {
      throw SQLiteError(
        .misuse, "the closure left the database of the template open; close its other connections")
    }
    let bytes = try File.open(path: path).readAll()
    self.bytes = bytes
    uuidStart = uuid.flatMap { StoreImage.onlyPosition(of: Array($0.utf8), in: bytes) }
    files = try AssetFiles(folder: magic.assets.path)
    source = usesBackup ? path : nil
    self.folder = files != nil || usesBackup ? folder : nil
  }

  /// Returns the position of `part` in `bytes` if it occurs exactly once.
  private static func onlyPosition(of part: [UInt8], in bytes: [UInt8]) -> Int? {
    guard let first = part.first, bytes.count >= part.count else { return nil }
    var found: Int?
    for start in 0...(bytes.count - part.count)
    where bytes[start] == first && bytes[start..<(start + part.count)] == part[...] {
      guard found == nil else { return nil }
      found = start
    }
    return found
  }

  /// Returns the content of a copy's database, and the UUID of the copy if it contains one.
  private func content() -> (bytes: [UInt8], uuid: String?) {
    guard let uuidStart else { return (bytes, nil) }
    let uuid = UUID().uuidString
    var bytes = bytes
    bytes.replaceSubrange(uuidStart..<(uuidStart + uuid.utf8.count), with: uuid.utf8)
    return (bytes, uuid)
  }

  /// Makes a copy in a new temporary folder or in memory.
  func copy(_ type: MagicData.StoreType) throws -> StoreParts {
    let folder = try TemporaryFolder()
    var options = options.withQueryFunctions
    let database: Database
    var uuid: String?
    if case .temporary = type {
      let content = content()
      uuid = content.uuid
      // Nobody needs the store after a power cut.
      options.synchronous = .offMayCorruptOnPowerCut
      database = try Database(
        path: "\(folder.path)/\(StorePath.fileName)", serialized: content.bytes, options: options)
    } else if let source {
      let original = try Database(path: source, options: options)
      database = try Database.memory(options: options)
      try original.backup(to: database)
    } else {
      let content = content()
      uuid = content.uuid
      database = try Database.memory(serialized: content.bytes, options: options)
    }
    return try StoreParts(
      copy: database, uuid: uuid, folder, files?.copy,
      minimumFileSize: minimumFileSize, of: knowledge)
  }

  /// Makes a copy at the path of a folder or of a database file. If this fails, removes what it has
  /// created.
  func copy(to path: String) throws -> StoreParts {
    let manager = FileManager.default
    let hadFolder = manager.fileExists(atPath: path)
    let file = try StorePath.database(at: path, creating: true)
    var isFolderMine = !hadFolder && file != path
    defer { if isFolderMine { _ = unsafe rmdir(path) } }
    guard !manager.fileExists(atPath: file) else { throw TemplateError.fileExists(path: file) }
    let (bytes, uuid) = content()
    let database = try Database(
      path: file, serialized: bytes, options: options.withQueryFunctions)
    let assets = database.path.map(StorePath.assets) ?? ""
    var madeAssets = false
    do {
      guard !manager.fileExists(atPath: assets) else {
        throw TemplateError.fileExists(path: assets)
      }
      madeAssets = true
      try files?.copy(to: assets)
      let parts = try StoreParts(
        copy: database, uuid: uuid, nil, nil, minimumFileSize: minimumFileSize, of: knowledge)
      isFolderMine = false
      return parts
    } catch {
      // The first error is the one to report.
      try? database.close()
      for suffix in ["", "-wal", "-shm", "-journal"] { _ = unsafe unlink(file + suffix) }
      if madeAssets { try? manager.removeItem(atPath: assets) }
      throw error
    }
  }
}
