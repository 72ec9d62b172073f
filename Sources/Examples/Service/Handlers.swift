import Foundation
import MagicData

struct NewProduct: Codable {
  var name: String
  var stock: Int
}

struct NewOrder: Codable {
  var customer: String
  var sku: String
  var quantity: Int
}

struct OrderView: Codable, Hashable {
  var id: Int
  var customer: String
  var sku: String
  var quantity: Int

  init(_ order: Order) {
    id = order.id
    customer = order.customer
    sku = order.product.sku
    quantity = order.quantity
  }
}

struct OrderList: Codable {
  var orders: [OrderView]
  /// The URL of the next page, or nil if this is the last one.
  var next: String?
}

extension ShopService {
  func addProduct(
    _ sku: String?, _ request: HTTPRequest, in store: MagicData,
    until deadline: ContinuousClock.Instant
  ) async throws -> HTTPResponse {
    guard let sku, (1...40).contains(sku.utf8.count) else {
      throw Refusal.badRequest("the SKU is invalid")
    }
    let wanted = try JSONDecoder().decode(NewProduct.self, from: request.body)
    guard (0...1_000_000).contains(wanted.stock) else {
      throw Refusal.badRequest("the stock is invalid")
    }
    try await store.transaction(deadline: deadline) {
      // Throws `alreadySaved`, which becomes the status 409.
      _ = try store.insert(Product(sku, wanted.name, stock: wanted.stock))
    }
    return HTTPResponse(201)
  }

  func product(
    _ sku: String?, in store: MagicData, until deadline: ContinuousClock.Instant
  ) async throws -> HTTPResponse {
    let found = try await store.read(deadline: deadline) {
      // Throws `notFound`, which becomes the status 404.
      let product = try store.object(of: Product.self, primary: sku ?? "")
      return NewProduct(name: product.name, stock: product.stock)
    }
    return try HTTPResponse(200, json: found)
  }

  func removeProduct(
    _ sku: String?, in store: MagicData, until deadline: ContinuousClock.Instant
  ) async throws -> HTTPResponse {
    try await store.transaction(deadline: deadline) {
      // Throws `restricted`, which becomes the status 409, if the product has orders.
      try store.remove(try store.object(of: Product.self, primary: sku ?? ""))
    }
    return HTTPResponse(204)
  }

  /// Places an order once, no matter how often the client repeats the request.
  func placeOrder(
    _ request: HTTPRequest, in store: MagicData, until deadline: ContinuousClock.Instant
  ) async throws -> HTTPResponse {
    guard let key = request.headers["Idempotency-Key"], (1...100).contains(key.utf8.count) else {
      throw Refusal.badRequest("the header Idempotency-Key is missing or too long")
    }
    let wanted = try JSONDecoder().decode(NewOrder.self, from: request.body)
    guard (1...1_000).contains(wanted.quantity) else {
      throw Refusal.badRequest("the quantity is invalid")
    }
    let (order, isNew) = try await store.transaction(deadline: deadline) {
      if let earlier = try store.objects(of: Order.self, where: \.$requestKey == key).first {
        let order = OrderView(earlier)
        guard order.customer == wanted.customer, order.sku == wanted.sku,
          order.quantity == wanted.quantity
        else { throw Refusal(status: 422, message: "the key belongs to another order") }
        return (order, false)
      }
      let product = try store.object(of: Product.self, primary: wanted.sku)
      guard product.stock >= wanted.quantity else { throw Refusal.conflict("out of stock") }
      product.stock -= wanted.quantity
      let order = Order(key, wanted.customer, product, wanted.quantity)
      // Also saves the product.
      try store.insert(order)
      return (OrderView(order), true)
    }
    return try HTTPResponse(isNew ? 201 : 200, json: order)
  }

  /// Returns a page of a customer's orders, the latest first.
  func orders(
    _ request: HTTPRequest, of tenant: Tenant, in store: MagicData,
    until deadline: ContinuousClock.Instant
  ) async throws -> HTTPResponse {
    guard let customer = request.query["customer"] else {
      throw Refusal.badRequest("the customer is missing")
    }
    let limit = request.query["limit"].map { Int($0) ?? 0 } ?? 50
    guard (1...200).contains(limit) else { throw Refusal.badRequest("the limit is invalid") }
    let start = request.query["after"]
    let position = start.flatMap { PagePosition<Order>($0) }
    guard (start == nil) == (position == nil) else {
      throw Refusal.badRequest("the page is invalid")
    }
    let orders = Order.where(\.$customer == customer).ordered(by: .descending(\.$placed))
    let list = try await store.read(deadline: deadline) {
      let page: ObjectPage<Order>
      do {
        page = try store.fetch(orders.page(after: position, limit: limit))
      } catch let error as SQLiteError where error.code == .misuse {
        throw Refusal.badRequest("the page is of another list")
      }
      var list = OrderList(orders: page.objects.map(OrderView.init))
      if page.hasMore, let end = page.end {
        var next = URLComponents()
        next.path = "/\(tenant)/orders"
        next.queryItems = [
          URLQueryItem(name: "customer", value: customer),
          URLQueryItem(name: "after", value: "\(end)"),
          URLQueryItem(name: "limit", value: "\(limit)"),
        ]
        list.next = next.string
      }
      return list
    }
    return try HTTPResponse(200, json: list)
  }
}
