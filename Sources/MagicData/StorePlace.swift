import SQLiteCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Where the parts of a store are.
struct StorePlace {
  /// The database file, nil for one in memory.
  let database: String?
  /// The folder with the assets.
  let assets: String

  init(database: String?, assets: String) {
    self.database = database
    self.assets = assets
  }

  /// Finds the parts, and makes the folder that holds them.
  init(path: String) throws {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw SQLiteError(.cannotOpen, "the path is empty or contains a NUL")
    }
    let isFile = ["sqlite3", "sqlite", "db"].contains { asciiLowercased(path).hasSuffix(".\($0)") }
    if isFile {
      database = path
      assets = "\(path)-assets"
    } else {
      try StorePlace.makeFolder(path)
      database = "\(path)/default.sqlite3"
      assets = "\(path)/assets"
    }
  }

  static func makeFolder(_ path: String) throws {
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    } catch {
      throw SQLiteError(.cannotOpen, "the folder \(path) cannot be made: \(error)")
    }
  }
}

/// A folder of our own that goes away with this value.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    let base = FileManager.default.temporaryDirectory.path
    path = "\(base)/MagicData-\(UUID().uuidString)"
    try StorePlace.makeFolder(path)
  }

  deinit {
    // Nobody is left to tell if it fails; the system empties its temporary folder some day.
    try? FileManager.default.removeItem(atPath: path)
  }
}
