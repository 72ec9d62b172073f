import SQLiteCore
import SQLiteMapping

/// Fetches all rows as records that are read in place.
struct FetchDirect: Case {
  let name = "fetch-direct"
  let summary = "fetch all rows into an array of structs whose columns are read in place"

  var engines: KeyValuePairs<Engine, Turn> { [.c: Fetch().c, .record: record] }

  private func record(_ trial: inout Trial) throws -> Checksum {
    let database = try Database(warm: trial.fixture)
    let items = try trial.measure {
      try database.read { try $0.objects(of: DirectItem.self, sql: SQL(unchecked: Item.selectAll)) }
    }
    return Checksum(of: items.map(\.item))
  }
}
