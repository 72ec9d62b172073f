import LikeCombine
import LikeGRDB
import LikeSwiftData
import LikeTabularData
import LikeVapor
import MagicData

// These libraries share names with MagicData. Write the module that declares the type. It isn't `MagicData`, which is
// also a class, but the module in which the documentation lists the type.

struct Page: SQLiteMapping.Record {
  var id: Int
}

struct Steps {
  var database: SQLiteCore.Database
  var row: SQLiteCore.Row
  var column: SQLiteCore.Column
  var sql: SQLiteCore.SQL
  var code: SQLiteCore.ResultCode
  var key: SQLiteCore.ForeignKey
  var table: SQLiteCore.TableDefinition
  var definition: SQLiteCore.ColumnDefinition
  var migration: SQLiteMapping.Migration
  var query: SQLiteObjects.Query<Note>
  var request: SQLiteObjects.Request<Int>
}

var others: [Any] {
  [
    LikeGRDB.Database(), LikeGRDB.Row(), LikeGRDB.Record(), LikeGRDB.Column(), LikeGRDB.SQL(),
    LikeGRDB.ResultCode(), LikeGRDB.ForeignKey(), LikeGRDB.TableDefinition(),
    LikeGRDB.ColumnDefinition(), LikeGRDB.Statement(), LikeSwiftData.Query(), LikeCombine.Record(),
    LikeTabularData.Column(), LikeVapor.Request(), Table(), DataFrame(), Response(), Schema(),
  ]
}

/// Most code names none of these types.
func count(_ magic: MagicData) async throws -> [Int] {
  [
    try await magic.database.fetch(Page.all.count), try await magic.count(of: Note.self),
    try await magic.database.rows("SELECT count(*) FROM Page", as: Int.self)[0],
  ]
}
