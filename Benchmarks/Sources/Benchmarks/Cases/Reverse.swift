import CSQLite
import GRDB
import MagicData

/// A case that fetches the objects that reference one object, among a large number of links.
struct Reverse: Case {
  let name = "reverse"
  let summary = "fetch the shelf of a volume through its link, for random volumes"

  var engines: KeyValuePairs<Engine, Turn> {
    [.c: c, .record: record, .object: object, .grdbRecord: grdbRecord]
  }

  func operations(on fixture: Fixture) -> Int { Library.lookupCount(in: fixture) }

  private func c(_ trial: inout Trial) throws -> Checksum {
    let library = try Library(trial.fixture)
    let connection = try CConnection(warm: library)
    return try trial.measure {
      let shelves = try unsafe connection.forEach(
        library.volumes, Library.selectShelvesOfVolume
      ) { row in
        Shelf(
          id: unsafe sqlite3_column_int64(row, 0), name: try unsafe connection.text(row, 1))
      }
      return (shelves, Checksum(of: shelves))
    }.1
  }

  private func record(_ trial: inout Trial) throws -> Checksum {
    let library = try Library(trial.fixture)
    let database = try Database(warm: library)
    let volumes = try database.read { connection in
      try library.volumes.map {
        try connection.object(of: VolumeRecord.self, ifPresent: $0)
      }
    }
    return try trial.measure {
      let shelves = try database.read { connection in
        try volumes.flatMap { volume in
          try volume.map {
            try connection.leftObjects(of: $0, through: ShelfRecord.volumes)
          } ?? []
        }
      }
      var checksum = Checksum()
      for shelf in shelves { checksum.add(id: shelf.id, name: shelf.name) }
      return (shelves, checksum)
    }.1
  }

  private func object(_ trial: inout Trial) throws -> Checksum {
    let library = try Library(trial.fixture)
    let magic = try MagicData(warm: library)
    let volumes = try library.volumes.map {
      try magic.object(of: VolumeObject.self, primary: $0)
    }
    return try trial.measure {
      let shelves = try volumes.flatMap { try $0.shelves.get() }
      var checksum = Checksum()
      for shelf in shelves { checksum.add(id: Int64(shelf.id), name: shelf.name) }
      return (shelves, checksum)
    }.1
  }

  private func grdbRecord(_ trial: inout Trial) throws -> Checksum {
    let library = try Library(trial.fixture)
    let queue = try DatabaseQueue(warm: library)
    let volumes = try queue.read { database in
      try library.volumes.compactMap { try Volume.fetchOne(database, key: $0) }
    }
    return try trial.measure {
      let shelves = try volumes.flatMap { volume in
        try queue.read { try volume.request(for: Volume.shelves).fetchAll($0) }
      }
      return (shelves, Checksum(of: shelves))
    }.1
  }
}

/// A case that counts the objects that reference one object, among a large number of links.
struct ReverseCount: Case {
  let name = "reverse-count"
  let summary = "count the shelves of a volume through their links, for random volumes"

  var engines: KeyValuePairs<Engine, Turn> {
    [.c: c, .object: object, .grdbRecord: grdbRecord]
  }

  func operations(on fixture: Fixture) -> Int { Library.lookupCount(in: fixture) }

  private func c(_ trial: inout Trial) throws -> Checksum {
    let library = try Library(trial.fixture)
    let connection = try CConnection(warm: library)
    let counts = try trial.measure {
      try unsafe connection.forEach(library.volumes, Library.countShelvesOfVolume) {
        Int(unsafe sqlite3_column_int64($0, 0))
      }
    }
    return Checksum(of: counts)
  }

  private func object(_ trial: inout Trial) throws -> Checksum {
    let library = try Library(trial.fixture)
    let magic = try MagicData(warm: library)
    let volumes = try library.volumes.map {
      try magic.object(of: VolumeObject.self, primary: $0)
    }
    let counts = try trial.measure { try volumes.map { try $0.shelves.count() } }
    return Checksum(of: counts)
  }

  private func grdbRecord(_ trial: inout Trial) throws -> Checksum {
    let library = try Library(trial.fixture)
    let queue = try DatabaseQueue(warm: library)
    let volumes = try queue.read { database in
      try library.volumes.compactMap { try Volume.fetchOne(database, key: $0) }
    }
    let counts = try trial.measure {
      try volumes.map { volume in
        try queue.read { try volume.request(for: Volume.shelves).fetchCount($0) }
      }
    }
    return Checksum(of: counts)
  }
}
