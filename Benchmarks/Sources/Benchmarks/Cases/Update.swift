import GRDB
import MagicData
import SQLiteCore
import SQLiteMapping

/// A case that updates all columns of a quarter of the rows, in random order.
struct Update: Case {
  let name = "update"
  let summary = "update all columns of a quarter of the rows, by key, in one transaction"

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: changing(openC) { try $0.write($1.changes, by: Item.update) },
      .statement: changing(openDatabase) { try $0.write($1.changes, by: Item.update) },
      .rows: changing(openDatabase, updateByLiterals),
      .record: changing(openDatabase) { database, fixture in
        _ = try database.write { try $0.updateExisting(contentsOf: fixture.changes) }
      },
      .object: changing(openStore, preparing: Self.changedObjects) { _ = try $0.update($1) },
      .grdbStatement: changing(openQueue) { try $0.write($1.changes, by: Item.update) },
      .grdbRecord: changing(openQueue, preparing: { $1.changes.map(ItemRecord.init) }) {
        try $0.forEach($1) { database in { try $0.update(database) } }
      },
      .grdbCodable: changing(openQueue) {
        try $0.forEach($1.changes) { database in { try $0.update(database) } }
      },
    ]
  }

  func operations(on fixture: Fixture) -> Int { fixture.changes.count }

  private func updateByLiterals(_ database: SQLiteCore.Database, _ fixture: Fixture) throws {
    try database.write { connection in
      for item in fixture.changes {
        try connection.executeChange(
          """
          UPDATE item SET name = \(item.name), quantity = \(item.quantity), price = \(item.price),
            isActive = \(item.isActive), note = \(item.note), rating = \(item.rating),
            payload = \(item.payload) WHERE id = \(item.id)
          """)
      }
    }
  }

  /// Fetches objects and assigns the new values to them, without saving.
  static func changedObjects(_ magic: MagicData, _ fixture: Fixture) throws -> [ItemObject] {
    let objects = try magic.object(of: ItemObject.self)
    let places = Dictionary(uniqueKeysWithValues: objects.enumerated().map { ($1.id, $0) })
    return fixture.changes.compactMap { item in
      guard let place = places[Int(item.id)] else { return nil }
      objects[place].assign(item)
      return objects[place]
    }
  }
}
