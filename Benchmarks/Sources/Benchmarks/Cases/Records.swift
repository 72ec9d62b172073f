import SQLiteCore
import SQLiteMapping

extension Item: Record {
  static let tableName = "item"
}

extension Fetch {
  func record(_ trial: inout Trial) throws -> Checksum {
    let database = try Database(warm: trial.fixture)
    let items = try trial.measure {
      try database.read { try $0.fetch(.sql(SQL(unchecked: Item.selectAll), as: Item.self)) }
    }
    return Checksum(of: items)
  }
}

extension Point {
  func record(_ trial: inout Trial) throws -> Checksum {
    let database = try Database(warm: trial.fixture)
    let keys = trial.fixture.keys
    let items = try trial.measure {
      try database.read { connection in
        try keys.compactMap { try connection.object(of: Item.self, ifPresent: $0) }
      }
    }
    return Checksum(of: items)
  }
}

extension Call {
  func record(_ trial: inout Trial) throws -> Checksum {
    let database = try Database(warm: trial.fixture)
    let keys = trial.fixture.keys
    let items = try trial.measure {
      try keys.compactMap { key in
        try database.read { try $0.object(of: Item.self, ifPresent: key) }
      }
    }
    return Checksum(of: items)
  }
}

extension Insert {
  func record(_ trial: inout Trial) throws -> Checksum {
    let database = try Database(settingsAt: trial.fixture.freshPath)
    try database.executeChange(SQL(unchecked: Item.createTable))
    let items = trial.fixture.items
    try trial.measure { _ = try database.write { try $0.insert(contentsOf: items) } }
    return try stored(by: trial)
  }
}
