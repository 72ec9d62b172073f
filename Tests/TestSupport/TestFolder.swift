package import Foundation

/// A new folder for one test. It is removed with its content when the instance is deallocated.
package final class TestFolder: Sendable {
  package let path: String

  /// A folder in memory if the system has one, otherwise the temporary folder. `.ci/test` sets it
  /// through the environment, and fails if files remain in it after the tests.
  package static var memory: String {
    let path = ProcessInfo.processInfo.environment["MAGICDATA_TEST_MEMORY"] ?? "/dev/shm"
    return FileManager.default.isWritableFile(atPath: path)
      ? path : FileManager.default.temporaryDirectory.path
  }

  /// Creates a folder in memory, for tests that create many files.
  package static func inMemory() throws -> TestFolder { try TestFolder(in: memory) }

  package init(in folder: String = FileManager.default.temporaryDirectory.path) throws {
    path = "\(folder)/magicdata-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit {
    // A released store may still write files while it closes.
    var failure: (any Error)?
    for _ in 1...10 {
      do {
        try FileManager.default.removeItem(atPath: path)
        return
      } catch { failure = error }
    }
    if let failure { print("\(failure)") }
  }

  package var url: URL { URL(filePath: path) }

  /// Returns the path of a file in the folder.
  package func file(_ name: String = "data.sqlite3") -> String { "\(path)/\(name)" }

  /// Writes a file, and creates the folders in its path.
  package func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
    let url = URL(filePath: file(name))
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: url)
  }

  package func write(_ text: String, to name: String) throws { try write(text.utf8, to: name) }

  package func bytes(of name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(filePath: file(name))))
  }

  /// Returns the names of the folder's entries, sorted.
  package func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }

  package func contains(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: file(name))
  }

  /// Creates a symbolic link, whether or not its target exists.
  package func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: file(name), withDestinationPath: target)
  }
}
