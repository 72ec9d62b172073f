import Foundation
import SQLiteCluster
import SQLiteCore

/// A benchmark that measures the memory of the nodes of a cluster as a database grows.
struct NodeMemory {
  func run() throws {
    let cluster = try LocalCluster()
    let database = try Database(cluster: cluster.addresses, name: "test")
    try database.executeChange("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, b BLOB)")
    print("| rows | database, MB | memory of each node, MB |\n|---|---|---|")
    report(cluster, 0, 0)
    var rows = 0
    for target in [10_000, 50_000, 100_000] {
      while rows < target {
        let first = rows
        try database.write { connection in
          for id in first..<first + 1_000 {
            let blob = [UInt8](repeating: UInt8(id & 255), count: 900)
            try connection.executeChange("INSERT INTO t VALUES (\(id), \("name \(id)"), \(blob))")
          }
        }
        rows += 1_000
      }
      let pages = try database.executeQuery("PRAGMA page_count")[0][0]?.asInt() ?? 0
      report(cluster, rows, pages * 4_096)
    }
  }

  private func report(_ cluster: LocalCluster, _ rows: Int, _ bytes: Int) {
    let memory = cluster.processes.map { kibibytes("VmRSS", of: $0.processIdentifier) / 1_024 }
    print("| \(rows) | \(bytes / 1_000_000) | \(memory.map(String.init).joined(separator: ", ")) |")
  }
}
