import Foundation
import SQLiteCore
import SQLitePortable

/// A benchmark that dumps a million rows as text and restores them.
enum Dumps {
  static func measure() throws {
    let database = try Database.temporary()
    try database.write { connection in
      try connection.executeChange(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, score REAL, data BLOB)")
      var insert = try connection.statement("INSERT INTO t VALUES (?, ?, ?, ?)")
      for id in 0..<1_000_000 {
        try insert.run(id, "name \(id)", Double(id) / 7, Value.blob([1, 2, 3, 4, 5, 6, 7, 8]))
      }
    }
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "bench-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for file in [
      DataFile.spon(path: folder.appending(path: "a.spon").path),
      .json(path: folder.appending(path: "a.jsonl").path),
    ] {
      let dumping = try PortableBenchmarks.milliseconds { try database.dump(to: file) }
      let target = try Database.temporary()
      let restoring = try PortableBenchmarks.milliseconds { try target.restore(from: file) }
      print(
        "\(file): a million rows dumped in \(Int(dumping)) ms, restored in \(Int(restoring)) ms")
      if let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
        let peak = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM") })
      {
        print("  peak memory: \(peak)")
      }
    }
  }
}
