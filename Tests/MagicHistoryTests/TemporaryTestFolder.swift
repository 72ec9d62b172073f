import Foundation

/// A folder that goes away with this value.
final class TemporaryTestFolder: Sendable {
  let path: String

  init() throws {
    path = "\(FileManager.default.temporaryDirectory.path)/magichistory-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    // What is left is found in the system's temporary folder.
    try? FileManager.default.removeItem(atPath: path)
  }

  /// The number of files in the store's folder of assets.
  var fileCount: Int {
    get throws {
      try FileManager.default.subpathsOfDirectory(atPath: "\(path)/assets/files").count
    }
  }
}
