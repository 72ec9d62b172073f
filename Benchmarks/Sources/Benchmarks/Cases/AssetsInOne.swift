import Foundation
import MagicData

/// A case that stores many small assets in one transaction, compared with C that writes files and
/// rows with the same syncs.
struct AssetsInOne: Case {
  let name = "assets-1000"
  let summary =
    "put 1,000 contents of 4 KiB in one durable transaction: files, syncs, rows, renames"

  private static let count = 1_000
  var engines: KeyValuePairs<Engine, Turn> { [.c: c, .object: object] }

  func operations(on fixture: Fixture) -> Int { Self.count }
  var maximumRuns: Int { 5 }

  /// Writes the files to one folder, inserts the rows, syncs the file system once (`syncfs`),
  /// commits durably and renames each file.
  private func c(_ trial: inout Trial) throws -> Checksum {
    let (contents, names) = (contents(of: trial.fixture), AssetFiles.names(Self.count))
    let assets = try AssetFiles(at: trial.fixture.freshPath)
    let folder = try AssetFiles.descriptor(of: assets.pending)
    defer { close(folder) }
    try trial.measure {
      try assets.connection.execute("BEGIN IMMEDIATE")
      for (name, content) in zip(names, contents) {
        try assets.write(content, to: name, syncs: false)
        try assets.insertRow(name, size: content.count)
      }
      try syncFileSystem(of: folder)
      try assets.connection.execute("COMMIT")
      for name in names { try assets.move(name) }
    }
    return try assets.checksum(of: names)
  }

  private func object(_ trial: inout Trial) throws -> Checksum {
    let path = trial.fixture.freshPath
    let database = try Database(settingsAt: path, isDurable: true)
    let store = try AssetStore(database, folder: "\(path)-assets")
    let contents = contents(of: trial.fixture)
    let records = try trial.measure {
      try database.write { connection in
        try contents.map { try store.put($0, in: connection) }
      }
    }
    return Checksum(ofContents: try records.map { try store.bytes(of: $0.id) })
  }

  private func contents(of fixture: Fixture) -> [[UInt8]] {
    AssetFiles.contents(Self.count, size: 4_096, fixture)
  }

  private func syncFileSystem(of folder: Int32) throws {
    #if os(Linux)
      // Looked up at run time, because the C library's module is built without _GNU_SOURCE.
      guard let symbol = unsafe dlsym(dlopen(nil, RTLD_NOW), "syncfs") else {
        throw Failure("there is no syncfs")
      }
      let syncfs = unsafe unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
      guard syncfs(folder) == 0 else { throw Failure("syncfs: \(errno)") }
    #else
      sync()
    #endif
  }
}
