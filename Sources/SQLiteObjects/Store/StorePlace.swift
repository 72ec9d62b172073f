import SQLiteCore

#if canImport(Darwin)
  import Foundation
#elseif canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Where the parts of a store are.
enum StorePlace {
  /// The database file of the store at `path`; makes the folder if that holds it.
  static func database(at path: String) throws -> String {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw SQLiteError(.cannotOpen, "the path is empty or contains a NUL")
    }
    let isFile = ["sqlite3", "sqlite", "db"].contains { asciiLowercased(path).hasSuffix(".\($0)") }
    if isFile { return path }
    try makeFolder(path)
    return "\(path)/\(fileName)"
  }

  /// The folder with the assets of a database: one, by whatever path the database was opened.
  ///
  /// - Parameter database: The path of the database file, without symbolic links.
  static func assets(of database: String) -> String {
    let end = database.utf8.lastIndex(of: UInt8(ascii: "/")).map(database.utf8.index(after:))
    let start = end ?? database.startIndex
    guard database[start...].utf8.elementsEqual(fileName.utf8) else { return "\(database)-assets" }
    return "\(database[..<start])assets"
  }

  /// The name of the database file in the folder of a store.
  static let fileName = "default.sqlite3"

  /// The folder of this program in the user's data folder: `$XDG_DATA_HOME` or `~/.local/share`, on
  /// Apple's systems Application Support.
  static func defaultFolder() throws -> String {
    var program = "MagicData"
    if CommandLine.argc > 0, let start = unsafe CommandLine.unsafeArgv[0] {
      let path = try unsafe exactPath(start)
      program =
        path.utf8.split(separator: UInt8(ascii: "/")).last.map { "\(Substring($0))" } ?? program
    }
    #if canImport(Darwin)
      let name = Bundle.main.bundleIdentifier ?? program
      return URL.applicationSupportDirectory.appending(path: name).path
    #else
      return try "\(Database.userDataFolder())/\(program)"
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
