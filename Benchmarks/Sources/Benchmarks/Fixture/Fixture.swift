import Foundation
import Synchronization

/// The data that all engines work on: the same items in memory and in a database file, and keys to
/// look up.
final class Fixture: Sendable {
  let items: [Item]
  /// Keys of items, at random but for the first; a quarter as many.
  let keys: [Int64]
  /// New values for a quarter of the items but the first, in random order.
  let changes: [Item]
  /// The database that holds the items.
  let path: String
  /// How many databases were made. Each has a place of its own: the one before may still be being
  /// closed by another thread.
  private let count = Mutex(0)
  private let folder: URL

  /// - Parameter isPlanted: Whether the first item, which every case reads, has wrong values.
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

  /// Where a database may be made; nothing is there when a turn starts.
  var freshPath: String {
    folder.appending(path: "fresh-\(items.count)-\(count.withLock { $0 }).sqlite").path
  }

  /// Removes the database at ``freshPath``, if there is one, and finds another path.
  func removeFresh() throws {
    for path in ["", "-wal", "-shm", "-assets"].map({ freshPath + $0 }) {
      do {
        try FileManager.default.removeItem(atPath: path)
      } catch  where !FileManager.default.fileExists(atPath: path) {}
    }
    count.withLock { $0 += 1 }
  }

  /// Makes the database at ``freshPath`` a copy of that of the items, which nobody has open.
  func copyToFresh() throws {
    try FileManager.default.copyItem(atPath: path, toPath: freshPath)
  }
}
