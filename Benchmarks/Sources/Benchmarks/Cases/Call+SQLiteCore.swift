import Foundation
import SQLiteCore
import SQLiteMapping

extension Call {
  func statement(_ trial: inout Trial) throws -> Checksum {
    let database = try Database(warm: trial.fixture)
    let keys = trial.fixture.keys
    let items = try trial.measure {
      try keys.compactMap { key in
        try database.read { connection -> Item? in
          var statement = try connection.statement(SQL(unchecked: Item.selectOne))
          try statement.bind(key, at: 1)
          return try statement.step() ? try Item(statement) : nil
        }
      }
    }
    return Checksum(of: items)
  }

  func rows(_ trial: inout Trial) throws -> Checksum {
    let database = try Database(warm: trial.fixture)
    let keys = trial.fixture.keys
    let items = try trial.measure {
      try keys.compactMap { key -> Item? in
        let row = try database.rows(
          """
          SELECT id, name, quantity, price, isActive, note, rating, payload FROM item
          WHERE id = \(key)
          """, as: Int64.self, String.self, Int64.self, Double.self, Bool.self, String?.self,
          Double?.self, Data.self
        ).first
        guard let row else { return nil }
        return Item(row)
      }
    }
    return Checksum(of: items)
  }
}
