import Foundation
import SQLiteCore

/// A benchmark of a program with a separate database for each tenant. The program has many files,
/// and a few hundred of them are open at the same time.
struct Tenants {
  let count: Int
  private let openAtOnce = 200

  func run() throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "magicdata-tenants-\(UUID().uuidString)").path(percentEncoded: false)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    report("at the start", .zero, 0)

    let start = ContinuousClock.now
    for tenant in 0..<count {
      let database = try open(folder, tenant)
      try database.executeChange("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)")
      try database.executeChange("INSERT INTO note (text) VALUES (\("first of \(tenant)"))")
    }
    report("files created, one at a time", .now - start, count)

    var random = SystemRandomNumberGenerator()
    var kept: [(tenant: Int, database: Database)] = []
    let second = ContinuousClock.now
    for index in 0..<count {
      // Closes the database that has been open the longest.
      if kept.count == openAtOnce { kept.removeFirst() }
      let tenant = Int.random(in: 0..<count, using: &random)
      let database = try open(folder, tenant)
      try database.executeChange("INSERT INTO note (text) VALUES (\("note \(index)"))")
      let rows = try database.executeQuery("SELECT count(*) FROM note")
      guard rows[0][0]?.asInt() ?? 0 >= 2 else { throw Failure("a note is missing") }
      kept.append((tenant, database))
    }
    report("opened, written and read, \(openAtOnce) open at a time", .now - second, count)

    let third = ContinuousClock.now
    for index in 0..<count {
      let database = kept[index % kept.count].database
      try database.executeChange("INSERT INTO note (text) VALUES (\("more \(index)"))")
    }
    report("written to open databases", .now - third, count)
    kept = []
    report("after closing all", .zero, 0)
  }

  private func open(_ folder: String, _ tenant: Int) throws -> Database {
    var options = Database.Options()
    // One reader is enough for a tenant, and each connection has its own cache.
    options.maximumReaderCount = 1
    return try Database(path: "\(folder)/\(tenant).sqlite3", options: options)
  }

  private func report(_ name: String, _ time: Duration, _ count: Int) {
    let memory = kibibytes("VmRSS", of: getpid()) / 1_024
    let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    let threads = kibibytes("Threads", of: getpid())
    let rate =
      count > 0 ? String(format: ", %.0f a second", Double(count) / (time / .seconds(1))) : ""
    print("\(name): \(memory) MB, \(files) descriptors, \(threads) threads\(rate)")
  }
}
