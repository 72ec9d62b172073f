import CSQLite
import Foundation

/// The files and rows that an asset store would create, written with C calls.
struct AssetFiles {
  let connection: CConnection
  /// The folder of pending files, which no committed row references yet, and the folder of
  /// committed files.
  let pending: String
  let files: String
  private let insert: CStatement

  init(at path: String) throws {
    (pending, files) = ("\(path)-pending", "\(path)-files")
    for folder in [pending, files] {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    }
    connection = try CConnection(path: path, isDurable: true)
    try connection.execute(
      """
      CREATE TABLE asset (
        id TEXT NOT NULL PRIMARY KEY, file TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
        sha256 BLOB NOT NULL, content BLOB) WITHOUT ROWID
      """)
    insert = try CStatement(
      "INSERT INTO asset VALUES (?, ?, ?, zeroblob(32), NULL)", connection)
  }

  /// Writes a pending file, and syncs it if `syncs` is true.
  func write(_ bytes: [UInt8], to name: String, syncs: Bool) throws {
    let path = "\(pending)/\(name)"
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    guard file >= 0 else { throw Failure("open \(path): \(errno)") }
    defer { close(file) }
    let count = unsafe bytes.withUnsafeBytes { bytes in
      unsafe Foundation.write(file, bytes.baseAddress, bytes.count)
    }
    guard count == bytes.count, !syncs || fsync(file) == 0 else {
      throw Failure("write \(path): \(errno)")
    }
  }

  func insertRow(_ name: String, size: Int) throws {
    try insert.bind(name, at: 1)
    try insert.bind(name, at: 2)
    try insert.bind(Int64(size), at: 3)
    try insert.run()
  }

  /// Moves a pending file to the folder of committed files.
  func move(_ name: String) throws {
    guard unsafe rename("\(pending)/\(name)", "\(files)/\(name)") == 0 else {
      throw Failure("rename \(name): \(errno)")
    }
  }

  func checksum(of names: [String]) throws -> Checksum {
    Checksum(
      ofContents: try names.map { [UInt8](try Data(contentsOf: URL(filePath: "\(files)/\($0)"))) })
  }

  /// Opens a folder, so that it can be synced.
  static func descriptor(of folder: String) throws -> Int32 {
    let descriptor = unsafe open(folder, O_RDONLY)
    guard descriptor >= 0 else { throw Failure("open \(folder): \(errno)") }
    return descriptor
  }

  /// Returns file names in the form that an asset store uses.
  static func names(_ count: Int) -> [String] {
    (0..<count).map { _ in UUID().uuidString.lowercased() }
  }

  /// Returns pseudorandom contents that depend on the first item.
  static func contents(_ count: Int, size: Int, _ fixture: Fixture) -> [[UInt8]] {
    var generator = SplitMix64(seed: UInt64(bitPattern: fixture.items[0].quantity))
    return (0..<count).map { _ in
      (0..<size).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    }
  }
}

extension Checksum {
  /// Computes the checksum of contents.
  init(ofContents contents: [[UInt8]]) {
    self.init()
    for bytes in contents { add(unsafe bytes.span.bytes) }
  }
}
