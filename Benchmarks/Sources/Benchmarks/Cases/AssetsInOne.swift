import CSQLite
import Foundation
import MagicData

/// Puts many small files in one transaction, against files and rows in C with the same syncs.
struct AssetsInOne: Case {
  let name = "assets-1000"
  let summary =
    "put 1,000 contents of 4 KiB in one durable transaction: files, syncs, rows, renames"

  private static let count = 1_000
  private static let createTable = """
    CREATE TABLE asset (
      id TEXT NOT NULL PRIMARY KEY, file TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
      sha256 BLOB NOT NULL, content BLOB) WITHOUT ROWID
    """

  var engines: KeyValuePairs<Engine, Turn> { [.c: c, .object: object] }

  func operations(on fixture: Fixture) -> Int { Self.count }
  var mostRuns: Int { 5 }

  /// Files in one folder, one sync of the file system (`syncfs`), the rows, a durable commit, and a rename each.
  private func c(_ trial: inout Trial) throws -> Checksum {
    let path = trial.fixture.freshPath
    let (pending, files) = ("\(path)-pending", "\(path)-files")
    for folder in [pending, files] {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    }
    let contents = contents(of: trial.fixture)
    let names = contents.map { _ in UUID().uuidString.lowercased() }
    let connection = try CConnection(path: path, isDurable: true)
    try connection.execute(Self.createTable)
    let insert = try CStatement(
      "INSERT INTO asset VALUES (?, ?, ?, zeroblob(32), NULL)", connection)
    let folder = unsafe open(pending, O_RDONLY)
    guard folder >= 0 else { throw Failure("open \(pending): \(errno)") }
    defer { close(folder) }
    try trial.measure {
      try connection.execute("BEGIN IMMEDIATE")
      for (name, content) in zip(names, contents) {
        try write(content, to: "\(pending)/\(name)")
        try insert.bind(name, at: 1)
        try insert.bind(name, at: 2)
        try insert.bind(Int64(content.count), at: 3)
        _ = try insert.step()
        try insert.reset()
      }
      try syncFileSystem(of: folder)
      try connection.execute("COMMIT")
      for name in names {
        guard unsafe rename("\(pending)/\(name)", "\(files)/\(name)") == 0 else {
          throw Failure("rename \(name): \(errno)")
        }
      }
    }
    return checksum(
      of: try names.map { [UInt8](try Data(contentsOf: URL(filePath: "\(files)/\($0)"))) })
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
    return checksum(of: try records.map { try store.bytes(of: $0.id) })
  }

  private func checksum(of results: [[UInt8]]) -> Checksum {
    var checksum = Checksum()
    for bytes in results { checksum.add(unsafe bytes.span.bytes) }
    return checksum
  }

  private func contents(of fixture: Fixture) -> [[UInt8]] {
    var generator = SplitMix64(seed: UInt64(bitPattern: fixture.items[0].quantity))
    return (0..<Self.count).map { _ in
      (0..<4_096).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    }
  }

  private func write(_ bytes: [UInt8], to path: String) throws {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    guard file >= 0 else { throw Failure("open \(path): \(errno)") }
    defer { close(file) }
    let count = unsafe bytes.withUnsafeBytes { bytes in
      unsafe Foundation.write(file, bytes.baseAddress, bytes.count)
    }
    guard count == bytes.count else { throw Failure("write \(path): \(errno)") }
  }

  private func syncFileSystem(of folder: Int32) throws {
    #if os(Linux)
      // Hidden from Swift, since the module of the C library is built without _GNU_SOURCE.
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
