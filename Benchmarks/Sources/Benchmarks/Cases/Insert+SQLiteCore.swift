import SQLiteCore
import SQLiteMapping

extension Insert {
  func statement(_ trial: inout Trial) throws -> Checksum {
    let database = try freshDatabase(trial)
    let items = trial.fixture.items
    try trial.measure {
      try database.write { connection in
        var statement = try connection.statement(SQL(unchecked: Item.insert))
        for item in items {
          try item.bind(to: &statement)
          try statement.run()
        }
      }
    }
    return try stored(by: trial)
  }

  func rows(_ trial: inout Trial) throws -> Checksum {
    let database = try freshDatabase(trial)
    let items = trial.fixture.items
    try trial.measure {
      try database.write { connection in
        for item in items {
          try connection.executeChange(
            """
            INSERT INTO item (id, name, quantity, price, isActive, note, rating, payload)
            VALUES (\(item.id), \(item.name), \(item.quantity), \(item.price), \(item.isActive),
              \(item.note), \(item.rating), \(item.payload))
            """)
        }
      }
    }
    return try stored(by: trial)
  }

  private func freshDatabase(_ trial: Trial) throws -> Database {
    let database = try Database(settingsAt: trial.fixture.freshPath)
    try database.executeChange(SQL(unchecked: Item.createTable))
    return database
  }
}
