import Foundation

/// The data that all engines work on: the same items in memory and in a database file, and keys to
/// look up.
final class Fixture: Sendable {
  let items: [Item]
  /// Keys of items, at random; a quarter as many.
  let keys: [Int64]
  /// The database that holds the items.
  let path: String
  /// Where a database may be made; nothing is there when a turn starts.
  let freshPath: String
  private let folder: URL

  init(rows: Int) throws {
    var generator = SplitMix64(seed: 2_026)
    items = (1...Int64(rows)).map { Item(id: $0, using: &generator) }
    keys = (0..<max(1, rows / 4)).map { _ in Int64.random(in: 1...Int64(rows), using: &generator) }
    folder = FileManager.default.temporaryDirectory.appending(
      path: "magicdata-benchmarks-\(UUID().uuidString)", directoryHint: .isDirectory)
    path = folder.appending(path: "items.sqlite").path
    freshPath = folder.appending(path: "fresh.sqlite").path
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try CConnection(path: path).create(items)
  }

  /// Removes the database at ``freshPath``, if there is one.
  func removeFresh() throws {
    for path in ["", "-wal", "-shm", "-assets"].map({ freshPath + $0 })
    where FileManager.default.fileExists(atPath: path) {
      try FileManager.default.removeItem(atPath: path)
    }
  }

  /// Removes all files.
  func remove() throws {
    try FileManager.default.removeItem(at: folder)
  }
}
