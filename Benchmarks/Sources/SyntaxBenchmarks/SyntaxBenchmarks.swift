import CSQLite
import Foundation
import SQLSyntax

/// A program that compares SQLSyntax with `sqlite3_prepare_v2` and `sqlite3_complete` on the same
/// texts. The fastest of nine runs counts.
///
///     swift run -c release SyntaxBenchmarks
@main
enum SyntaxBenchmarks {
  static func main() throws {
    let database = try Scratch(Texts.schema)
    let statements = Texts.statements
    let bytes = statements.reduce(0) { $0 + $1.utf8.count }
    print("\(statements.count) statements, \(bytes) bytes, mean \(bytes / statements.count)")
    let script = statements.joined(separator: ";\n") + ";\n"
    measureText(script)
    try measureTrees(statements, bytes, database)
    try measureSelect(database)
  }

  /// Measures tokenizing, splitting and fingerprinting a long script.
  private static func measureText(_ script: String) {
    let size = script.utf8.count
    let tokens = fastest { SQLTokens(script).reduce(0) { $0 &+ $1.range.count } }
    let splitting = fastest { SQLScript(script).reduce(0) { $0 &+ $1.end } }
    let fingerprint = fastest { SQLFingerprint(script).text.utf8.count }
    let complete = fastest { Int(unsafe sqlite3_complete(script)) }
    report("tokens", size, tokens)
    report("splitting", size, splitting)
    report("sqlite3_complete", size, complete)
    report("fingerprint", size, fingerprint)
  }

  private static func measureTrees(
    _ statements: [String], _ bytes: Int, _ database: Scratch
  ) throws {
    let trees = try statements.map { try SQLStatement(parsing: $0) }
    let parsing = fastest {
      statements.reduce(0) { $0 &+ ((try? SQLStatement(parsing: $1)) == nil ? 0 : 1) }
    }
    let printing = fastest { trees.reduce(0) { $0 &+ $1.printed().utf8.count } }
    let preparing = fastest { statements.reduce(0) { $0 &+ database.prepare($1) } }
    report("tree", bytes, parsing)
    report("printing", trees.reduce(0) { $0 + $1.printed().utf8.count }, printing)
    report("sqlite3_prepare_v2", bytes, preparing)
  }

  /// Measures parsing a single SELECT statement of 105 bytes.
  private static func measureSelect(_ database: Scratch) throws {
    let sql = Texts.select
    let count = 2_000
    let parsing = fastest {
      (0..<count).reduce(0) { sum, _ in sum &+ ((try? SQLStatement(parsing: sql)) == nil ? 0 : 1) }
    }
    let preparing = fastest { (0..<count).reduce(0) { sum, _ in sum &+ database.prepare(sql) } }
    let tree = parsing * 1e6 / Double(count)
    let whole = preparing * 1e6 / Double(count)
    print(
      "SELECT of \(sql.utf8.count) bytes: tree \(rounded(tree)) µs, prepare \(rounded(whole)) µs, "
        + "\(rounded(tree / whole)) of it")
  }

  private static func report(_ name: String, _ bytes: Int, _ seconds: Double) {
    print("\(name): \(rounded(Double(bytes) / seconds / 1e6)) MB/s")
  }

  private static func rounded(_ number: Double) -> Double { (number * 100).rounded() / 100 }

  /// Returns the duration of the fastest of nine runs in seconds.
  private static func fastest(_ body: () -> Int) -> Double {
    let clock = ContinuousClock()
    var best = Double.infinity
    var sum = 0
    for _ in 0..<9 {
      let time = clock.measure { sum &+= body() }
      let (seconds, attoseconds) = time.components
      best = min(best, Double(seconds) + Double(attoseconds) / 1e18)
    }
    precondition(sum != .min)
    return best
  }
}

/// An in-memory database for preparing statements.
@safe struct Scratch {
  private let connection: OpaquePointer

  init(_ schema: [String]) throws {
    var connection: OpaquePointer?
    guard unsafe sqlite3_open(":memory:", &connection) == SQLITE_OK,
      let connection = unsafe connection
    else { throw Failure() }
    unsafe self.connection = connection
    for sql in schema {
      guard unsafe sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else {
        throw Failure()
      }
    }
  }

  struct Failure: Error {}

  /// Prepares and finalizes a statement. Returns 1 if SQLite accepts it, otherwise 0.
  func prepare(_ sql: String) -> Int {
    var statement: OpaquePointer?
    let code = unsafe sqlite3_prepare_v2(connection, sql, -1, &statement, nil)
    unsafe sqlite3_finalize(statement)
    return code == SQLITE_OK ? 1 : 0
  }
}
