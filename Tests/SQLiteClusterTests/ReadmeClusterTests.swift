import Conformance
import Foundation
import MagicCluster
import MagicData
import Testing

/// The code examples of the README and the articles about clusters.
@Suite(.enabled(if: TestCluster.isAvailable, Comment(rawValue: TestCluster.reason)))
struct ReadmeClusterTests {
  @Test func `money is transferred on a cluster`() async throws {
    let cluster = try TestCluster(count: 1)
    let addresses = cluster.addresses
    let setUp = try await Database(cluster: addresses, name: "shop")
    try await setUp.executeChange("CREATE TABLE account (id INTEGER PRIMARY KEY, balance REAL)")
    try await setUp.executeChange("INSERT INTO account VALUES (1, 100), (2, 0)")

    let database = try await Database(cluster: addresses, name: "shop")
    try await database.write { connection in
      try connection.executeChange("UPDATE account SET balance = balance - 10 WHERE id = \(1)")
      try connection.executeChange("UPDATE account SET balance = balance + 10 WHERE id = \(2)")
    }

    let rows = try await database.executeQuery("SELECT balance FROM account ORDER BY id")
    #expect(rows.map { $0[0]?.asDouble() } == [90, 10])
  }

  @Test func `a store is opened on a cluster`() async throws {
    let cluster = try TestCluster(count: 1)
    let addresses = cluster.addresses

    let magic = try await MagicData(cluster: addresses, name: "shop")

    #expect(!magic.database.has(.functions))
  }
}

/// The code examples of the article about the costs of a cluster.
@Suite struct ReadmeTenantTests {
  func cluster(of tenant: String, in clusters: [[String]]) -> [String] {
    // Unlike a Hasher's values, the sum is the same on every machine and in every run.
    let sum = tenant.utf8.reduce(UInt64(5_381)) { $0 &* 33 &+ UInt64($1) }
    return clusters[Int(sum % UInt64(clusters.count))]
  }

  @Test func `tenants are distributed over clusters`() {
    let clusters = [["a:1"], ["b:1"], ["c:1"]]
    let counts = (0..<3_000).reduce(into: [String: Int]()) { counts, number in
      counts[cluster(of: "tenant \(number)", in: clusters)[0], default: 0] += 1
    }
    #expect(counts.count == 3)
    #expect(counts.values.allSatisfy { $0 > 700 })
  }

  @Test func `the most recently used databases stay open`() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "magicdata-tenants-\(UUID().uuidString)").path(percentEncoded: false)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let open = OpenTenants(limit: 2)
    weak var first: Database?
    do { first = try await open.database(of: "\(folder)/a") }
    #expect(first != nil)
    _ = try await open.database(of: "\(folder)/b")
    // This access makes the other database the least recently used one.
    _ = try await open.database(of: "\(folder)/a")
    _ = try await open.database(of: "\(folder)/c")
    #expect(first != nil)
    _ = try await open.database(of: "\(folder)/d")
    #expect(first == nil)
  }
}

actor OpenTenants {
  private var databases: [String: Database] = [:]
  private var order: [String] = []
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  func database(of tenant: String) throws -> Database {
    if let open = databases[tenant] {
      order.removeAll { $0 == tenant }
      order.append(tenant)
      return open
    }
    let database = try Database(path: "\(tenant).sqlite3")
    // A task that still uses the dropped database keeps it open. Opening the file twice is safe.
    if databases.count >= limit { databases[order.removeFirst()] = nil }
    order.append(tenant)
    databases[tenant] = database
    return database
  }
}
