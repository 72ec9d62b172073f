import MagicData

extension Fetch {
  func object(_ trial: inout Trial) throws -> Checksum {
    let magic = try MagicData(settingsAt: trial.fixture.path)
    _ = try magic.database.executeQuery(SQL(unchecked: Item.warm))
    let objects = try trial.measure { try magic.object(of: ItemObject.self) }
    return Checksum(of: objects.map(Item.init))
  }
}

extension Point {
  func object(_ trial: inout Trial) throws -> Checksum {
    let magic = try MagicData(settingsAt: trial.fixture.path)
    _ = try magic.database.executeQuery(SQL(unchecked: Item.warm))
    let keys = trial.fixture.keys
    let objects = try trial.measure {
      // All lookups use one snapshot, like in the other engines.
      try magic.database.read { _ in
        try keys.map { try magic.object(of: ItemObject.self, primary: Int($0)) }
      }
    }
    return Checksum(of: objects.map(Item.init))
  }
}

extension Call {
  func object(_ trial: inout Trial) throws -> Checksum {
    let magic = try MagicData(settingsAt: trial.fixture.path)
    _ = try magic.database.executeQuery(SQL(unchecked: Item.warm))
    let keys = trial.fixture.keys
    let objects = try trial.measure {
      try keys.map { try magic.object(of: ItemObject.self, primary: Int($0)) }
    }
    return Checksum(of: objects.map(Item.init))
  }
}

extension Insert {
  func object(_ trial: inout Trial) throws -> Checksum {
    let magic = try MagicData(settingsAt: trial.fixture.freshPath)
    let objects = trial.fixture.items.map(ItemObject.init)
    try trial.measure { _ = try magic.update(objects) }
    return try stored(by: trial)
  }
}
