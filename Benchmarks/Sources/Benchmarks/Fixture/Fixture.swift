import Foundation
import Synchronization

/// The data that all engines use: the same items in memory and in a database file, and keys to look
/// up.
final class Fixture: Sendable {
  let items: [Item]
  /// The keys to look up, a quarter as many as there are items. The first key is 1, the others are
  /// random.
  let keys: [Int64]
  /// New values for a quarter of the items, in random order. The first item is never included.
  let changes: [Item]
  /// The path of the database that contains the items.
  let path: String
  /// The number of fresh databases so far. Each one has its own path, because another thread can
  /// still be closing the previous one.
  private let count = Mutex(0)
  private let folder: URL

  /// Creates the items, and a database that contains them.
  ///
  /// - Parameters:
  ///   - rows: The number of items.
  ///   - folder: The folder of the database.
  ///   - isPlanted: Whether the first item, which every case reads, has wrong values.
  init(rows: Int, in folder: URL, isPlanted: Bool) throws {
    var generator = SplitMix64(seed: 2_026)
    var items = (1...Int64(rows)).map { Item(id: $0, using: &generator) }
    keys =
      [1]
      + (1..<max(1, rows / 4)).map { _ in Int64.random(in: 1...Int64(rows), using: &generator) }
    changes = items.dropFirst().shuffled(using: &generator).prefix(rows / 4).map {
      Item(id: $0.id, using: &generator)
    }
    if isPlanted { items[0].plant() }
    self.items = items
    path = folder.appending(path: "items-\(rows).sqlite").path
    self.folder = folder
    try CConnection(path: path).create(items)
  }

  /// The path for a new database. No file exists there when a turn starts.
  var freshPath: String {
    folder.appending(path: "fresh-\(items.count)-\(count.withLock { $0 }).sqlite").path
  }

  /// Removes the database at ``freshPath``, if it exists, and chooses another path.
  func removeFresh() throws {
    for path in ["", "-wal", "-shm", "-assets"].map({ freshPath + $0 }) {
      do {
        try FileManager.default.removeItem(atPath: path)
      } catch  where !FileManager.default.fileExists(atPath: path) {}
    }
    count.withLock { $0 += 1 }
  }

  /// Copies the database of the items to ``freshPath``. No connection to it may be open.
  func copyToFresh() throws {
    try FileManager.default.copyItem(atPath: path, toPath: freshPath)
  }
}
