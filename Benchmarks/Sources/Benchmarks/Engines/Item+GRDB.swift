import Foundation
import GRDB

/// The record that Codable derives.
extension Item: FetchableRecord, PersistableRecord {}

/// The record written by hand, which reads by position: the faster form in GRDB's guide.
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
  /// All values, in the order of ``Item/insert``.
  var arguments: StatementArguments {
    [id, name, quantity, price, isActive, note, rating, payload]
  }
}
