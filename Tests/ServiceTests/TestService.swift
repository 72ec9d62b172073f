import Foundation
import MagicData
import Synchronization
import TestSupport
import Testing

@testable import Service

/// A service in a temporary folder, and calls for its requests.
struct TestService {
  let folder: TestFolder
  let service: ShopService

  init(
    _ tenants: [String] = ["acme"], stock: Int = 1_000,
    _ configure: (inout ShopService.Configuration) -> Void = { _ in }
  ) async throws {
    folder = try TestFolder()
    try FileManager.default.createDirectory(
      atPath: folder.file("tenants"), withIntermediateDirectories: false)
    var configuration = ShopService.Configuration(folder: folder.file("tenants"))
    // The machine may be busy.
    configuration.timeLimit = .seconds(3_600)
    configure(&configuration)
    service = ShopService(configuration)
    for name in tenants {
      try service.tenants.create(try #require(Tenant(name[...])))
      let status = try await respond(
        .put, "/\(name)/products/pen", NewProduct(name: "Pen", stock: stock)
      ).status
      try #require(status == 201)
    }
  }

  func respond(
    _ method: HTTPRequest.Method, _ path: String, _ json: some Encodable = "", key: String? = nil
  ) async throws -> HTTPResponse {
    var request = HTTPRequest(method: method, path: path)
    request.headers["Idempotency-Key"] = key
    request.body = try JSONEncoder().encode(json)
    return await service.respond(to: request)
  }

  func order(
    _ quantity: Int = 1, _ customer: String = "Ada", from tenant: String = "acme", key: String
  ) async throws -> Int {
    try await respond(
      .post, "/\(tenant)/orders", NewOrder(customer: customer, sku: "pen", quantity: quantity),
      key: key
    ).status
  }

  func store<Result: Sendable>(
    _ tenant: String = "acme", _ body: @concurrent @Sendable (MagicData) async throws -> Result
  ) async throws -> Result {
    try await service.tenants.withStore(of: try #require(Tenant(tenant[...])), body)
  }

  /// Checks that the orders and the stock of a tenant add up. Returns the number of orders.
  @discardableResult func audit(_ tenant: String = "acme") async throws -> Int {
    try await store(tenant) { store in
      let wrong = try Shop.wrongProducts(in: store)
      #expect(wrong == [])
      return try await store.count(of: Order.self)
    }
  }

  /// Keeps a transaction of a tenant open while `body` runs.
  func blocking(_ tenant: String = "acme", _ body: () async throws -> Void) async throws {
    let isHeld = Flag()
    let end = DispatchSemaphore(value: 0)
    let holder = Task {
      try await store(tenant) { store in
        try await store.transaction {
          isHeld.set()
          end.wait()
        }
      }
    }
    try await waitUntil { isHeld.isSet }
    defer { end.signal() }
    try await body()
    end.signal()
    try await holder.value
  }
}

/// A number that tasks can share.
final class Counter: Sendable {
  private let number = Mutex(0)

  var count: Int { number.withLock { $0 } }
  func add() { number.withLock { $0 += 1 } }
}
