import Essentials
import SQLiteCore

/// A folder of our own that goes away with this value.
package final class TemporaryFolder: Sendable {
  package let path: String

  package init() throws {
    // Foundation would repair it, which would make it another folder.
    _ = try environmentPath("TMPDIR")
    let base = FileManager.default.temporaryDirectory.path
    path = "\(base)/MagicData-\(UUID().uuidString)"
    try StorePlace.makeFolder(path)
  }

  deinit {
    // Nobody is left to tell if it fails; the system empties its temporary folder some day.
    try? FileManager.default.removeItem(atPath: path)
  }
}
