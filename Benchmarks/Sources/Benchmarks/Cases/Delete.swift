import CSQLite
import GRDB
import MagicData
import SQLiteCore
import SQLiteMapping

/// A case that deletes a quarter of the rows, in random order.
struct Delete: Case {
  let name = "delete"
  let summary = "delete a quarter of the rows, by key, in one transaction"

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: changing(openC) { connection, fixture in
        try unsafe connection.inTransaction(Item.delete, fixture.changes) { item, statement in
          try connection.check(unsafe sqlite3_bind_int64(statement, 1, item.id))
        }
      },
      .statement: changing(openDatabase) { database, fixture in
        try database.write { connection in
          var statement = try connection.statement(SQLiteCore.SQL(unchecked: Item.delete))
          for item in fixture.changes { try statement.run(item.id) }
        }
      },
      .rows: changing(openDatabase) { database, fixture in
        try database.write { connection in
          for item in fixture.changes {
            try connection.executeChange("DELETE FROM item WHERE id = \(item.id)")
          }
        }
      },
      .record: changing(openDatabase) { database, fixture in
        try database.write { _ = try $0.remove(contentsOf: fixture.changes) }
      },
      .object: changing(openStore, preparing: fetchedObjects) { magic, objects in
        try magic.remove(contentsOf: objects)
      },
      .grdbStatement: changing(openQueue) {
        try $0.forEach($1.changes) { database in
          let statement = try database.makeStatement(sql: Item.delete)
          return { try statement.execute(arguments: [$0.id]) }
        }
      },
      .grdbRecord: changing(openQueue, preparing: { $1.changes.map(ItemRecord.init) }) {
        try $0.forEach($1) { database in { _ = try $0.delete(database) } }
      },
      .grdbCodable: changing(openQueue) {
        try $0.forEach($1.changes) { database in { _ = try $0.delete(database) } }
      },
    ]
  }

  func operations(on fixture: Fixture) -> Int { fixture.changes.count }

  private func fetchedObjects(_ magic: MagicData, _ fixture: Fixture) throws -> [ItemObject] {
    let objects = try magic.object(of: ItemObject.self)
    let places = Dictionary(uniqueKeysWithValues: objects.enumerated().map { ($1.id, $0) })
    return fixture.changes.compactMap { places[Int($0.id)].map { objects[$0] } }
  }
}
