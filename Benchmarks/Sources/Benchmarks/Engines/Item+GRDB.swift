import Foundation
import GRDB

/// The record type with a conformance derived from Codable.
extension Item: FetchableRecord, PersistableRecord {}

/// The hand-written record type, which reads columns by position: the faster variant in GRDB's
/// documentation.
struct ItemRecord: FetchableRecord, PersistableRecord {
  static let databaseTableName = "item"
  static var databaseSelection: [any SQLSelectable] {
    [
      Column("id"), Column("name"), Column("quantity"), Column("price"), Column("isActive"),
      Column("note"), Column("rating"), Column("payload"),
    ]
  }

  let item: Item

  init(_ item: Item) {
    self.item = item
  }

  init(row: Row) {
    item = Item(
      id: row[0], name: row[1], quantity: row[2], price: row[3], isActive: row[4], note: row[5],
      rating: row[6], payload: row[7])
  }

  func encode(to container: inout PersistenceContainer) {
    container["id"] = item.id
    container["name"] = item.name
    container["quantity"] = item.quantity
    container["price"] = item.price
    container["isActive"] = item.isActive
    container["note"] = item.note
    container["rating"] = item.rating
    container["payload"] = item.payload
  }
}

extension Item {
  /// The values of all columns, in the order of ``Item/insert``.
  var arguments: StatementArguments {
    [id, name, quantity, price, isActive, note, rating, payload]
  }
}
