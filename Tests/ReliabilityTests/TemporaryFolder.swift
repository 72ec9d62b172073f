import Foundation

/// A new folder for one test, removed with all it holds when the test lets go of it.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    // In memory, if there is such a place: these tests make many files.
    let places = ["/dev/shm", FileManager.default.temporaryDirectory.path]
    let place = places.first { FileManager.default.isWritableFile(atPath: $0) } ?? "/tmp"
    path = "\(place)/magicdata-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String = "data.sqlite3") -> String { "\(path)/\(name)" }

  func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
    try Data(bytes).write(to: URL(filePath: file(name)))
  }

  func bytes(of name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(filePath: file(name))))
  }

  func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }

  func contains(_ name: String) -> Bool { FileManager.default.fileExists(atPath: file(name)) }
}
