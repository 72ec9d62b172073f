// A process of its own for the tests of SQLiteCore: what only another process can show.
#if canImport(Glibc)
  import Glibc
#endif
import SQLiteCore

func run(_ arguments: [String]) throws {
  switch arguments.first {
  case "add":
    // add <path> <count>: reads a number and writes the next, so many times.
    let database = try Database(path: arguments[1])
    for _ in 0..<(Int(arguments[2]) ?? 0) {
      try database.write { connection in
        let old = try connection.firstRow("SELECT a FROM t", as: Int.self) ?? 0
        try connection.executeChange("UPDATE t SET a = \(old + 1)")
      }
    }
  case "open":
    // open <path> <mode>: opens as a user without privileges and writes, if the mode says so.
    setgid(65_534)
    setuid(65_534)
    let isReading = arguments[2] == "read"
    let database = try Database(path: arguments[1], options: isReading ? .readOnly : .init())
    _ = try database.existingTables()
    if !isReading { try database.executeChange("CREATE TABLE made (a)") }
  case "folder":
    // folder <name>: a database in the user's folder, whose path is printed.
    let database = try Database.inUserDataFolder(named: arguments[1], of: "magicdata test")
    try database.executeChange("CREATE TABLE t (a)")
    print(database.path ?? "")
  case "die":
    // die <path>: commits, begins to write, and is killed in the middle.
    let database = try Database(path: arguments[1])
    try database.executeChange("UPDATE t SET a = a + 1")
    try database.write { connection in
      try connection.executeChange("UPDATE t SET a = a + 1000")
      kill(getpid(), SIGKILL)
    }
  default:
    throw SQLiteError(.misuse, "unknown command")
  }
}

do {
  try run(Array(CommandLine.arguments.dropFirst()))
} catch {
  print("\(error)")
  exit(1)
}
