import Essentials
import Platform
import SQLiteAssets
import SQLiteCore
import SQLiteMapping
import Synchronization

/// The parts of a store, opened.
struct StoreParts: Sendable {
  let database: Database
  let assets: AssetStore
  let identity: StoreIdentity
  /// A folder that goes away with the store.
  let temporaryFolder: TemporaryFolder?

  /// Opens the store in the folder of this program.
  init() throws {
    try self.init(path: StorePath.defaultFolder(), Database.Options(), minimumFileSize: 0)
  }

  /// Opens the store at a path.
  init(path: String, _ options: Database.Options, minimumFileSize: Int) throws {
    let path = try StorePath.database(at: path)
    try OlderStore.refuse(path: path, options)
    try self.init(
      Database(path: path, options: options.withQueryFunctions), nil,
      minimumFileSize: minimumFileSize)
  }

  /// Opens a store that goes away.
  init(inMemory isInMemory: Bool) throws {
    let folder = try TemporaryFolder()
    let options = Database.Options().withQueryFunctions
    let database: Database =
      isInMemory
      ? try .memory(options: options)
      : try Database(path: "\(folder.path)/\(StorePath.fileName)", options: options)
    try self.init(database, folder, minimumFileSize: 0)
  }

  /// Opens the store in a database of a server.
  ///
  /// - Parameters:
  ///   - database: The database.
  ///   - folder: A folder for assets, which all clients share; nil to keep them in rows.
  init(server database: Database, folder: String?) throws {
    let own = folder == nil ? try TemporaryFolder() : nil
    try self.init(
      database, own, folder: folder ?? own.map { "\($0.path)/assets" } ?? "",
      minimumFileSize: folder == nil ? .max : 0)
  }

  private init(
    _ database: Database, _ temporaryFolder: TemporaryFolder?, minimumFileSize: Int
  ) throws {
    let folder = database.path.map(StorePath.assets) ?? temporaryFolder.map { "\($0.path)/assets" }
    try self.init(
      database, temporaryFolder, folder: folder ?? "", minimumFileSize: minimumFileSize)
  }

  private init(
    _ database: Database, _ temporaryFolder: TemporaryFolder?, folder: String,
    minimumFileSize: Int
  ) throws {
    self.temporaryFolder = temporaryFolder
    self.database = database
    try OlderStore.refuse(database)
    assets = try AssetStore(
      database, folder: folder, minimumFileSize: minimumFileSize, isAdopting: true)
    identity = StoreIdentity(uuid: try database.write { try MetaTable.storeUUID($0) })
  }
}

extension Database.Options {
  /// The options, so that each connection has the functions of queries before the caller prepares it.
  package var withQueryFunctions: Database.Options {
    var options = self
    let prepare = prepareConnection
    options.prepareConnection = { connection in
      try QueryFunctions.add(to: connection)
      try prepare?(connection)
    }
    return options
  }
}

/// The paths of a store's files.
package enum StorePath {
  /// The database file of the store at `path`: a name that ends as those of databases do, a file that is there, or
  /// the file in a folder, which is made.
  static func database(at path: String) throws -> String {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw SQLiteError(.cannotOpen, "the path is empty or contains a NUL")
    }
    let isFile = ["sqlite3", "sqlite", "db"].contains { asciiLowercased(path).hasSuffix(".\($0)") }
    var isFolder = false
    let isThere = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
    if isFile || isThere && !isFolder { return path }
    try makeFolder(path)
    return "\(path)/\(fileName)"
  }

  /// The folder with the assets of a database: one, by whatever path the database was opened.
  ///
  /// - Parameter database: The path of the database file, without symbolic links.
  package static func assets(of database: String) -> String {
    let end = database.utf8.lastIndex(of: UInt8(ascii: "/")).map(database.utf8.index(after:))
    let start = end ?? database.startIndex
    guard database[start...].utf8.elementsEqual(fileName.utf8) else { return "\(database)-assets" }
    return "\(database[..<start])assets"
  }

  /// The name of the database file in the folder of a store.
  package static let fileName = "default.sqlite3"

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
      // The error is of this call: nobody else has its dictionary.
      let cause = unsafe (error as? CocoaError)?.userInfo["NSUnderlyingError"] as? POSIXError
      let reason = cause.map { systemMessage($0.code.rawValue) } ?? "\(error)"
      throw SQLiteError(.cannotOpen, "\(path): the folder cannot be made: \(reason)")
    }
  }
}

/// A folder that is deleted when this value is released.
package final class TemporaryFolder: Sendable {
  package let path: String
  private let removal = Mutex(())

  package init() throws {
    // Foundation would repair a path that is not UTF-8, and so make another folder.
    _ = try environmentPath("TMPDIR")
    let base = FileManager.default.temporaryDirectory.path
    path = "\(base)/MagicData-\(UUID().uuidString)"
    try StorePath.makeFolder(path)
  }

  deinit {
    // A `deinit` cannot throw; the system empties its temporary folder some day.
    try? remove()
  }

  /// Deletes the folder, if it exists. A concurrent call waits until it is deleted.
  func remove() throws {
    try removal.withLock { _ in
      let files = FileManager.default
      let gone = "\(path).removed"
      // A connection that still closes on another thread would make files in it by its path.
      if files.fileExists(atPath: path) { try files.moveItem(atPath: path, toPath: gone) }
      var attempts = 0
      while files.fileExists(atPath: gone) {
        do {
          try files.removeItem(atPath: gone)
        } catch {
          // An asset store that still closes removes files of its own at the same time.
          attempts += 1
          if attempts == 10 { throw error }
        }
      }
    }
  }
}

/// A store of the older MagicData, which kept its objects in another way.
enum OlderStore {
  /// The table in which it counted the objects of each type.
  private static let table = "0Table_Info"

  /// Throws if a file is such a store, without changing anything in it.
  ///
  /// - Throws: ``MagicError/olderStore(path:tables:)``.
  static func refuse(path: String, _ options: Database.Options) throws {
    // With a VFS of the user's only SQLite knows which files there are.
    guard options.vfs == nil, FileManager.default.fileExists(atPath: path) else { return }
    var options = options
    options.mode = .readOnly
    options.maximumReaderCount = 0
    let database: Database
    do {
      database = try Database(path: path, options: options)
    } catch {
      // Opening it for writing throws the error, or recovers the file.
      return
    }
    // An error of reading is thrown again when it is opened for writing.
    let tables = (try? database.read { try tablesOfTypes($0) }) ?? nil
    // Nothing was written, so an error of closing loses nothing.
    try? database.close()
    if let tables { throw MagicError.olderStore(path: path, tables: tables) }
  }

  /// Throws if a database that was opened is such a store.
  ///
  /// - Throws: ``MagicError/olderStore(path:tables:)`` or ``SQLiteError``.
  static func refuse(_ database: Database) throws {
    if let tables = try database.read({ try tablesOfTypes($0) }) {
      throw MagicError.olderStore(path: database.path ?? ":memory:", tables: tables)
    }
  }

  /// The tables of the store's types, or nil if it is another database.
  private static func tablesOfTypes(_ connection: Connection) throws -> [String]? {
    let columns = try connection.columnNames(of: table)
    guard columns.isSuperset(of: ["table_name", "z_index_count", "structure"]) else { return nil }
    return try connection.rows(
      "SELECT table_name FROM \(identifier: table) ORDER BY table_name", as: String.self)
  }
}
