import SQLiteCore
import SQLiteMapping

/// Inserts all rows as records that are bound in place.
struct InsertDirect: Case {
  let name = "insert-direct"
  let summary = "insert all rows, bound in place, into a fresh database, in one transaction"

  var engines: KeyValuePairs<Engine, Turn> { [.c: Insert().c, .record: record] }

  private func record(_ trial: inout Trial) throws -> Checksum {
    let database = try Database(settingsAt: trial.fixture.freshPath)
    try database.executeChange(SQL(unchecked: Item.createTable))
    let items = trial.fixture.items.map(DirectItem.init)
    try trial.measure { _ = try database.write { try $0.insert(contentsOf: items) } }
    return try Insert().stored(by: trial)
  }
}
