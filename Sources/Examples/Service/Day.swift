import Foundation
import MagicData

/// A store of the first version of the service, which had other names.
enum FirstVersion {
  struct Product: MagicObject {
    static let tableName = "Product"
    @PrimaryMagicValue var sku: String
    @MagicValue var name: String
    @MagicValue var count: Int

    init() {}

    init(_ sku: String, _ name: String, count: Int) {
      self.sku = sku
      self.name = name
      self.count = count
    }
  }
}

/// The error of a step with a wrong result.
struct WrongResult: Error, CustomStringConvertible {
  var description: String
}

/// A program that runs a day of the service, with requests of several tenants, a backup, an
/// overload, clients that disconnect, and a shutdown. It checks all results.
@main struct Day {
  let folder: String
  let service: ShopService

  static func main() async {
    let folder = FileManager.default.temporaryDirectory.appending(path: "service-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    do {
      try FileManager.default.createDirectory(
        atPath: "\(folder)/tenants", withIntermediateDirectories: true)
      var configuration = ShopService.Configuration(folder: "\(folder)/tenants")
      configuration.openStoreLimit = 3
      configuration.requestLimit = 32
      // The machine may be busy with something else.
      configuration.timeLimit = .seconds(60)
      configuration.log = { FileHandle.standardError.write(Data("\($0)\n".utf8)) }
      let day = Day(folder: folder, service: ShopService(configuration))
      try await day.open()
      try await day.rejectWrongRequests()
      try await day.sellWhileBackingUp()
      try await day.page()
      try await day.disconnect()
      try await day.overload()
      try await day.report()
      try await day.shutDown()
    } catch {
      FileHandle.standardError.write(Data("Service: \(error)\n".utf8))
      try? FileManager.default.removeItem(atPath: folder)
      exit(1)
    }
  }

  static let names = ["acme", "bolt", "cafe", "dock", "echo"]

  static func check(_ isRight: Bool, _ message: @autoclosure () -> String) throws {
    if !isRight { throw WrongResult(description: message()) }
  }

  private static func tenant(_ name: String) throws -> Tenant {
    guard let tenant = Tenant(name[...]) else {
      throw WrongResult(description: "the tenant has an unsuitable name")
    }
    return tenant
  }

  // MARK: - Requests

  private func status(
    _ method: HTTPRequest.Method, _ path: String, json: some Encodable = "", key: String? = nil
  ) async throws -> Int {
    try await response(method, path, json: json, key: key).status
  }

  private func response(
    _ method: HTTPRequest.Method, _ path: String, json: some Encodable = "", key: String? = nil
  ) async throws -> HTTPResponse {
    var request = HTTPRequest(method: method, path: path)
    request.headers["Idempotency-Key"] = key
    request.body = try JSONEncoder().encode(json)
    return await service.respond(to: request)
  }

  private func order(
    _ quantity: Int = 1, of sku: String = "pen", by customer: String = "Ada", from tenant: String,
    key: String
  ) async throws -> Int {
    try await status(
      .post, "/\(tenant)/orders",
      json: NewOrder(customer: customer, sku: sku, quantity: quantity), key: key)
  }

  /// Checks the books of all tenants, and returns the number of all orders.
  private func audit(_ service: ShopService) async throws -> Int {
    var count = 0
    for tenant in try service.tenants.all() {
      count += try await service.tenants.withStore(of: tenant) { store in
        let wrong = try Shop.wrongProducts(in: store)
        try Day.check(wrong.isEmpty, "\(tenant): the books don't add up: \(wrong)")
        return try await store.count(of: Order.self)
      }
    }
    return count
  }

  // MARK: - The day

  private func open() async throws {
    // A store of the first version, and one that can't be used.
    let old = try await MagicData(path: "\(service.configuration.folder)/dock")
    try await old.update(FirstVersion.Product("pen", "Pen", count: 500))
    try await old.close()
    try FileManager.default.createDirectory(
      atPath: "\(service.configuration.folder)/broken", withIntermediateDirectories: false)
    try Data("no database".utf8).write(
      to: URL(filePath: "\(service.configuration.folder)/broken/default.sqlite3"))

    let errors = try await service.start()
    try Day.check(errors.keys.map(\.name) == ["broken"], "\(errors)")
    try FileManager.default.removeItem(atPath: "\(service.configuration.folder)/broken")
    for name in Day.names where name != "dock" {
      let tenant = try Day.tenant(name)
      try service.tenants.create(tenant)
      let status = try await status(
        .put, "/\(name)/products/pen", json: NewProduct(name: "Pen", stock: 500))
      try Day.check(status == 201, "\(name): \(status)")
    }
    print("\(Day.names.count) tenants, one of them migrated, and one damaged store set aside")
  }

  private func rejectWrongRequests() async throws {
    let pen = NewProduct(name: "Pen", stock: 1)
    for (method, path, expected) in [
      (.get, "/acme/products/pen", 200), (.get, "/acme/products/ink", 404),
      (.get, "/acme/invoices", 404), (.get, "/zeta/products/pen", 404),
      (.get, "/../products/pen", 404), (.get, "/..%2Facme/products/pen", 404),
      (.get, "/acme%00/products/pen", 404), (.get, "/ACME/products/pen", 404),
      (.get, "/acme.sqlite3/products/pen", 404), (.put, "/acme/products/pen", 409),
      (.post, "/acme/orders", 400), (.get, "/acme/orders", 400),
    ] as [(HTTPRequest.Method, String, Int)] {
      let status = try await status(method, path, json: pen)
      print("  \(method.rawValue) \(path): \(status)")
      try Day.check(status == expected, "\(path): \(status) instead of \(expected)")
    }
    try Day.check(
      try await order(501, from: "acme", key: "many") == 409, "more was sold than there is")
    try Day.check(try await order(2, from: "acme", key: "first") == 201, "the first order")
    try Day.check(try await order(2, from: "acme", key: "first") == 200, "the repeated order")
    try Day.check(try await order(3, from: "acme", key: "first") == 422, "the changed order")
    try Day.check(try await status(.delete, "/acme/products/pen") == 409, "a sold product")
  }

  /// 8 clients place 100 orders each, and repeat each request. Meanwhile, all stores are copied.
  private func sellWhileBackingUp() async throws {
    async let copies = service.backUp(to: "\(folder)/noon")
    let counts = try await withThrowingTaskGroup { group in
      for client in 0..<8 {
        group.addTask {
          var counts: [Int: Int] = [:]
          for number in 0..<100 {
            let tenant = Day.names[(client + number) % Day.names.count]
            for _ in 0..<2 {
              let status = try await order(
                by: "client \(client)", from: tenant, key: "\(client)/\(number)")
              counts[status, default: 0] += 1
            }
          }
          return counts
        }
      }
      var counts: [Int: Int] = [:]
      for try await other in group { counts.merge(other, uniquingKeysWith: +) }
      return counts
    }
    try Day.check(counts == [201: 800, 200: 800], "\(counts)")
    let total = try await audit(service)
    try Day.check(total == 801, "\(total) orders")
    let copied = try await copies
    try Day.check(
      copied.count == Day.names.count && copied.values.reduce(0, +) <= total, "\(copied)")
    // No request uses a store any more.
    let openCount = await service.tenants.openCount
    try Day.check(openCount <= service.configuration.openStoreLimit, "\(openCount) open stores")
    print("800 orders placed, each requested twice; the backups of all tenants are consistent")
  }

  private func page() async throws {
    var path = "/bolt/orders?customer=client%203&limit=7"
    var ids: [Int] = []
    var count = 0
    while true {
      guard let url = URLComponents(string: path) else {
        throw WrongResult(description: "the link of the next page isn't a URL")
      }
      var request = HTTPRequest(method: .get, path: url.path)
      for item in url.queryItems ?? [] { request.query[item.name] = item.value }
      guard case .data(let body) = await service.respond(to: request).body else { break }
      let list = try JSONDecoder().decode(OrderList.self, from: body)
      ids += list.orders.map(\.id)
      count += 1
      guard let next = list.next else { break }
      path = next
    }
    try Day.check(ids.count == 20 && Set(ids).count == 20, "\(ids)")

    guard case .stream(let parts) = try await response(.get, "/bolt/orders.csv").body else {
      throw WrongResult(description: "the export isn't a stream")
    }
    var lineCount = 0
    for try await part in parts { lineCount += part.count { $0 == UInt8(ascii: "\n") } }
    try Day.check(lineCount == 161, "\(lineCount) lines")
    print("20 orders of a customer on \(count) pages; an export of \(lineCount - 1) orders")
  }

  /// Blocks the writer of a store until the closure ends, and runs it meanwhile.
  private func blocking(_ name: String, _ body: () async throws -> Void) async throws {
    let tenant = try Day.tenant(name)
    let (isHeld, hold) = AsyncStream<Void>.makeStream()
    let end = DispatchSemaphore(value: 0)
    let holder = Task { [service] in
      try await service.tenants.withStore(of: tenant) { store in
        try await store.transaction {
          hold.finish()
          end.wait()
        }
      }
    }
    for await _ in isHeld {}
    let outcome: Result<Void, any Error>
    do {
      outcome = .success(try await body())
    } catch {
      outcome = .failure(error)
    }
    end.signal()
    try await holder.value
    try outcome.get()
  }

  /// Clients disconnect while their requests wait.
  private func disconnect() async throws {
    let before = try await audit(service)
    try await blocking("cafe") {
      let clients = (0..<5).map { number in
        Task { try await order(from: "cafe", key: "lost \(number)") }
      }
      while service.gate.count < 5 { await Task.yield() }
      for client in clients { client.cancel() }
      for client in clients {
        let status = try await client.value
        try Day.check(status == 499, "\(status)")
      }
    }
    let after = try await audit(service)
    try Day.check(after == before, "\(after - before) orders of disconnected clients")
    // The client connects again and repeats its request.
    let status = try await order(from: "cafe", key: "lost 0")
    try Day.check(status == 201, "\(status)")
    print("5 clients disconnected, and nothing was stored")
  }

  /// Too many requests wait for one store. The other tenants aren't affected until the limit is
  /// reached.
  private func overload() async throws {
    let limit = service.configuration.requestLimit
    try await blocking("echo") {
      let clients = (0..<limit).map { number in
        Task { try await order(from: "echo", key: "late \(number)") }
      }
      while service.gate.count < limit { await Task.yield() }
      let rejected = try await response(.get, "/acme/products/pen")
      try Day.check(
        rejected.status == 503 && rejected.headers["Retry-After"] == "1", "\(rejected)")
      // Half of the clients give up.
      for client in clients.prefix(limit / 2) { client.cancel() }
      for client in clients.prefix(limit / 2) {
        let status = try await client.value
        try Day.check(status == 499, "\(status)")
      }
      let accepted = try await status(.get, "/acme/products/pen")
      try Day.check(accepted == 200, "\(accepted)")
    }
    while service.gate.count > 0 { await Task.yield() }
    print("overloaded: the request after \(limit) waiting ones was rejected with 503")
  }

  private func report() async throws {
    for name in Day.names {
      guard let tenant = Tenant(name[...]) else { continue }
      let statements = service.metrics.statements(of: tenant)
      let inserts = statements.filter { $0.key.hasPrefix("INSERT INTO \"Order\"") }
      let stored = try await service.tenants.withStore(of: tenant) {
        try await $0.count(of: Order.self)
      }
      let count = inserts.values.reduce(0) { $0 + $1.count }
      try Day.check(count == stored, "\(name): \(count) inserts, \(stored) orders")
      try Day.check(
        !statements.keys.contains { $0.contains("client") }, "the metrics contain values")
    }
    // Another process reads the store without a connection that can write.
    let reader = try await MagicData(
      path: "\(service.configuration.folder)/acme", options: .readOnly)
    let stock = try await reader.object(of: Product.self, primary: "pen").stock
    try await reader.close()
    try Day.check(stock == 338, "\(stock) pens")
    let responses = service.metrics.responses
    for status in responses.keys.sorted() { print("  \(status): \(responses[status] ?? 0)") }
  }

  /// Shuts down while clients place orders. Every acknowledged order is stored.
  private func shutDown() async throws {
    let before = try await audit(service)
    let (isSelling, sell) = AsyncStream<Void>.makeStream()
    let selling = Task {
      try await withThrowingTaskGroup { group in
        for client in 0..<8 {
          group.addTask {
            var acknowledged = 0
            for number in 0... {
              let tenant = Day.names[(client + number) % Day.names.count]
              let status = try await order(from: tenant, key: "evening \(client)/\(number)")
              if status == 201 { acknowledged += 1 }
              if status == 503 { break }
              try Day.check(status == 201 || status == 409, "\(status)")
              if number == 10 { sell.finish() }
            }
            return acknowledged
          }
        }
        return try await group.reduce(0, +)
      }
    }
    for await _ in isSelling {}
    await service.shutDown(grace: .seconds(60))
    let acknowledged = try await selling.value
    let openCount = await service.tenants.openCount
    try Day.check(openCount == 0, "\(openCount) stores are open")

    let tomorrow = ShopService(service.configuration)
    let errors = try await tomorrow.start()
    try Day.check(errors.isEmpty, "\(errors)")
    let after = try await audit(tomorrow)
    try Day.check(after == before + acknowledged, "\(after), \(before), \(acknowledged)")
    await tomorrow.shutDown(grace: .seconds(60))
    print("shut down while orders were placed; every acknowledged order is stored")
  }
}
