import Foundation
import SQLiteCore
import SQLiteMapping

extension Fetch {
  func statement(_ trial: inout Trial) throws -> Checksum {
    let database = try Database(warm: trial.fixture)
    let items = try trial.measure {
      try database.read { connection in
        var statement = try connection.statement(SQL(unchecked: Item.selectAll))
        var items: [Item] = []
        while try statement.step() { items.append(try Item(statement)) }
        return items
      }
    }
    return Checksum(of: items)
  }

  func rows(_ trial: inout Trial) throws -> Checksum {
    let database = try Database(warm: trial.fixture)
    let rows = try trial.measure {
      try database.rows(
        SQL(unchecked: Item.selectAll), as: Int64.self, String.self, Int64.self, Double.self,
        Bool.self, String?.self, Double?.self, Data.self)
    }
    return Checksum(of: rows.map(Item.init))
  }
}
