import SQLiteCore

#if canImport(Darwin)
  import Foundation
#elseif canImport(FoundationEssentials)
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

  /// The folder of this program in the user's data folder: `$XDG_DATA_HOME` or `~/.local/share`, on
  /// Apple's systems Application Support.
  static func defaultFolder() throws -> String {
    let program = (CommandLine.arguments.first ?? "").split(separator: "/").last ?? "MagicData"
    #if canImport(Darwin)
      let name = Bundle.main.bundleIdentifier ?? String(program)
      return URL.applicationSupportDirectory.appending(path: name).path
    #else
      let environment = ProcessInfo.processInfo.environment
      // The specification of the variable says that a relative path is to be ignored.
      if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") {
        return "\(data)/\(program)"
      }
      guard let home = environment["HOME"], home.hasPrefix("/") else {
        throw SQLiteError(
          .cannotOpen, "neither XDG_DATA_HOME nor HOME says where this program's data belongs")
      }
      return "\(home)/.local/share/\(program)"
    #endif
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
