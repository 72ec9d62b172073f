import SQLiteAssets
import SQLiteCore
import SQLiteMapping

/// What a store is made of, opened.
struct StoreParts: Sendable {
  let database: Database
  let assets: AssetStore
  let identity: StoreIdentity
  /// A folder that goes away with the store.
  let temporaryFolder: TemporaryFolder?

  /// Opens the store in the folder of this program.
  init() throws {
    try self.init(path: StorePlace.defaultFolder(), Database.Options(), minimumFileSize: 0)
  }

  /// Opens the store at a path.
  init(path: String, _ options: Database.Options, minimumFileSize: Int) throws {
    let path = try StorePlace.database(at: path)
    try OlderStore.refuse(path: path, options)
    try self.init(
      Database(path: path, options: options), nil, minimumFileSize: minimumFileSize)
  }

  /// Opens a store that goes away.
  init(type: MagicData.StoreType) throws {
    let folder = try TemporaryFolder()
    let database: Database =
      switch type {
      case .memory: try .memory()
      case .temporary: try Database(path: "\(folder.path)/\(StorePlace.fileName)")
      }
    try self.init(database, folder, minimumFileSize: 0)
  }

  private init(
    _ database: Database, _ temporaryFolder: TemporaryFolder?, minimumFileSize: Int
  ) throws {
    self.temporaryFolder = temporaryFolder
    self.database = database
    try OlderStore.refuse(database)
    let folder = database.path.map(StorePlace.assets) ?? temporaryFolder.map { "\($0.path)/assets" }
    assets = try AssetStore(
      database, folder: folder ?? "", minimumFileSize: minimumFileSize, isAdopting: true)
    identity = StoreIdentity(uuid: try database.write { try MetaTable.storeUUID($0) })
  }

  /// Opens on a thread that may block, which Swift's cooperative threads may not.
  static func open(_ body: @escaping @Sendable () throws -> StoreParts) async throws -> StoreParts {
    try await Worker().run(body)
  }
}
