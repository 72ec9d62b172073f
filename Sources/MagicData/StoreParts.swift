import Dispatch
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
    try self.init(StorePlace(path: path), nil, options, minimumFileSize: minimumFileSize)
  }

  /// Opens a store that goes away.
  init(type: MagicData.StoreType) throws {
    let folder = try TemporaryFolder()
    let path = type == .memory ? nil : "\(folder.path)/default.sqlite3"
    try self.init(
      StorePlace(database: path, assets: "\(folder.path)/assets"), folder,
      Database.Options(), minimumFileSize: 0)
  }

  private init(
    _ place: StorePlace, _ temporaryFolder: TemporaryFolder?, _ options: Database.Options,
    minimumFileSize: Int
  ) throws {
    self.temporaryFolder = temporaryFolder
    database = try place.database.map { try Database(path: $0, options: options) } ?? .memory()
    assets = try AssetStore(
      database, folder: place.assets, minimumFileSize: minimumFileSize)
    identity = StoreIdentity(uuid: try database.write { try MetaTable.storeUUID($0) })
  }

  /// Opens on a thread that may block, which Swift's cooperative threads may not.
  static func open(_ body: @escaping @Sendable () throws -> StoreParts) async throws -> StoreParts {
    try await withCheckedThrowingContinuation { continuation in
      // A queue of its own has a thread of its own, however many of the global ones are blocked.
      DispatchQueue(label: "MagicData.opening").async {
        continuation.resume(with: Result { try body() })
      }
    }
  }
}
