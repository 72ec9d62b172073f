import Foundation
import SQLiteAssets
import SQLiteCore
import SystemFiles
import Testing
import TestSupport

/// A database and its assets in a temporary folder.
struct StoreFixture {
  let temporary: TestFolder
  let database: Database
  let operations = FaultyFileOperations()
  let store: AssetStore

  init() throws {
    try self.init(TestFolder())
  }

  init(_ temporary: TestFolder) throws {
    self.temporary = temporary
    database = try Database(path: "\(temporary.path)/data.sqlite3")
    store = try AssetStore(
      database, folder: "\(temporary.path)/assets", operations: operations)
  }

  /// Opens another store on the same folder, like another process would.
  func another(_ operations: any FileOperations = SystemFileOperations()) throws -> AssetStore {
    try AssetStore(
      try Database(path: "\(temporary.path)/data.sqlite3"), folder: "\(temporary.path)/assets",
      operations: operations)
  }

  /// Opens the database without an asset store, like a program without this library would.
  func plain() throws -> Database {
    try Database(path: "\(temporary.path)/data.sqlite3")
  }

  /// The names of the files in `files`.
  var files: [String] { temporary.files(in: "assets/files") }

  /// The names of the files in `pending`.
  var pending: [String] {
    temporary.files(in: "assets/pending").map { String($0.drop { $0 != "/" }.dropFirst()) }
  }

  /// Returns the number of files that are marked for removal.
  func marks() throws -> Int {
    let count = try database.rows(
      "SELECT count(*) FROM magicdata_asset_trash", as: Int.self
    ).first
    return count ?? -1
  }

  /// Returns the content of a row's file without using the store's reading methods.
  func bytes(of record: AssetRecord) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: store.path(of: record.id))))
  }

  /// Moves a file from `files` into the pending folder of an opener that no longer exists.
  func makePending(_ name: String, opener: String = String(repeating: "0", count: 32)) throws {
    let folder = "\(temporary.path)/assets/pending/\(opener)"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
    try FileManager.default.moveItem(
      atPath: "\(temporary.path)/assets/files/\(name)", toPath: "\(folder)/\(name)")
  }
}

extension AssetRecord {
  /// The name of the asset's file.
  var name: String { file.text }
}
