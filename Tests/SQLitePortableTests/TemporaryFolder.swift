import Foundation

/// A folder that goes away with this value.
final class TemporaryFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "portable-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    // Nothing can be done about a folder that stays.
    try? FileManager.default.removeItem(at: url)
  }

  /// The path of a file in the folder.
  func file(_ name: String) -> String { url.appending(path: name).path }

  /// The names of the files in the folder.
  func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
  }
}
