// Commands for the tests of SQLiteHistory that need a separate process.
import Foundation
import Platform
import SQLiteCore
import SQLiteHistory
import SQLiteMapping

private struct Town: Record {
  static let tableName = "town"
  var id: Int
  var name: String
  var size: Int
}

/// Returns the time of a clock that all processes share.
private func nanoseconds() -> Int {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// latency <path> <count>: prints when each transaction of `stamp` began and when its delta
/// arrived.
private func printLatency(_ path: String, _ count: Int) async throws {
  let database = try Database(path: path)
  try await database.executeChange(
    "CREATE TABLE IF NOT EXISTS town (id INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER NOT NULL)"
  )
  let journal = try await database.journal()
  var deltas = journal.deltas(of: Town.self).makeAsyncIterator()
  print("ready")
  fflush(nil)
  var count = count
  while count > 0, let changes = try await deltas.next() {
    let now = nanoseconds()
    for case .inserted(let town) in changes { print(town.id, town.size, now) }
    count -= changes.count
  }
}

/// exchange <path> <name> <folder> <write|finish>: writes into `town`, sends the changes as files
/// in a folder, and applies the files of others, until it is killed or, with `finish`, once.
private func exchange(
  _ database: Database, as name: String, in folder: String, writes: Bool
) throws {
  try database.executeMultipleChanges(
    """
    CREATE TABLE IF NOT EXISTS town (id INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS outbox (number INTEGER PRIMARY KEY AUTOINCREMENT, patch BLOB, is_sent);
    CREATE TABLE IF NOT EXISTS seen (file TEXT PRIMARY KEY);
    CREATE TABLE IF NOT EXISTS conflict (id INTEGER PRIMARY KEY);
    """)
  print("ready")
  fflush(nil)
  repeat {
    if writes {
      try database.write { connection in
        let patch = try connection.patch {
          for _ in 0..<Int.random(in: 1...4) {
            // Some rows are written only by this copy, some by others, too.
            let key = Int.random(in: 0...3) == 0 ? Int.random(in: 1...9) : Int.random(in: 1...99)
            let id = key < 10 ? key : key * 10 + (Int(name) ?? 0)
            if Int.random(in: 0...4) == 0 {
              try connection.executeChange("DELETE FROM town WHERE id = \(id)")
            } else {
              try connection.executeChange(
                "INSERT OR REPLACE INTO town VALUES (\(id), \(name), \(Int.random(in: 1...99)))")
            }
          }
        }
        // Atomic: each committed patch will be sent.
        try connection.executeChange(
          "INSERT INTO outbox (patch) VALUES (\([UInt8](patch.data)))")
      }
    }
    for (number, patch) in try database.rows(
      "SELECT number, patch FROM outbox WHERE is_sent IS NULL ORDER BY number", as: Int.self,
      [UInt8].self)
    {
      let digits = String(number)
      let padded = String(repeating: "0", count: max(0, 8 - digits.count)) + digits
      try Data(patch).write(
        to: URL(fileURLWithPath: "\(folder)/\(name)-\(padded)"), options: .atomic)
      try database.executeChange("UPDATE outbox SET is_sent = 1 WHERE number = \(number)")
    }
    let seen = Set(try database.rows("SELECT file FROM seen", as: String.self))
    for file in try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    where file.dropFirst().first == "-" && !file.hasPrefix(name) && !seen.contains(file) {
      let patch = try Patch(data: Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(file)")))
      try database.write { connection in
        let report = try connection.apply(patch) { _ in .omit }
        for resolved in report.resolved {
          try connection.executeChange(
            "INSERT OR IGNORE INTO conflict VALUES (\(resolved.conflict.key[0]))")
        }
        try connection.executeChange("INSERT INTO seen VALUES (\(file))")
      }
    }
  } while writes
}

private func run(_ arguments: [String]) throws {
  var options = Database.Options()
  // The machine may be busy.
  options.busyTimeout = .seconds(300)
  let database = try Database(path: arguments[1], options: options)
  switch arguments.first {
  case "write":
    // write <path> <count> <journal|silent>: runs that many transactions on town(id, name, size).
    let journal = arguments[3] == "journal" ? try database.journal() : nil
    for number in 0..<(Int(arguments[2]) ?? 0) {
      try database.write { connection in
        let key = number % 17 + 1
        try connection.executeChange(
          "INSERT OR REPLACE INTO town VALUES (\(key), \("other \(number)"), \(number))")
        if number % 5 == 0 {
          try connection.executeChange("DELETE FROM town WHERE id = \(key / 2)")
        }
        if number % 7 == 0 { try connection.executeChange("UPDATE town SET size = size + 1") }
      }
    }
    withExtendedLifetime(journal) {}
  case "loop":
    // loop <path>: makes journaled writes and patches of all rows of `level` until it is killed.
    let journal = try database.journal(limit: 1 << 30)
    print("ready")
    // A pipe is buffered until the buffer is full.
    fflush(nil)
    var number = try database.rows("SELECT max(n) FROM level", as: Int.self).first ?? 0
    while true {
      number += 1
      let patch = try database.write { connection in
        let made = try connection.patch {
          try connection.executeChange("UPDATE level SET n = \(number)")
        }
        try connection.apply(made.inverted)
        return made
      }
      try database.apply(patch)
      try database.executeChange(
        "INSERT OR REPLACE INTO town VALUES (\(number % 50), \("loop \(number)"), \(number))")
    }
    withExtendedLifetime(journal) {}
  case "stamp":
    // stamp <path> <count>: runs transactions every few milliseconds that store their start time,
    // and prints their end time.
    let journal = try database.journal()
    for number in 1...(Int(arguments[2]) ?? 0) {
      usleep(UInt32.random(in: 500...12_000))
      try database.executeChange(
        "INSERT OR REPLACE INTO town VALUES (\(number), 'stamp', \(nanoseconds()))")
      print(number, nanoseconds())
    }
    withExtendedLifetime(journal) {}
  case "restore":
    // restore <path> <copy>: replaces the database with a copy.
    try Database(path: arguments[2]).backup(to: database)
  case "exchange":
    try exchange(database, as: arguments[2], in: arguments[3], writes: arguments[4] == "write")
  case "cost":
    // cost <path> <none|tables|judged|deltas|journal> [update]: writes 100,000 rows in one
    // transaction and updates them in another, for counting instructions.
    try database.executeChange(
      "CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT, size INTEGER)")
    let subscription: Registration? =
      switch arguments[2] {
      case "tables": database.subscribe(to: .tables) { _ in }
      case "judged": database.subscribe(to: .values, tables: ["town"], atMost: 1 << 18) { _ in }
      default: nil
      }
    let deltas = arguments[2] == "deltas" ? database.deltas(of: Town.self) : nil
    let journal = arguments[2] == "journal" ? try database.journal() : nil
    try database.write { connection in
      var insert = try connection.statement("INSERT INTO town VALUES (?, ?, ?)")
      for number in 0..<100_000 { try insert.run(number, "a town of some name", number * 7) }
    }
    if arguments.last == "update" { try database.executeChange("UPDATE town SET size = size + 1") }
    withExtendedLifetime((subscription, deltas, journal)) {}
  default: print("unknown command")
  }
}

do {
  let arguments = Array(CommandLine.arguments.dropFirst())
  if arguments.first == "latency" {
    try await printLatency(arguments[1], Int(arguments[2]) ?? 0)
  } else {
    try run(arguments)
  }
} catch {
  print("\(error)")
}
