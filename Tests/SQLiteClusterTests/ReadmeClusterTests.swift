import MagicCluster
import MagicData
import Testing

/// The code of the README and of the articles on clusters.
@Suite(.enabled(if: TestCluster.isThere, Comment(rawValue: TestCluster.reason)))
struct ReadmeClusterTests {
  @Test func `money is moved on a cluster`() async throws {
    let cluster = try TestCluster(count: 1)
    let addresses = cluster.addresses
    let setUp = try Database(cluster: addresses, name: "shop")
    try await setUp.executeChange("CREATE TABLE account (id INTEGER PRIMARY KEY, balance REAL)")
    try await setUp.executeChange("INSERT INTO account VALUES (1, 100), (2, 0)")

    let database = try Database(cluster: addresses, name: "shop")
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
