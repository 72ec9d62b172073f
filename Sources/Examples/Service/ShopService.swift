import Foundation
import MagicData

/// A service for shops. Each shop is a tenant with its own store.
///
/// ``respond(to:)`` is called by a server framework, concurrently and from any task.
final class ShopService: Sendable {
  struct Configuration: Sendable {
    /// The folder with the folders of the tenants.
    var folder: String
    /// The maximum number of stores that stay open while no request uses them.
    var openStoreLimit = 100
    /// The maximum number of requests that run at the same time.
    var requestLimit = 200
    /// The time that a request may take, including the time that it waits for other requests.
    var timeLimit = Duration.seconds(5)
    var options = Database.Options()
    /// Receives the errors that aren't a client's.
    var log: @Sendable (String) -> Void = { _ in }

    init(folder: String) {
      self.folder = folder
      // A few connections are enough for one tenant. Each costs memory and three file descriptors.
      options.maximumReaderCount = 2
      options.statementCacheCapacity = 64
      // Clients and the other requests of the tenant wait meanwhile.
      options.busyTimeout = .seconds(2)
      options.followsSymbolicLinks = false
    }
  }

  let configuration: Configuration
  let metrics = Metrics()
  let tenants: Tenants
  let gate: Gate

  init(_ configuration: Configuration) {
    self.configuration = configuration
    gate = Gate(limit: configuration.requestLimit)
    tenants = Tenants(in: configuration.folder, limit: configuration.openStoreLimit) {
      [metrics, options = configuration.options] tenant, path in
      let store = try await MagicData(path: path, options: metrics.tracing(tenant, options))
      try await store.migrate(Shop.migrations)
      return store
    }
  }

  /// Opens and migrates the store of each tenant, before the first request.
  ///
  /// - Returns: The errors of the stores that can't be used. The other tenants can be served.
  func start() async throws -> [Tenant: any Error] {
    var errors: [Tenant: any Error] = [:]
    for tenant in try tenants.all() {
      do {
        try await tenants.withStore(of: tenant) { _ in }
      } catch {
        errors[tenant] = error
      }
    }
    return errors
  }

  /// Rejects further requests, waits for the running ones, and closes all stores.
  ///
  /// - Parameter grace: The time after which the running requests are interrupted. Their
  ///   transactions are rolled back, and they respond with the status 503.
  func shutDown(grace: Duration) async {
    let end = Task { [tenants] in
      try await Task.sleep(for: grace)
      await tenants.interrupt()
      await tenants.close()
    }
    await gate.close()
    end.cancel()
    await tenants.close()
  }

  /// Handles a request. If the task is cancelled because the client has disconnected, the request's
  /// transaction is rolled back.
  func respond(to request: HTTPRequest) async -> HTTPResponse {
    let response: HTTPResponse
    do {
      let permit = try gate.enter()
      defer { withExtendedLifetime(permit) {} }
      response = try await route(request, permit, until: .now + configuration.timeLimit)
    } catch let error as SQLiteError where error.code == .interrupt && gate.isClosed {
      response = HTTPResponse(MagicError.closed)
    } catch {
      response = HTTPResponse(error)
      if [500, 504, 507].contains(response.status) {
        configuration.log("\(request.method.rawValue) \(request.path): \(error)")
      }
    }
    metrics.record(status: response.status)
    return response
  }

  private func route(
    _ request: HTTPRequest, _ permit: Gate.Permit, until deadline: ContinuousClock.Instant
  ) async throws -> HTTPResponse {
    // Decode after splitting: an escaped slash is a character of a name.
    let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
      .map { $0.removingPercentEncoding }
    guard parts.count >= 2, let name = parts[0], let tenant = Tenant(name[...]) else {
      throw Refusal.notFound("there is no such tenant")
    }
    return try await tenants.withStore(of: tenant) { store in
      switch (request.method, parts[1], parts.count) {
      case (.put, "products", 3):
        return try await self.addProduct(parts[2], request, in: store, until: deadline)
      case (.get, "products", 3):
        return try await self.product(parts[2], in: store, until: deadline)
      case (.delete, "products", 3):
        return try await self.removeProduct(parts[2], in: store, until: deadline)
      case (.post, "orders", 2):
        return try await self.placeOrder(request, in: store, until: deadline)
      case (.get, "orders", 2):
        return try await self.orders(request, of: tenant, in: store, until: deadline)
      case (.get, "orders.csv", 2):
        let export = OrderExport(of: tenant, self, permit)
        return HTTPResponse("text/csv") { try await export.next() }
      default: throw Refusal.notFound("there is no such page")
      }
    }
  }
}
