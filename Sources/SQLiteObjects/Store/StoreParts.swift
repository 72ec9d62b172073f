import Essentials
import Platform
import SQLiteAssets
import SQLiteCore
import SQLiteMapping
import Synchronization

/// The opened parts of a store.
package struct StoreParts: Sendable {
  let database: Database
  let assets: AssetStore
  let identity: StoreIdentity
  /// The folder that is deleted when the store is closed or released, or nil if the store has none.
  let temporaryFolder: TemporaryFolder?
  /// The plans and tables of the original store, or nil if the store isn't a copy.
  var original: StoreKnowledge?

  /// Opens the default store of this program, and creates it if it doesn't exist.
  init() throws {
    try self.init(path: StorePath.defaultFolder(), Database.Options(), minimumFileSize: 0)
  }

  /// Opens the store at the path of a folder or of a database file. Creates it if it doesn't exist
  /// and the options permit this.
  init(path: String, _ options: Database.Options, minimumFileSize: Int) throws {
    let path = try StorePath.database(at: path, creating: options.mode == .readWriteCreate)
    try self.init(
      OlderStore.rejecting(path) { check in
        var options = options.withQueryFunctions
        options.checkBeforeUse = check
        return try Database(path: path, options: options)
      }, nil, minimumFileSize: minimumFileSize)
  }

  /// Creates a store that is deleted when it is closed or released.
  init(inMemory isInMemory: Bool) throws {
    let folder = try TemporaryFolder()
    let options = Database.Options().withQueryFunctions
    let database: Database =
      isInMemory
      ? try .memory(options: options)
      : try Database(path: "\(folder.path)/\(StorePath.fileName)", options: options)
    try self.init(database, folder, minimumFileSize: 0)
  }

  /// Opens the store in a database on a server.
  ///
  /// - Parameters:
  ///   - database: The database.
  ///   - folder: A folder for assets that all clients share, or nil to store assets in rows.
  init(server database: Database, folder: String?) throws {
    let own = folder == nil ? try TemporaryFolder() : nil
    if let tables = try database.read({ try OlderStore.tables($0) }) {
      throw MagicError.olderStore(path: ":memory:", tables: tables)
    }
    try self.init(
      database, own, folder: folder ?? own.map { "\($0.path)/assets" } ?? "",
      minimumFileSize: folder == nil ? .max : 0)
  }

  /// Opens a copy of a store.
  ///
  /// - Parameters:
  ///   - database: The database, with the content of the original store.
  ///   - uuid: The UUID of the copy, if `database` contains it already. If this is nil, the copy
  ///     gets a new UUID.
  ///   - temporaryFolder: The folder that is deleted with the store, or nil. The assets of an
  ///     in-memory database are in it.
  ///   - create: Creates the asset folder at its first access, or nil.
  ///   - minimumFileSize: The size in bytes from which the content of an asset is stored in a file.
  ///   - original: The plans and tables of the original store.
  package init(
    copy database: Database, uuid: String?, _ temporaryFolder: TemporaryFolder?,
    _ create: AssetStore.FolderCreation?, minimumFileSize: Int, of original: StoreKnowledge
  ) throws {
    let uuid =
      try uuid
      ?? database.write { connection in
        let new = UUID().uuidString
        try MetaTable.setStoreUUID(new, connection)
        return new
      }
    let folder = database.path.map(StorePath.assets) ?? temporaryFolder.map { "\($0.path)/assets" }
    self.database = database
    self.temporaryFolder = temporaryFolder
    self.original = original
    identity = StoreIdentity(uuid: uuid)
    assets = try AssetStore(
      database, folder: folder ?? "", minimumFileSize: minimumFileSize, isAdopting: true,
      creatingFolderWith: create)
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
    // Opening an existing store only reads. The tables of a new store are created in one
    // transaction.
    let present = database.isNew ? nil : try database.read { try MetaTable.presentUUID($0) }
    let uuid =
      try present
      ?? database.write { connection in
        try AssetStore.makeTables(adopting: folder, in: connection)
        return try MetaTable.storeUUID(connection)
      }
    identity = StoreIdentity(uuid: uuid)
    assets = try AssetStore(
      database, folder: folder, minimumFileSize: minimumFileSize, isAdopting: true)
  }
}

extension Database.Options {
  /// A copy of the options that registers the SQL functions of queries on each connection.
  package var withQueryFunctions: Database.Options {
    var options = self
    options.addFunctions = { try QueryFunctions.add(to: $0) }
    return options
  }
}

/// The paths of a store's files.
package enum StorePath {
  /// Returns the path of the database file of the store at `path`. That is `path` itself if it has
  /// the extension of a database or is an existing file. Otherwise `path` is a folder, and the file
  /// is in it. If `isCreating` is true, creates the folder if it is missing.
  package static func database(at path: String, creating isCreating: Bool) throws -> String {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw SQLiteError(.cannotOpen, "the path is empty or contains a NUL character")
    }
    let isFile = ["sqlite3", "sqlite", "db"].contains { asciiLowercased(path).hasSuffix(".\($0)") }
    var isFolder = false
    let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
    if isFile || exists && !isFolder { return path }
    if isCreating { try makeFolder(path) }
    return "\(path)/\(fileName)"
  }

  /// Returns the asset folder of a database.
  ///
  /// - Parameter database: The path of the database file, without symbolic links. Every path by
  ///   which a program opens the database therefore has the same asset folder.
  package static func assets(of database: String) -> String {
    let end = database.utf8.lastIndex(of: UInt8(ascii: "/")).map(database.utf8.index(after:))
    let start = end ?? database.startIndex
    guard database[start...].utf8.elementsEqual(fileName.utf8) else { return "\(database)-assets" }
    return "\(database[..<start])assets"
  }

  /// The name of the database file in a store's folder.
  package static let fileName = "default.sqlite3"

  /// Returns this program's folder in the user's data folder: `$XDG_DATA_HOME` or `~/.local/share`,
  /// on Apple platforms Application Support.
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
      // This call created the error, so no other code accesses its dictionary.
      let cause = unsafe (error as? CocoaError)?.userInfo["NSUnderlyingError"] as? POSIXError
      let reason = cause.map { systemMessage($0.code.rawValue) } ?? "\(error)"
      throw SQLiteError(.cannotOpen, "\(path): the folder cannot be created: \(reason)")
    }
  }
}

/// A folder with a unique name in the system's temporary folder. Releasing the instance deletes the
/// folder, and so does the end of the process: a global variable is never released.
package final class TemporaryFolder: Sendable {
  package let path: String
  private let removal = Mutex(())

  /// The paths of the folders that exist or are being created, with the processes that create them.
  /// A process that was forked from one of these must not delete its parent's folders.
  private static let existing = Mutex<[String: pid_t]>([:])

  /// Deletes the existing folders when the process exits (`atexit`).
  private static let deletesAtExit: Void = {
    atexit {
      let process = getpid()
      for (path, owner) in TemporaryFolder.existing.withLock({ $0 }) where owner == process {
        try? TemporaryFolder.delete(path)
      }
    }
  }()

  package init() throws {
    // Throws if the path isn't valid UTF-8. Foundation would repair it and use a different folder.
    _ = try environmentPath("TMPDIR")
    let base = FileManager.default.temporaryDirectory.path
    path = "\(base)/MagicData-\(UUID().uuidString)"
    Self.deletesAtExit
    Self.existing.withLock { $0[path] = getpid() }
    do {
      try StorePath.makeFolder(path)
    } catch {
      Self.existing.withLock { $0[path] = nil }
      throw error
    }
  }

  deinit {
    // `deinit` can't throw. The system eventually empties its temporary folder.
    try? remove()
  }

  /// Deletes the folder if it exists and this process has created it. Concurrent calls wait until
  /// the deletion has finished.
  func remove() throws {
    try removal.withLock { _ in
      guard Self.existing.withLock({ $0[path] }) == getpid() else { return }
      try Self.delete(path)
      Self.existing.withLock { $0[path] = nil }
    }
  }

  private static func delete(_ path: String) throws {
    let files = FileManager.default
    let gone = "\(path).removed"
    // Renamed first: a connection that is still closing on another thread could create files at
    // the path.
    if files.fileExists(atPath: path) { try files.moveItem(atPath: path, toPath: gone) }
    var attempts = 0
    while files.fileExists(atPath: gone) {
      do {
        try files.removeItem(atPath: gone)
      } catch {
        // Another thread may delete the same files: an asset store that is still closing, or the
        // release of the store while the process exits.
        attempts += 1
        if attempts == 10 { throw error }
      }
    }
  }
}

/// The detection of stores of the older MagicData: the library of the same name that this one
/// replaces. Its stores have a different format.
enum OlderStore {
  /// The name of the table in which the older MagicData listed the tables of its types.
  private static let table = "0Table_Info"

  /// Opens a database, or throws without changing it if it is a store of the older MagicData.
  ///
  /// - Parameters:
  ///   - path: The path of the file, for the error message.
  ///   - open: Opens the database. It must run the given check before the first use.
  /// - Throws: ``MagicError/olderStore(path:tables:)`` or ``SQLiteError``.
  static func rejecting(
    _ path: String, _ open: (@escaping @Sendable (Connection) throws -> Void) throws -> Database
  ) throws -> Database {
    let found = Mutex<[String]?>(nil)
    do {
      return try open { connection in
        guard try connection.hasLoaded("structure", of: table),
          let tables = try tables(connection)
        else { return }
        found.withLock { $0 = tables }
        throw SQLiteError(.misuse, "this is a store of an older version")
      }
    } catch {
      // `open` throws only `SQLiteError`, so the check reports the tables through `found`.
      guard let tables = found.withLock({ $0 }) else { throw error }
      throw MagicError.olderStore(path: path, tables: tables)
    }
  }

  /// Returns the names of the tables that are listed in a store of the older MagicData, or nil if
  /// the database isn't such a store.
  static func tables(_ connection: Connection) throws -> [String]? {
    guard try connection.tableExists(table) else { return nil }
    let columns = try connection.columnNames(of: table)
    guard columns.isSuperset(of: ["table_name", "z_index_count", "structure"]) else { return nil }
    return try connection.rows(
      "SELECT table_name FROM \(identifier: table) ORDER BY table_name", as: String.self)
  }
}
