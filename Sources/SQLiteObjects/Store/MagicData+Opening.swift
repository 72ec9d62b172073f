public import SQLiteCore
import SQLiteMapping

public import Essentials

extension MagicData {
  /// Opens the store of this program, and makes it if there is none, blocking the thread.
  ///
  /// It is in a folder with the program's name: in `$XDG_DATA_HOME` or `~/.local/share`, on Apple's
  /// systems in Application Support.
  ///
  /// - Throws: `SQLiteError` or `AssetError`.
  public convenience init() throws {
    self.init(try StoreParts())
  }

  /// As ``init()``, without blocking the task. Throws `CancellationError` too.
  public convenience init() async throws {
    self.init(try await Worker().run { try StoreParts() })
  }

  /// Opens the store in a folder, and makes it if there is none, blocking the thread.
  ///
  /// - Parameters:
  ///   - path: A folder, which is made if it is missing; in it are `default.sqlite3` and, once there are
  ///     assets, the folder `assets`. A path with the extension `sqlite3`, `sqlite` or `db`, or of a file that
  ///     is there, is the database file itself, with the assets beside it: of `default.sqlite3` in `assets`, of `x.sqlite3` in
  ///     `x.sqlite3-assets`.
  ///   - options: How the database is opened.
  ///   - minimumFileSize: From how many bytes on the content of an asset is kept in a file; a shorter
  ///     one is kept in a row. It matters for what is saved from now on.
  /// - Throws: `SQLiteError` or `AssetError`.
  public convenience init(
    path: String, options: Database.Options = Database.Options(), minimumFileSize: Int = 0
  ) throws {
    self.init(try StoreParts(path: path, options, minimumFileSize: minimumFileSize))
  }

  /// As `init(path:options:minimumFileSize:)-(String)`, without blocking the task.
  /// Throws `CancellationError` too.
  public convenience init(
    path: String, options: Database.Options = Database.Options(), minimumFileSize: Int = 0
  ) async throws {
    self.init(
      try await Worker().run {
        try StoreParts(path: path, options, minimumFileSize: minimumFileSize)
      })
  }

  /// Opens the store in a folder, and makes it if there is none, blocking the thread.
  ///
  /// - Parameters:
  ///   - path: A file URL, as for `init(path:options:minimumFileSize:)-(String)`.
  ///   - options: How the database is opened.
  ///   - minimumFileSize: From how many bytes on the content of an asset is kept in a file; a shorter
  ///     one is kept in a row. It matters for what is saved from now on.
  /// - Throws: `SQLiteError` or `AssetError`.
  public convenience init(
    path: URL, options: Database.Options = Database.Options(), minimumFileSize: Int = 0
  ) throws {
    self.init(
      try StoreParts(
        path: path.filePath(), options, minimumFileSize: minimumFileSize))
  }

  /// As `init(path:options:minimumFileSize:)-(URL)`, without blocking the task.
  /// Throws `CancellationError` too.
  public convenience init(
    path: URL, options: Database.Options = Database.Options(), minimumFileSize: Int = 0
  ) async throws {
    let path = try path.filePath()
    self.init(
      try await Worker().run {
        try StoreParts(path: path, options, minimumFileSize: minimumFileSize)
      })
  }

  /// Opens the store in a database of a server, blocking the thread.
  ///
  /// - Parameters:
  ///   - database: The database.
  ///   - assetFolder: A folder for assets, which all clients share; nil to keep them in rows.
  package convenience init(server database: Database, assetFolder: String?) throws {
    self.init(try StoreParts(server: database, folder: assetFolder))
  }

  /// As ``init(server:assetFolder:)``, without blocking the task.
  package convenience init(
    openingServer open: @escaping @Sendable () throws -> Database, assetFolder: String?
  ) async throws {
    self.init(try await Worker().run { try StoreParts(server: open(), folder: assetFolder) })
  }

  /// Opens a store that goes away with this value, blocking the thread.
  ///
  /// - Parameter type: Where it keeps its objects meanwhile.
  /// - Throws: `SQLiteError` or `AssetError`.
  public convenience init(type: StoreType) throws {
    self.init(try StoreParts(inMemory: type == .memory))
  }

  /// As ``init(type:)``, without blocking the task. Throws `CancellationError` too.
  public convenience init(type: StoreType) async throws {
    self.init(try await Worker().run { try StoreParts(inMemory: type == .memory) })
  }
}
