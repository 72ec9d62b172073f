import Foundation
import SQLiteCore
import SQLiteMapping

extension Point {
  func statement(_ trial: inout Trial) throws -> Checksum {
    let database = try Database(warm: trial.fixture)
    let keys = trial.fixture.keys
    let items = try trial.measure {
      try database.read { connection in
        var items: [Item] = []
        for key in keys {
          var statement = try connection.statement(SQL(unchecked: Item.selectOne))
          try statement.bind(key, at: 1)
          if try statement.step() { items.append(try Item(statement)) }
        }
        return items
      }
    }
    return Checksum(of: items)
  }

  func rows(_ trial: inout Trial) throws -> Checksum {
    let database = try Database(warm: trial.fixture)
    let keys = trial.fixture.keys
    let items = try trial.measure {
      try database.read { connection in
        try keys.compactMap { key -> Item? in
          let row = try connection.firstRow(
            """
            SELECT id, name, quantity, price, isActive, note, rating, payload FROM item
            WHERE id = \(key)
            """, as: Int64.self, String.self, Int64.self, Double.self, Bool.self, String?.self,
            Double?.self, Data.self
          )
          guard let row else { return nil }
          return Item(row)
        }
      }
    }
    return Checksum(of: items)
  }
}
