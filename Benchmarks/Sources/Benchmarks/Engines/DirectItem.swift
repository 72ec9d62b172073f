import Foundation
import SQLiteMapping

/// An item whose columns are read and bound in place.
struct DirectItem: DirectRecord {
  static let tableName = "item"
  static let prototype: DirectItem? = DirectItem()
  static var directColumns: [DirectColumn<DirectItem>] {
    [
      .init("id", \.id), .init("name", \.name), .init("quantity", \.quantity),
      .init("price", \.price), .init("isActive", \.isActive), .init("note", \.note),
      .init("rating", \.rating), .init("payload", \.payload),
    ]
  }

  var id: Int64 = 0
  var name = ""
  var quantity: Int64 = 0
  var price = 0.0
  var isActive = false
  var note: String?
  var rating: Double?
  var payload = Data()

  init() {}

  /// Takes the values of an item.
  init(_ item: Item) {
    id = item.id
    name = item.name
    quantity = item.quantity
    price = item.price
    isActive = item.isActive
    note = item.note
    rating = item.rating
    payload = item.payload
  }

  /// The same values as an item.
  var item: Item {
    Item((id, name, quantity, price, isActive, note, rating, payload))
  }
}
