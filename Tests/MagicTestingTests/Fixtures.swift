import Foundation
import MagicData
import MagicTesting
import Synchronization

struct Volume: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var title: String
  @MagicValue var rank: Int
  @OptionalMagicValue var cover: MagicAsset<Data>?

  init() {}

  init(_ title: String, rank: Int = 0, cover: Data? = nil) {
    self.title = title
    self.rank = rank
    self.cover = cover.map { MagicAsset(value: $0, pathExtension: "png") }
  }
}

struct Shelf: MagicObject {
  @PrimaryMagicValue var name: String
  @MagicValue var volumes: [Volume]
  @MagicValue var best: MagicalSet<Volume>

  init() {}

  init(_ name: String, _ volumes: [Volume], best: MagicalSet<Volume> = []) {
    self.name = name
    self.volumes = volumes
    self.best = best
  }
}

extension StoreTemplate {
  /// Three volumes on a shelf, one of them with a small cover and one with a large cover.
  static func shelves(usesBackup: Bool = false) -> StoreTemplate {
    StoreTemplate(
      options: Database.Options(), minimumFileSize: 0, fileID: "Fixtures", line: 1,
      usesBackup: usesBackup, fillShelves)
  }

  /// The template of the suites that use the trait.
  static let shelves = StoreTemplate(fillShelves)
}

private func fillShelves(_ magic: MagicData) throws {
  let table: SQL = "CREATE TABLE setting (name TEXT PRIMARY KEY, value) WITHOUT ROWID"
  try magic.migrate([Migration("settings", .sql(table))])
  let volumes = [
    Volume("Emma", rank: 1, cover: Data("png".utf8)), Volume("Persuasion", rank: 2),
    Volume("Sanditon", rank: 3, cover: Data(repeating: 7, count: 100_000)),
  ]
  try magic.update(Shelf("Austen", volumes, best: [volumes[0]]))
}

/// A number that several threads increment.
final class Counter: Sendable {
  private let number = Mutex(0)
  var count: Int { number.withLock { $0 } }
  func increment() { number.withLock { $0 += 1 } }
}

/// Runs a closure that blocks the thread, in an asynchronous test.
func blocking<Result>(_ body: () throws -> Result) rethrows -> Result { try body() }
