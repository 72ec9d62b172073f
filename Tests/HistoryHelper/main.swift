// A process of its own for the tests of SQLiteHistory: what only another process can show.
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

/// The time of a clock that all processes share.
private func nanoseconds() -> Int {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// latency <path> <count>: prints when each transaction of `stamp` began, and when it is told here.
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

private func run(_ arguments: [String]) throws {
  var options = Database.Options()
  // The machine has much else to do.
  options.busyTimeout = .seconds(300)
  let database = try Database(path: arguments[1], options: options)
  switch arguments.first {
  case "write":
    // write <path> <count> <journal|silent>: so many transactions on town(id, name, size).
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
    // loop <path>: journaled writes, and patches of all rows of `level`, until it is killed.
    let journal = try database.journal(limit: 1 << 30)
    print("ready")
    // A pipe is told when the buffer is full.
    fflush(nil)
    var number = try database.firstRow("SELECT max(n) FROM level", as: Int.self) ?? 0
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
    // stamp <path> <count>: transactions every few milliseconds with the time of their begin; prints that of their end.
    let journal = try database.journal()
    for number in 1...(Int(arguments[2]) ?? 0) {
      usleep(UInt32.random(in: 500...12_000))
      try database.executeChange(
        "INSERT OR REPLACE INTO town VALUES (\(number), 'stamp', \(nanoseconds()))")
      print(number, nanoseconds())
    }
    withExtendedLifetime(journal) {}
  case "cost":
    // cost <path> <none|tables|deltas|journal>: writes 100,000 rows in one transaction, for counting instructions.
    try database.executeChange(
      "CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT, size INTEGER)")
    let subscription =
      arguments[2] == "tables" ? database.subscribe(to: .tables) { _ in } : nil
    let deltas = arguments[2] == "deltas" ? database.deltas(of: Town.self) : nil
    let journal = arguments[2] == "journal" ? try database.journal() : nil
    try database.write { connection in
      var insert = try connection.statement("INSERT INTO town VALUES (?, ?, ?)")
      for number in 0..<100_000 { try insert.run(number, "a town of some name", number * 7) }
    }
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
