import Foundation
import MagicData

/// A case that stores assets and reads them back, compared with plain files without a database.
struct Asset: Case {
  let name = "asset"
  let summary = "put contents of 1 MiB, each made durable by its own call, then read them all"

  var engines: KeyValuePairs<Engine, Turn> { [.c: c, .object: object] }

  func operations(on fixture: Fixture) -> Int { FileRow.count(fixture) }

  /// Uses `write`, `fsync` and `rename` to store each file and `read` to load it. Stores neither
  /// rows nor digests.
  private func c(_ trial: inout Trial) throws -> Checksum {
    let folder = "\(trial.fixture.freshPath)-assets"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let contents = self.contents(of: trial.fixture)
    let results = try trial.measure {
      for (number, content) in contents.enumerated() {
        try write(content, to: "\(folder)/\(number)")
      }
      return try contents.enumerated().map { number, content in
        try read(content.count, of: "\(folder)/\(number)")
      }
    }
    return checksum(of: results)
  }

  private func object(_ trial: inout Trial) throws -> Checksum {
    let path = trial.fixture.freshPath
    let store = try AssetStore(Database(settingsAt: path), folder: "\(path)-assets")
    let contents = self.contents(of: trial.fixture)
    let results = try trial.measure {
      let records = try contents.map { try store.put($0) }
      return try records.map { try store.bytes(of: $0.id) }
    }
    return checksum(of: results)
  }

  private func contents(of fixture: Fixture) -> [[UInt8]] {
    FileRow.all(fixture).map { Array($0.content) }
  }

  private func checksum(of results: [[UInt8]]) -> Checksum {
    var checksum = Checksum()
    for bytes in results { checksum.add(unsafe bytes.span.bytes) }
    return checksum
  }

  private func write(_ bytes: [UInt8], to path: String) throws {
    let file = unsafe open("\(path).new", O_WRONLY | O_CREAT | O_EXCL, 0o600)
    guard file >= 0 else { throw Failure("open \(path): \(errno)") }
    defer { close(file) }
    try unsafe bytes.withUnsafeBytes { bytes in
      var written = 0
      while written < bytes.count {
        let count = unsafe Foundation.write(
          file, bytes.baseAddress.map { unsafe $0 + written }, bytes.count - written)
        guard count > 0 else { throw Failure("write \(path): \(errno)") }
        written += count
      }
    }
    guard fsync(file) == 0, unsafe rename("\(path).new", path) == 0 else {
      throw Failure("fsync or rename \(path): \(errno)")
    }
  }

  private func read(_ count: Int, of path: String) throws -> [UInt8] {
    let file = unsafe open(path, O_RDONLY)
    guard file >= 0 else { throw Failure("open \(path): \(errno)") }
    defer { close(file) }
    return try unsafe [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
      while initialized < count {
        let length = unsafe Foundation.read(
          file, bytes.baseAddress.map { unsafe $0 + initialized }, count - initialized)
        guard length > 0 else { throw Failure("read \(path): \(errno)") }
        initialized += length
      }
    }
  }
}
