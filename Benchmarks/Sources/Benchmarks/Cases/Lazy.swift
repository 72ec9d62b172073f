import CSQLite
import GRDB
import MagicData

/// A case that queries lazy relations without loading all related objects.
struct Lazy: Case {
  let name = "lazy"
  let summary = "count the volumes of a shelf, and fetch a random one of them"

  var engines: KeyValuePairs<Engine, Turn> {
    [.c: c, .object: object, .grdbRecord: grdbRecord]
  }

  func operations(on fixture: Fixture) -> Int { Library.owners(in: fixture) }

  private func c(_ trial: inout Trial) throws -> Checksum {
    let library = try Library(trial.fixture)
    let connection = try CConnection(warm: library)
    let found = try trial.measure { try connection.countAndPick(of: Array(1...library.shelves)) }
    return Checksum(of: found)
  }

  private func object(_ trial: inout Trial) throws -> Checksum {
    let magic = try MagicData(warm: Library(trial.fixture))
    let shelves = try magic.object(of: ShelfObject.self)
    let found = try trial.measure {
      try shelves.flatMap { shelf in
        let volumes = shelf.volumes
        return [try volumes.count(), Int(try volumes.randomValue()?.shelf ?? 0)]
      }
    }
    return Checksum(of: found)
  }

  private func grdbRecord(_ trial: inout Trial) throws -> Checksum {
    let queue = try DatabaseQueue(warm: Library(trial.fixture))
    let shelves = try queue.read { try Shelf.fetchAll($0) }
    let found = try trial.measure {
      try shelves.flatMap { shelf in
        let volumes = shelf.request(for: Shelf.volumes)
        return try queue.read { database in
          let count = try volumes.fetchCount(database)
          let volume = try volumes.limit(1, offset: Int.random(in: 0..<count)).fetchOne(database)
          return [count, Int(volume?.shelf ?? 0)]
        }
      }
    }
    return Checksum(of: found)
  }
}

extension CConnection {
  /// Returns two numbers for each shelf: its number of volumes, and the shelf of a random volume.
  fileprivate func countAndPick(of shelves: [Int]) throws -> [Int] {
    let count = try unsafe prepare(Library.countVolumesOfShelf)
    defer { unsafe sqlite3_finalize(count) }
    let pick = try unsafe prepare(Library.selectVolumeOfShelf)
    defer { unsafe sqlite3_finalize(pick) }
    var found: [Int] = []
    for shelf in shelves {
      try check(unsafe sqlite3_bind_int64(count, 1, Int64(shelf)))
      guard try unsafe step(count) else { throw Failure("a count is missing") }
      let volumes = unsafe sqlite3_column_int64(count, 0)
      try check(unsafe sqlite3_reset(count))
      try check(unsafe sqlite3_bind_int64(pick, 1, Int64(shelf)))
      try check(unsafe sqlite3_bind_int64(pick, 2, Int64.random(in: 0..<volumes)))
      guard try unsafe step(pick) else { throw Failure("a volume is missing") }
      found += [Int(volumes), Int(unsafe sqlite3_column_int64(pick, 0))]
      try check(unsafe sqlite3_reset(pick))
    }
    return found
  }
}
