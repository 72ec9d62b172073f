import Essentials
import MagicData
import SQLiteAssets
import SQLiteCore
import SQLiteMapping
import SQLiteObjects
import Terminal

/// The database file that a path on the command line refers to.
struct DatabaseLocation {
  /// The path of the database file.
  let path: String

  /// Locates the database at a path: the file itself, or the database file inside the folder of a
  /// store.
  ///
  /// - Throws: `ToolError` if `path` doesn't exist, isn't valid, or is a folder without a database.
  init(_ path: String) throws {
    switch try Self.kind(of: path) {
    case .missing: throw ToolError.failed("\(path) is missing")
    case .file: self.path = path
    case .folder:
      let file = "\(path)/\(StorePath.fileName)"
      guard try Self.kind(of: file) == .file else {
        throw ToolError.failed(
          "the folder \(path) is not a store: it does not contain \(StorePath.fileName)")
      }
      self.path = file
    }
  }

  enum Kind {
    case missing, file, folder
  }

  /// Returns what exists at a path: a file, a folder or nothing.
  ///
  /// - Throws: `ToolError` if the path is empty or contains a NUL character.
  static func kind(of path: String) throws -> Kind {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw ToolError.usage("a path is empty or contains a NUL character")
    }
    var isFolder = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      return .missing
    }
    return isFolder ? .folder : .file
  }

  // MARK: Reading

  /// Opens the database read-only. Changes neither the database nor the files next to it.
  func openForReading(_ session: Session) throws -> Database {
    var options = Database.Options.readOnly.withQueryFunctions
    // A single reader, because counters such as `total_changes()` differ from connection to
    // connection.
    options.maximumReaderCount = 1
    options.key = session.key
    options.extensions = session.extensions
    do {
      let database = try Database(path: path, options: options)
      session.interruption.include(database)
      return database
    } catch {
      guard error.code.primary == .readOnly else { throw error }
      throw ToolError.failed(
        "\(path) has an interrupted transaction (\(error.message)); roll it back with "
          + "`magicdata repair --apply`"
      )
    }
  }

  /// Opens the assets of a read-only database, or returns nil if the database has no asset tables.
  ///
  /// - Throws: `ToolError` if a row references an asset file but the folder of the files is
  ///   missing, or if another file has its path; the errors of `AssetStore` and SQLite.
  func assets(of database: Database) throws -> AssetStore? {
    guard try Self.isStore(database), let path = database.path else { return nil }
    let folder = StorePath.assets(of: path)
    let kind = try Self.kind(of: folder)
    let needsFolder = try database.read { connection in
      try connection.firstRow("SELECT 1 FROM magicdata_asset WHERE content IS NULL LIMIT 1") != nil
    }
    guard kind == .folder || kind == .missing && !needsFolder else {
      throw ToolError.failed("the asset folder \(folder) is missing")
    }
    return try AssetStore(database, folder: folder)
  }

  /// Returns whether the database is part of a store with assets.
  static func isStore(_ database: Database) throws -> Bool {
    try database.read { try $0.tableExists("magicdata_asset_store") }
  }

  // MARK: Writing

  /// A store or plain database that is open for writing.
  enum Opened {
    case store(MagicData)
    case database(Database)

    var database: Database {
      switch self {
      case .store(let magic): magic.database
      case .database(let database): database
      }
    }
  }

  /// The options for writing. They keep the file's journal mode, because another program may have
  /// created the file.
  private static func writingOptions(_ session: Session) -> Database.Options {
    var options = Database.Options(mode: .readWrite)
    options.journalMode = .delete
    options.keepsJournalMode = true
    options.updatesStatistics = false
    options.key = session.key
    return options
  }

  /// Opens the store or database for writing.
  ///
  /// - Throws: `ToolError` with the exit status 4 if a newer program created or migrated it.
  func openForWriting(_ session: Session) throws -> Opened {
    let isStore = try checkIsNotNewer(session)
    var options = Self.writingOptions(session)
    options.extensions = session.extensions
    if let seconds = try session.arguments.number("--wait", in: 0...86_400) {
      options.busyTimeout = .seconds(seconds)
    }
    let opened: Opened
    if isStore {
      opened = .store(try MagicData(path: path, options: options))
    } else {
      let database = try Database(path: path, options: options.withQueryFunctions)
      opened = .database(database)
    }
    session.interruption.include(opened.database)
    return opened
  }

  /// Checks that this version of the library can write to the database, and that the last applied
  /// migration is that of `--migrated-to`, if this option is present.
  ///
  /// - Returns: Whether the database is part of a store.
  /// - Throws: `ToolError` with the exit status 4 if a newer program created or migrated the
  ///   database, or if its last migration is a different one.
  @discardableResult
  func checkIsNotNewer(_ session: Session) throws -> Bool {
    let database = try openForReading(session)
    defer { try? database.close() }
    do {
      let applied = try database.appliedMigrations()
      if let known = session.arguments.values["--migrated-to"], applied.last ?? "" != known {
        let last = applied.last.map(\.quoted) ?? "none"
        throw ToolError(
          status: .newer, message: "the last migration of \(path) is \(last), not \(known.quoted)")
      }
    } catch let error as SQLiteError where error.code == .schema {
      throw ToolError(status: .newer, message: "\(path): \(error.message)")
    }
    return try Self.isStore(database)
  }

  /// Rolls back the transaction that a crash left in a rollback journal. SQLite does this when it
  /// first reads the file.
  func rollBackInterruptedTransaction(_ session: Session) throws {
    let database = try Database(path: path, options: Self.writingOptions(session))
    _ = try database.read { try $0.existingTables() }
    try database.close()
  }
}
