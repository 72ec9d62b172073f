import Foundation
import MagicData

/// An item as an object of a store, in the same table.
struct ItemObject: MagicObject {
  static let tableName = "item"

  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var quantity: Int64
  @MagicValue var price: Double
  @MagicValue var isActive: Bool
  @OptionalMagicValue var note: String?
  @OptionalMagicValue var rating: Double?
  @MagicValue var payload: Data

  init() {}

  init(_ item: Item) {
    id = Int(item.id)
    assign(item)
  }

  /// Creates an object without a key. The store assigns one when the object is saved.
  static func new(_ item: Item) -> ItemObject {
    let object = ItemObject()
    object.assign(item)
    return object
  }

  /// Assigns all values of an item except its key.
  func assign(_ item: Item) {
    name = item.name
    quantity = item.quantity
    price = item.price
    isActive = item.isActive
    note = item.note
    rating = item.rating
    payload = item.payload
  }
}

extension Item {
  /// Creates an item from the values of an object.
  init(_ object: ItemObject) {
    id = Int64(object.id)
    name = object.name
    quantity = object.quantity
    price = object.price
    isActive = object.isActive
    note = object.note
    rating = object.rating
    payload = object.payload
  }
}

extension MagicData {
  /// Opens a store in the database at `path` with the settings that all engines use.
  ///
  /// - Parameter isDurable: Whether each commit waits for the disk.
  convenience init(settingsAt path: String, isDurable: Bool = false) throws {
    try self.init(path: path, options: .settings(isDurable: isDurable))
  }
}
