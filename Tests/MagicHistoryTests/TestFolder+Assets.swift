import Foundation
import TestSupport

extension TestFolder {
  /// The number of files in the store's assets folder.
  var fileCount: Int {
    get throws {
      try FileManager.default.subpathsOfDirectory(atPath: "\(path)/assets/files").count
    }
  }
}
