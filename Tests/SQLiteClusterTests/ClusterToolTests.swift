import Conformance
import Foundation
import MagicDataTool
import SQLiteCluster
import SQLiteCore
import Terminal
import Testing

/// Tests the `magicdata` tool on a cluster.
@Suite(.serialized, .enabled(if: TestCluster.isAvailable, Comment(rawValue: TestCluster.reason)))
struct ClusterToolTests {
  private final class CapturedText {
    var text = ""
  }

  private func run(_ words: String...) -> (status: Int32, output: String, errors: String) {
    let (output, errors) = (CapturedText(), CapturedText())
    let status = Tool.run(
      words, output: Output(isTerminal: false) { output.text += $0 },
      errors: Output(isTerminal: false) { errors.text += $0 })
    return (status, output.text, errors.text)
  }

  @Test func `info shows the nodes with their roles, the leader and the tables`() throws {
    let cluster = try TestCluster()
    let database = try cluster.database("shop")
    try database.executeChange("CREATE TABLE item (id INTEGER PRIMARY KEY)")
    try database.executeChange("INSERT INTO item VALUES (1), (2)")
    let leader = try cluster.leader()

    let result = run("info", "--cluster", cluster.addresses[0], "--name", "shop")
    #expect(result.status == 0, "\(result.errors)")
    let lines = result.output.split(separator: "\n")
    #expect(lines.count { $0.hasPrefix("node,") } == 3)
    #expect(
      lines.filter { $0.hasSuffix("leader\"") }.map { $0.split(separator: ",")[1] }
        == [Substring(cluster.addresses[leader])])
    #expect(lines.contains { $0.hasPrefix("table,item,2,") })
    #expect(lines.contains { $0.hasPrefix("database,shop,") })
  }

  @Test func `a database can be dumped and restored into an empty database`() throws {
    let cluster = try TestCluster(count: 1)
    let database = try cluster.database("shop")
    try database.executeChange("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)")
    try database.executeChange("INSERT INTO item VALUES (1, 'a'), (2, 'b')")
    let path = FileManager.default.temporaryDirectory
      .appending(path: "magicdata-\(UUID().uuidString).spon").path(percentEncoded: false)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let address = cluster.addresses[0]

    #expect(run("dump", "--cluster", address, "--name", "shop", path).status == 0)
    #expect(run("dump", "--cluster", address, "--name", "shop", path).status == 1)
    #expect(run("restore", path, "--cluster=\(address)", "--name=copy").status == 0)
    let rows = try cluster.database("copy").executeQuery("SELECT name FROM item ORDER BY id")
    #expect(rows.map { $0[0]?.asString() } == ["a", "b"])
    // It isn't empty any more.
    let again = run("restore", path, "--cluster", address, "--name", "copy")
    #expect(again.status == 1)
    #expect(again.errors.contains("item"))
  }

  @Test func `dumping an unknown database fails and writes no file`() throws {
    let cluster = try TestCluster(count: 1)
    let path = FileManager.default.temporaryDirectory
      .appending(path: "magicdata-\(UUID().uuidString).spon").path(percentEncoded: false)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let result = run("dump", "--cluster", cluster.addresses[0], "--name", "shpo", path)
    #expect(result.status == 1)
    #expect(result.errors.contains("check its name"), "\(result.errors)")
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test(arguments: [
    ["info"], ["info", "--cluster", "a:1"], ["info", "--name", "a"],
    ["info", "path", "--cluster", "a:1", "--name", "a"],
    ["dump", "--cluster", "a:1", "--name", "a"],
    ["restore", "a.spon"], ["restore", "a.spon", "b", "--cluster", "a:1", "--name", "a"],
  ])
  func `an invalid command line exits with status 2`(_ words: [String]) {
    let errors = CapturedText()
    let status = Tool.run(
      words, output: Output(isTerminal: false) { _ in },
      errors: Output(isTerminal: false) { errors.text += $0 })
    #expect(status == 2, "\(errors.text)")
  }
}
