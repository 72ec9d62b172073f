// A helper program for tests of SQLiteCore that need another process.
#if canImport(Glibc)
  import Glibc
#endif
import SQLiteCore

/// Returns the resident memory of this process in bytes.
func residentBytes() -> Int {
  guard let file = unsafe fopen("/proc/self/statm", "r") else { return 0 }
  defer { unsafe fclose(file) }
  var line = [CChar](repeating: 0, count: 200)
  _ = unsafe fgets(&line, Int32(line.count), file)
  let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  return pages * 4_096
}

#if canImport(Glibc)
  /// Runs `body` in a forked process, which prints the outcome.
  func forked(_ name: String, _ body: () throws -> Void) throws {
    fflush(nil)
    let child = fork()
    if child == 0 {
      do {
        try body()
        print("\(name): done")
      } catch {
        print("\(name): \("\(error)".contains("forked") ? "refused" : "\(error)")")
      }
      fflush(nil)
      _exit(0)
    }
    var status: Int32 = 0
    unsafe waitpid(child, &status, 0)
    if status != 0 { print("\(name): the child ended with status \(status)") }
  }
#endif

func run(_ arguments: [String]) throws {
  switch arguments.first {
  case "add":
    // add <path> <count>: increments a number `count` times by reading it and writing the next one.
    var options = Database.Options()
    // Four processes compete for the lock on a machine that may be busy.
    options.busyTimeout = .seconds(300)
    let database = try Database(path: arguments[1], options: options)
    for _ in 0..<(Int(arguments[2]) ?? 0) {
      try database.write { connection in
        let old = try connection.firstRow("SELECT a FROM t", as: Int.self) ?? 0
        try connection.executeChange("UPDATE t SET a = \(old + 1)")
      }
    }
  case "open":
    // open <path> <mode>: opens a database as a user without privileges, and writes unless the mode
    // is `read`.
    setgid(65_534)
    setuid(65_534)
    let isReading = arguments[2] == "read"
    let database = try Database(path: arguments[1], options: isReading ? .readOnly : .init())
    _ = try database.read { try $0.existingTables() }
    if !isReading { try database.executeChange("CREATE TABLE made (a)") }
  case "folder":
    // folder <name>: opens a database in the user's folder and prints its path.
    let database = try Database.inUserDataFolder(named: arguments[1], of: "magicdata test")
    try database.executeChange("CREATE TABLE t (a)")
    print(database.path ?? "")
  case "stream":
    // stream <path>: reads a million rows twice and prints by how many bytes the memory has grown.
    let database = try Database(path: arguments[1])
    let sql: SQL = """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
      SELECT i, printf('row %d of many', i) FROM n
      """
    var before = 0
    for round in 0..<2 {
      var size = 0
      try database.read { connection in
        try connection.forEachRow(sql) { row in
          size += try row.text(at: 1).utf8.count
          if round == 0, row.integer(at: 0) == 1_000 { before = residentBytes() }
        }
      }
    }
    print(residentBytes() - before)
  case "die":
    // die <path>: commits, writes in another transaction, and is killed before it commits.
    let database = try Database(path: arguments[1])
    try database.executeChange("UPDATE t SET a = a + 1")
    try database.write { connection in
      try connection.executeChange("UPDATE t SET a = a + 1000")
      kill(getpid(), SIGKILL)
    }
  #if canImport(Glibc)
    case "key":
      // key <path> <kind>: prints how often the key of a database is in this process's memory.
      try countKeyCopies(arguments[1], isPassphrase: arguments[2] == "passphrase")
    case "rekey":
      // rekey <path> <end>: fails to replace the key of a database, or is killed meanwhile.
      try failToRekey(arguments[1], isKilled: arguments[2] == "killed")
    case "fork":
      // fork <path>: writes, forks, and prints the results of the child's accesses and of the
      // parent's next write.
      let database = try Database(path: arguments[1])
      try database.executeChange("UPDATE t SET a = a + 1")
      try forked("write") { try database.executeChange("UPDATE t SET a = a + 1000") }
      try forked("read") { _ = try database.rows("SELECT a FROM t", as: Int.self) }
      try forked("close") { try database.close() }
      try forked("open again") { _ = try Database(path: arguments[1]) }
      try forked("open another") {
        try Database.memory().executeChange("CREATE TABLE other (a)")
      }
      try database.write { connection in
        try forked("write inside") { try connection.executeChange("UPDATE t SET a = a + 1000") }
      }
      try database.executeChange("UPDATE t SET a = a + 1")
      print("parent: \(try database.rows("SELECT a FROM t", as: Int.self).first ?? 0)")
  #endif
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
