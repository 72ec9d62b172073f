public import SQLiteCore
import SQLiteMapping

public import Essentials

extension MagicData {
  /// Opens the default store of this program, blocking the thread. Creates the store if it doesn't
  /// exist.
  ///
  /// The store is a folder in `$XDG_DATA_HOME` or `~/.local/share`, named after the program. On
  /// Apple platforms, it is a folder in Application Support, named after the bundle identifier or,
  /// without a bundle, after the program.
  ///
  /// - Throws: `SQLiteError` or `AssetError` if the database or the asset folder can't be opened,
  ///   or ``MagicError/olderStore(path:tables:)`` if the database is a store of the first
  ///   MagicData, the library that this one replaces.
  public convenience init() throws {
    self.init(try StoreParts())
  }

  /// Opens the default store of this program. Creates the store if it doesn't exist. Suspends the
  /// task meanwhile.
  ///
  /// - Throws: The errors of the blocking ``init()``, and `CancellationError` if the task was
  ///   cancelled.
  public convenience init() async throws {
    self.init(try await Worker().run { try StoreParts() })
  }

  /// Opens the store at a path, blocking the thread. Creates the store if it doesn't exist.
  ///
  /// - Parameters:
  ///   - path: The folder of the store, which is created if it is missing. It contains
  ///     `default.sqlite3` and, once the store has assets, the folder `assets`. A path with the
  ///     extension `sqlite3`, `sqlite` or `db`, or of an existing file, is the database file
  ///     itself. Its assets are stored next to it: those of `default.sqlite3` in `assets`, those of
  ///     `x.sqlite3` in `x.sqlite3-assets`.
  ///   - options: The options for opening the database.
  ///   - minimumFileSize: The size in bytes from which the content of an asset is stored in a file.
  ///     Smaller content is stored in a database row. The value applies to content that you save
  ///     from now on.
  /// - Throws: `SQLiteError` or `AssetError` if the database or the asset folder can't be opened,
  ///   or ``MagicError/olderStore(path:tables:)`` if the database is a store of the first
  ///   MagicData, the library that this one replaces.
  public convenience init(
    path: String, options: Database.Options = Database.Options(), minimumFileSize: Int = 0
  ) throws {
    self.init(try StoreParts(path: path, options, minimumFileSize: minimumFileSize))
  }

  /// Opens the store at a path. Creates the store if it doesn't exist. Suspends the task meanwhile.
  ///
  /// - Parameters:
  ///   - path: The folder of the store, which is created if it is missing. It contains
  ///     `default.sqlite3` and, once the store has assets, the folder `assets`. A path with the
  ///     extension `sqlite3`, `sqlite` or `db`, or of an existing file, is the database file
  ///     itself. Its assets are stored next to it: those of `default.sqlite3` in `assets`, those of
  ///     `x.sqlite3` in `x.sqlite3-assets`.
  ///   - options: The options for opening the database.
  ///   - minimumFileSize: The size in bytes from which the content of an asset is stored in a file.
  ///     Smaller content is stored in a database row. The value applies to content that you save
  ///     from now on.
  /// - Throws: The errors of the blocking `init(path:options:minimumFileSize:)-(String)`, and
  ///   `CancellationError` if the task was cancelled.
  public convenience init(
    path: String, options: Database.Options = Database.Options(), minimumFileSize: Int = 0
  ) async throws {
    self.init(
      try await Worker().run {
        try StoreParts(path: path, options, minimumFileSize: minimumFileSize)
      })
  }

  /// Opens the store at a file URL, blocking the thread. Creates the store if it doesn't exist.
  ///
  /// - Parameters:
  ///   - path: A file URL. Its path is interpreted like that of
  ///     `init(path:options:minimumFileSize:)-(String)`.
  ///   - options: The options for opening the database.
  ///   - minimumFileSize: The size in bytes from which the content of an asset is stored in a file.
  ///     Smaller content is stored in a database row. The value applies to content that you save
  ///     from now on.
  /// - Throws: `SQLiteError` if `path` isn't a valid file URL, `SQLiteError` or `AssetError` if the
  ///   database or the asset folder can't be opened, or ``MagicError/olderStore(path:tables:)`` if
  ///   the database is a store of the first MagicData, the library that this one replaces.
  public convenience init(
    path: URL, options: Database.Options = Database.Options(), minimumFileSize: Int = 0
  ) throws {
    self.init(
      try StoreParts(
        path: path.filePath(), options, minimumFileSize: minimumFileSize))
  }

  /// Opens the store at a file URL. Creates the store if it doesn't exist. Suspends the task
  /// meanwhile.
  ///
  /// - Parameters:
  ///   - path: A file URL. Its path is interpreted like that of
  ///     `init(path:options:minimumFileSize:)-(String)`.
  ///   - options: The options for opening the database.
  ///   - minimumFileSize: The size in bytes from which the content of an asset is stored in a file.
  ///     Smaller content is stored in a database row. The value applies to content that you save
  ///     from now on.
  /// - Throws: The errors of the blocking `init(path:options:minimumFileSize:)-(URL)`, and
  ///   `CancellationError` if the task was cancelled.
  public convenience init(
    path: URL, options: Database.Options = Database.Options(), minimumFileSize: Int = 0
  ) async throws {
    let path = try path.filePath()
    self.init(
      try await Worker().run {
        try StoreParts(path: path, options, minimumFileSize: minimumFileSize)
      })
  }

  /// Opens the store in a database on a server, blocking the thread.
  ///
  /// - Parameters:
  ///   - database: The database.
  ///   - assetFolder: A folder for assets that all clients share, or nil to store assets in rows.
  package convenience init(server database: Database, assetFolder: String?) throws {
    self.init(try StoreParts(server: database, folder: assetFolder))
  }

  /// Opens a database on a server, and the store in it, without blocking the thread.
  ///
  /// - Parameters:
  ///   - open: Opens the database. It is called on another thread, which it may block.
  ///   - assetFolder: A folder for assets that all clients share, or nil to store assets in rows.
  package convenience init(
    openingServer open: @escaping @Sendable () throws -> Database, assetFolder: String?
  ) async throws {
    self.init(try await Worker().run { try StoreParts(server: open(), folder: assetFolder) })
  }

  /// Creates a store that is deleted when it is closed or released, or when the process exits. Blocks
  /// the thread.
  ///
  /// - Parameter type: The storage for the objects: files or memory.
  /// - Throws: `SQLiteError` or `AssetError`.
  public convenience init(type: StoreType) throws {
    self.init(try StoreParts(inMemory: type == .memory))
  }

  /// Creates a store that is deleted when it is closed or released, or when the process exits.
  /// Suspends the task meanwhile.
  ///
  /// - Parameter type: The storage for the objects: files or memory.
  /// - Throws: The errors of the blocking ``init(type:)``, and `CancellationError` if the task was
  ///   cancelled.
  public convenience init(type: StoreType) async throws {
    self.init(try await Worker().run { try StoreParts(inMemory: type == .memory) })
  }
}
