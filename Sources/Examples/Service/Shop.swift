import Foundation
import MagicData

/// A product of a shop, and the number of its pieces in stock.
struct Product: MagicObject {
  typealias PrimaryValue = String

  @PrimaryMagicValue var sku: String
  @MagicValue var name: String
  /// The number of pieces that the shop has bought. The stock and the sold pieces add up to it.
  @MagicValue var bought: Int
  @MagicValue var stock: Int
  @ReverseMagicValue(\Order.$product) var orders: AsyncReverseMagicSet<Order>

  init() {}

  init(_ sku: String, _ name: String, stock: Int) {
    self.sku = sku
    self.name = name
    self.bought = stock
    self.stock = stock
  }
}

/// An order of some pieces of a product.
struct Order: MagicObject {
  static var traits: [PropertyTrait] {
    [
      .unique(\Self.$requestKey), .indexed(\Self.$customer, \Self.$placed),
      .onDelete(\Self.$product, .restrict),
    ]
  }

  @PrimaryMagicValue var id: Int
  /// The key that the client chose for its request. A repeated request has the same key.
  @MagicValue var requestKey: String
  @MagicValue var customer: String
  @MagicValue var product: Product
  @MagicValue var quantity: Int
  @MagicValue var placed: Date

  init() {}

  init(_ requestKey: String, _ customer: String, _ product: Product, _ quantity: Int) {
    self.requestKey = requestKey
    self.customer = customer
    self.product = product
    self.quantity = quantity
    self.placed = Date()
  }
}

/// The schema of all tenants.
enum Shop {
  /// All migrations that the service has ever had, the oldest first.
  static let migrations = [
    Migration("products have a stock", .renameProperty("count", to: "stock", of: "Product")),
    Migration(
      "products have a number of bought pieces",
      .addColumn(
        ColumnDefinition("bought", .integer, defaultValue: .integer(0)), in: "Product"),
      .sql("UPDATE Product SET bought = stock")),
  ]

  /// Returns the SKUs of the products for which the stock and the orders don't add up.
  static func wrongProducts(in store: MagicData) throws -> [String] {
    try store.fetch(
      Product.where(
        (\Product.$stock) + (\Product.$orders).sum(\.$quantity).or(0) != (\Product.$bought)
      ).values(\.$sku))
  }
}
