import Foundation
import MagicData
import TestSupport
import Testing

@testable import Service

@Suite struct ShopServiceTests {
  @Test func `tenants are isolated`() async throws {
    let test = try await TestService(["acme", "bolt"])
    #expect(try await test.order(from: "acme", key: "1") == 201)
    // The same key is another request at another tenant.
    #expect(try await test.order(3, from: "bolt", key: "1") == 201)
    #expect(try await test.audit("acme") == 1)
    #expect(try await test.audit("bolt") == 1)
    let stocks = try await [
      test.store("acme") { try $0.object(of: Product.self, primary: "pen").stock },
      test.store("bolt") { try $0.object(of: Product.self, primary: "pen").stock },
    ]
    #expect(stocks == [999, 997])
    await test.service.shutDown(grace: .seconds(60))
  }

  @Test func `8 tasks with many requests keep the books in order`() async throws {
    let names = ["acme", "bolt", "cafe"]
    let test = try await TestService(names, stock: 100) { $0.openStoreLimit = 1 }
    let accepted = try await withThrowingTaskGroup { group in
      for client in 0..<8 {
        group.addTask {
          var accepted = 0
          for number in 0..<60 {
            let status = try await test.order(
              1 + number % 3, from: names[(client + number) % 3], key: "\(client)/\(number)")
            #expect(status == 201 || status == 409)
            if status == 201 { accepted += 1 }
            if number % 10 == 0 {
              let list = try await test.respond(.get, "/\(names[number % 3])/products/pen")
              #expect(list.status == 200)
            }
          }
          return accepted
        }
      }
      return try await group.reduce(0, +)
    }
    var count = 0
    for name in names { count += try await test.audit(name) }
    #expect(count == accepted)
    await test.service.shutDown(grace: .seconds(60))
  }

  @Test func `a repeated POST has one effect`() async throws {
    let test = try await TestService()
    let statuses = try await withThrowingTaskGroup { group in
      for _ in 0..<16 { group.addTask { try await test.order(2, key: "one") } }
      return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
    #expect(statuses == [201: 1, 200: 15])
    #expect(try await test.audit() == 1)
    // The key belongs to another order.
    #expect(try await test.order(3, key: "one") == 422)
    #expect(try await test.order(2, "Bob", key: "one") == 422)
    #expect(try await test.audit() == 1)
    await test.service.shutDown(grace: .seconds(60))
  }

  @Test func `a shutdown loses no acknowledged order`() async throws {
    let names = ["acme", "bolt", "cafe"]
    let test = try await TestService(names, stock: 100_000)
    let placed = Counter()
    let selling = Task {
      try await withThrowingTaskGroup { group in
        for client in 0..<8 {
          group.addTask {
            for number in 0... {
              let status = try await test.order(
                from: names[(client + number) % 3], key: "\(client)/\(number)")
              if status == 503 { return }
              #expect(status == 201)
              placed.add()
            }
          }
        }
        try await group.waitForAll()
      }
    }
    try await waitUntil { placed.count > 50 }
    await test.service.shutDown(grace: .seconds(600))
    try await selling.value
    #expect(await test.service.tenants.openCount == 0)
    #expect(openFiles(in: test.folder.path) == [])
    #expect(try await test.order(key: "late") == 503)

    let next = ShopService(test.service.configuration)
    #expect(try await next.start().isEmpty)
    var stored = 0
    for tenant in try next.tenants.all() {
      stored += try await next.tenants.withStore(of: tenant) { store in
        #expect(try Shop.wrongProducts(in: store) == [])
        return try await store.count(of: Order.self)
      }
    }
    #expect(stored == placed.count)
    await next.shutDown(grace: .seconds(600))
  }

  @Test func `after the grace, running requests are interrupted and write nothing`() async throws {
    let isRunning = Flag()
    let test = try await TestService {
      $0.timeLimit = .seconds(3_600)
      $0.options.prepareConnection = { connection in
        try connection.addFunction("running") { () -> Int in
          isRunning.set()
          return 1
        }
      }
    }
    // A statement that runs until it is interrupted, in a transaction that has written.
    let endless = Task {
      let permit = try test.service.gate.enter()
      defer { withExtendedLifetime(permit) {} }
      try await test.store { store in
        try await store.transaction {
          try store.update(Product("ink", "Ink", stock: 1))
          _ = try store.database.rows(
            """
            WITH RECURSIVE n (i) AS (SELECT running() UNION ALL SELECT i + 1 FROM n)
            SELECT count(*) FROM n
            """, as: Int.self)
        }
      }
    }
    try await waitUntil { isRunning.isSet }
    await test.service.shutDown(grace: .zero)
    let error = await #expect(throws: SQLiteError.self) { try await endless.value }
    #expect(error?.code == .interrupt)
    let store = try await MagicData(path: test.folder.file("tenants/acme"))
    #expect(try await store.count(of: Product.self) == 1)
    try await store.close()
  }

  @Test func `a backup during writes is consistent`() async throws {
    let names = ["acme", "bolt"]
    let test = try await TestService(names, stock: 100_000)
    let isOver = Flag()
    let selling = Task { () async throws -> Int in
      var number = 0
      while !isOver.isSet {
        number += 1
        let status = try await test.order(from: names[number % 2], key: "\(number)")
        #expect(status == 201)
      }
      return number
    }
    var previous: [Tenant: Int] = [:]
    for number in 0..<5 {
      // Verifies that the orders and the stock of each copy add up.
      let counts = try await test.service.backUp(to: test.folder.file("backup \(number)"))
      #expect(counts.count == 2)
      for (tenant, count) in counts { #expect(count >= previous[tenant] ?? 0) }
      previous = counts
    }
    isOver.set()
    let count = try await selling.value
    #expect(previous.values.reduce(0, +) <= count)
    // A copy is a store that another service can open.
    let last = ShopService(ShopService.Configuration(folder: test.folder.file("backup 4")))
    #expect(try await last.start().isEmpty)
    await last.shutDown(grace: .seconds(60))
    await test.service.shutDown(grace: .seconds(60))
  }

  @Test func `a cancelled request writes all or nothing`() async throws {
    let test = try await TestService(stock: 100_000)
    var placed = 0
    for number in 0..<150 {
      let request = Task { try await test.order(key: "\(number)") }
      for _ in 0..<number % 15 { await Task.yield() }
      request.cancel()
      let status = try await request.value
      #expect(status == 201 || status == 499)
      if status == 201 { placed += 1 }
    }
    // A commit that has begun is completed, so a cancelled request may be stored. Its client
    // repeats it with the same key.
    let stored = try await test.audit()
    #expect(stored == placed)
    for number in 0..<150 {
      let status = try await test.order(key: "\(number)")
      #expect(status == 201 || status == 200)
    }
    #expect(try await test.audit() == 150)
    await test.service.shutDown(grace: .seconds(60))
  }

  @Test func `a request that is cancelled while it waits writes nothing`() async throws {
    let test = try await TestService()
    try await test.blocking {
      let requests = (0..<10).map { number in Task { try await test.order(key: "\(number)") } }
      try await waitUntil { test.service.gate.count == 10 }
      for request in requests { request.cancel() }
      for request in requests { #expect(try await request.value == 499) }
    }
    #expect(try await test.audit() == 0)
    await test.service.shutDown(grace: .seconds(60))
  }

  @Test func `a request whose time limit passes while it waits can be repeated`() async throws {
    let test = try await TestService([]) { $0.timeLimit = .milliseconds(20) }
    try test.service.tenants.create(try #require(Tenant("acme")))
    try await test.store { _ = try await $0.insert(Product("pen", "Pen", stock: 5)) }
    try await test.blocking {
      var request = HTTPRequest(method: .post, path: "/acme/orders")
      request.headers["Idempotency-Key"] = "late"
      request.body = try JSONEncoder().encode(NewOrder(customer: "a", sku: "pen", quantity: 1))
      let response = await test.service.respond(to: request)
      #expect(response.status == 503)
      #expect(response.headers["Retry-After"] == "1")
    }
    #expect(try await test.audit() == 0)
    await test.service.shutDown(grace: .seconds(60))
  }

  @Test func `too many requests are rejected, and later ones are accepted`() async throws {
    let test = try await TestService { $0.requestLimit = 4 }
    try await test.blocking {
      let requests = (0..<4).map { number in Task { try await test.order(key: "\(number)") } }
      try await waitUntil { test.service.gate.count == 4 }
      for _ in 0..<10 {
        let response = try await test.respond(.get, "/acme/products/pen")
        #expect(response.status == 503)
        #expect(response.headers["Retry-After"] == "1")
      }
      requests[0].cancel()
      #expect(try await requests[0].value == 499)
      #expect(try await test.respond(.get, "/acme/products/pen").status == 200)
    }
    try await waitUntil { test.service.gate.count == 0 }
    #expect(try await test.audit() == 3)
    await test.service.shutDown(grace: .seconds(60))
  }

  @Test func `a lock of another process is reported as 503`() async throws {
    let test = try await TestService { $0.options.busyTimeout = .milliseconds(1) }
    let other = try Database(path: test.folder.file("tenants/acme/default.sqlite3"))
    let isHeld = Flag()
    let end = DispatchSemaphore(value: 0)
    let holder = Task {
      try await other.write { _ in
        isHeld.set()
        end.wait()
      }
    }
    try await waitUntil { isHeld.isSet }
    let status = try await test.order(key: "1")
    #expect(status == 503)
    // Reads don't wait for the lock.
    let read = try await test.respond(.get, "/acme/products/pen").status
    #expect(read == 200)
    end.signal()
    try await holder.value
    #expect(try await test.order(key: "1") == 201)
    try await other.close()
    await test.service.shutDown(grace: .seconds(60))
  }

  @Test func `the metrics add up and contain no values`() async throws {
    let names = ["acme", "bolt"]
    let test = try await TestService(names)
    /// The number of statements of a tenant that begin with these words.
    func count(_ start: String, of name: String) throws -> Int {
      let statements = test.service.metrics.statements(of: try #require(Tenant(name[...])))
      return statements.filter { $0.key.hasPrefix(start) }.values.reduce(0) { $0 + $1.count }
    }
    let transactions = ["BEGIN", "COMMIT", "ROLLBACK", "ROLLBACK TO"]
    var before: [String: [Int]] = [:]
    for name in names {
      let counts = try transactions.map { try count($0, of: name) }
      before[name] = counts
      // A new store has no table that the migrations could change, so each of their three steps is
      // rolled back to its savepoint. No transaction is.
      #expect(counts[0] == counts[1])
      #expect(counts[2...] == [3, 3])
    }
    var statuses: [Int: Int] = [201: 2]
    for number in 0..<40 {
      let status = try await test.order(
        1, "Mr. Secret", from: names[number % 2], key: "secret \(number % 30)")
      statuses[status, default: 0] += 1
    }
    #expect(statuses == [201: 32, 200: 10])
    #expect(test.service.metrics.responses == statuses)
    for name in names {
      let statements = test.service.metrics.statements(of: try #require(Tenant(name[...])))
      #expect(try count("INSERT INTO \"Order\"", of: name) == 15)
      #expect(try count("UPDATE \"Product\"", of: name) == 15)
      // Each request is one transaction. None is rolled back.
      let ended = zip(try transactions.map { try count($0, of: name) }, before[name] ?? []).map(-)
      #expect(ended == [20, 20, 0, 0])
      #expect(!statements.keys.contains { $0.lowercased().contains("secret") })
      #expect(statements.values.allSatisfy { $0.count > 0 && $0.longest <= $0.duration })
    }
    await test.service.shutDown(grace: .seconds(60))
  }

  @Test func `pages and exports contain every order once`() async throws {
    let test = try await TestService()
    for number in 0..<25 { #expect(try await test.order(key: "\(number)") == 201) }
    #expect(try await test.order(1, "Eve \"x\", \(1)", key: "other") == 201)
    var next: String? = "/acme/orders?customer=Ada&limit=10"
    var ids: [Int] = []
    var sizes: [Int] = []
    while let path = next {
      let url = try #require(URLComponents(string: path))
      var request = HTTPRequest(method: .get, path: url.path)
      for item in url.queryItems ?? [] { request.query[item.name] = item.value }
      guard case .data(let body) = await test.service.respond(to: request).body else { break }
      let list = try JSONDecoder().decode(OrderList.self, from: body)
      ids += list.orders.map(\.id)
      sizes.append(list.orders.count)
      next = list.next
    }
    #expect(sizes == [10, 10, 5])
    #expect(Set(ids).count == 25)

    guard case .stream(let parts) = try await test.respond(.get, "/acme/orders.csv").body else {
      Issue.record("the export isn't a stream")
      return
    }
    var text = Data()
    for try await part in parts { text += part }
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 27)
    #expect(lines.last == "26,\"Eve \"\"x\"\", 1\",pen,1")
    await test.service.shutDown(grace: .seconds(60))
  }

  @Test func `a shutdown waits for exports`() async throws {
    let test = try await TestService(stock: 10_000) { $0.openStoreLimit = 0 }
    try await test.store { store in
      try await store.transaction {
        let pen = try store.object(of: Product.self, primary: "pen")
        try store.insert((0..<1_200).map { Order("\($0)", "Ada", pen, 1) })
      }
    }
    guard case .stream(let parts) = try await test.respond(.get, "/acme/orders.csv").body else {
      Issue.record("the export isn't a stream")
      return
    }
    var iterator = parts.makeAsyncIterator()
    var lineCount = try #require(try await iterator.next()).count { $0 == UInt8(ascii: "\n") }
    // Nothing is open while the client receives the first part.
    #expect(await test.service.tenants.openCount <= 1)
    let shutdown = Task { await test.service.shutDown(grace: .seconds(600)) }
    try await waitUntil { test.service.gate.isClosed }
    #expect(try await test.order(key: "late") == 503)
    while let part = try await iterator.next() {
      lineCount += part.count { $0 == UInt8(ascii: "\n") }
    }
    #expect(lineCount == 1_201)
    await shutdown.value
    #expect(openFiles(in: test.folder.path) == [])
  }

  @Test func `a client that abandons an export doesn't delay a shutdown`() async throws {
    let test = try await TestService()
    for number in 0..<3 {
      let response = try await test.respond(.get, "/acme/orders.csv")
      guard number > 0, case .stream(let parts) = response.body else { continue }
      var iterator = parts.makeAsyncIterator()
      _ = try await iterator.next()
    }
    await test.service.shutDown(grace: .seconds(600))
    #expect(test.service.gate.count == 0)
  }

  @Test func `invalid requests have no effect`() async throws {
    let test = try await TestService()
    var bad: [(HTTPRequest, Int)] = []
    func add(
      _ method: HTTPRequest.Method, _ path: String, _ query: [String: String] = [:],
      body: String = "", key: String? = nil, _ status: Int
    ) {
      var request = HTTPRequest(method: method, path: path, query: query)
      request.headers["Idempotency-Key"] = key
      request.body = Data(body.utf8)
      bad.append((request, status))
    }
    let body = #"{"customer": "a", "sku": "pen", "quantity": 1}"#
    add(.post, "/acme/orders", body: body, 400)
    add(.post, "/acme/orders", body: body, key: "", 400)
    add(.post, "/acme/orders", body: body, key: String(repeating: "k", count: 101), 400)
    add(.post, "/acme/orders", body: "", key: "k", 400)
    add(.post, "/acme/orders", body: "[", key: "k", 400)
    for quantity in ["0", "-1", "1001", "9223372036854775807", "1e400", "null", "1.5"] {
      add(
        .post, "/acme/orders", body: body.replacingOccurrences(of: "1", with: quantity), key: "k",
        400)
    }
    add(
      .post, "/acme/orders", body: body.replacingOccurrences(of: "pen", with: "ink"), key: "k", 404)
    add(.put, "/acme/products/pen", body: #"{"name": "Pen", "stock": 5}"#, 409)
    add(.put, "/acme/products/ink", body: #"{"name": "Ink", "stock": -5}"#, 400)
    add(.put, "/acme/products/%ff", body: #"{"name": "Ink", "stock": 5}"#, 400)
    add(.get, "/acme/orders", [:], 400)
    for (name, value) in [
      ("limit", "0"), ("limit", "201"), ("limit", "x"), ("after", ""), ("after", "x"),
      ("after", "0.0"), ("after", "0000000000000000.1.tzz"),
    ] {
      add(.get, "/acme/orders", ["customer": "Ada", name: value], 400)
    }
    // The text of a page in another order.
    add(.get, "/acme/orders", ["customer": "Ada", "after": "0000000000000000.1.n"], 400)
    for (request, status) in bad {
      let response = await test.service.respond(to: request)
      #expect(response.status == status, "\(request)")
    }
    #expect(try await test.audit() == 0)
    #expect(try await test.store { try $0.count(of: Product.self) } == 1)
    await test.service.shutDown(grace: .seconds(60))
  }

  @Test func `a store of an older version is migrated, and a damaged one is set aside`()
    async throws
  {
    let test = try await TestService([])
    let folder = test.service.configuration.folder
    let old = try await MagicData(path: "\(folder)/old")
    try await old.update(FirstVersion.Product("pen", "Pen", count: 7))
    try await old.close()
    try test.folder.write("no database", to: "tenants/broken/default.sqlite3")
    let errors = try await test.service.start()
    #expect(errors.keys.map(\.name) == ["broken"])
    #expect(try await test.respond(.get, "/broken/products/pen").status == 500)
    #expect(try await test.order(2, from: "old", key: "1") == 201)
    #expect(try await test.audit("old") == 1)
    await test.service.shutDown(grace: .seconds(60))
  }
}
