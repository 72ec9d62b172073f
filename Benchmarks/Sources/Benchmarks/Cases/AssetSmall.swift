import CSQLite
import Foundation
import MagicData

/// Puts small files one by one, each durable with its row, against files and rows in C with the same syncs.
///
/// C syncs what the promise needs: the move of the file before, the content and its name, each before the commit that names
/// the file, and the log of the database.
struct AssetSmall: Case {
  let name = "asset-small"
  let summary = "put 200 contents of 1 KiB, each with its row in a durable transaction of its own"

  private static let count = 200
  private static let createTable = """
    CREATE TABLE asset (
      id TEXT NOT NULL PRIMARY KEY, file TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
      sha256 BLOB NOT NULL, content BLOB) WITHOUT ROWID
    """

  var engines: KeyValuePairs<Engine, Turn> { [.c: c, .statement: statement, .object: object] }

  func operations(on fixture: Fixture) -> Int { Self.count }
  var mostRuns: Int { 9 }

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
    let place = unsafe open(files, O_RDONLY)
    guard place >= 0 else { throw Failure("open \(files): \(errno)") }
    defer { close(place) }
    try trial.measure {
      for (name, content) in zip(names, contents) {
        guard fsync(place) == 0 else { throw Failure("fsync \(files): \(errno)") }
        try write(content, to: "\(pending)/\(name)")
        guard fsync(folder) == 0 else { throw Failure("fsync \(pending): \(errno)") }
        try connection.execute("BEGIN IMMEDIATE")
        try insert.bind(name, at: 1)
        try insert.bind(name, at: 2)
        try insert.bind(Int64(content.count), at: 3)
        try insert.run()
        try connection.execute("COMMIT")
        guard unsafe rename("\(pending)/\(name)", "\(files)/\(name)") == 0 else {
          throw Failure("rename \(name): \(errno)")
        }
      }
    }
    return checksum(
      of: try names.map { [UInt8](try Data(contentsOf: URL(filePath: "\(files)/\($0)"))) })
  }

  private func statement(_ trial: inout Trial) throws -> Checksum {
    let path = trial.fixture.freshPath
    let database = try Database(settingsAt: path, isDurable: true)
    let store = try AssetStore(database, folder: "\(path)-assets")
    let contents = contents(of: trial.fixture)
    let records = try trial.measure { try contents.map { try store.put($0) } }
    return checksum(of: try records.map { try store.bytes(of: $0.id) })
  }

  private func object(_ trial: inout Trial) throws -> Checksum {
    let magic = try MagicData(settingsAt: trial.fixture.freshPath, isDurable: true)
    let photos = contents(of: trial.fixture).map { content in
      let photo = PhotoObject()
      photo.content = MagicAsset(value: Data(content))
      return photo
    }
    try trial.measure {
      for photo in photos { try magic.insert(photo) }
    }
    let stored = try magic.object(of: PhotoObject.self)
    return checksum(of: try stored.map { [UInt8](try $0.content.data() ?? Data()) })
  }

  private func checksum(of results: [[UInt8]]) -> Checksum {
    var checksum = Checksum()
    for bytes in results { checksum.add(unsafe bytes.span.bytes) }
    return checksum
  }

  private func contents(of fixture: Fixture) -> [[UInt8]] {
    var generator = SplitMix64(seed: UInt64(bitPattern: fixture.items[0].quantity))
    return (0..<Self.count).map { _ in
      (0..<1_024).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    }
  }

  private func write(_ bytes: [UInt8], to path: String) throws {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    guard file >= 0 else { throw Failure("open \(path): \(errno)") }
    defer { close(file) }
    let count = unsafe bytes.withUnsafeBytes { bytes in
      unsafe Foundation.write(file, bytes.baseAddress, bytes.count)
    }
    guard count == bytes.count, fsync(file) == 0 else {
      throw Failure("write \(path): \(errno)")
    }
  }
}

private struct PhotoObject: MagicObject {
  static let tableName = "photo"

  @PrimaryMagicValue var id: Int
  @MagicValue var content: MagicAsset<Data>

  init() {}
}
