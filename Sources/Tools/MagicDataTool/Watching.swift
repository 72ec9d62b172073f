import Essentials
import MagicData
import Platform
import Terminal

extension Command {
  static let watch = Command(
    name: "watch", summary: "report commits as they happen",
    usage: "[--for SECONDS] [--format table|csv|json] PATH",
    explanation: """
      Prints rows when another connection commits: the time, each table with a different number of rows, that
      number and the difference. An update that leaves these numbers unchanged, or a change of the schema, is a
      row without a table. Polls ten times a second; commits between two polls are reported together.

      --for SECONDS  stop after this time; otherwise, Control-C stops it. The status is 0 in both cases.
      """,
    options: ["--format", "--for"], run: watch)

  private static func watch(_ session: inout Session) throws -> ExitStatus {
    let seconds = try session.arguments.number("--for", in: 0...1_000_000_000)
    let database = try DatabaseLocation(session.arguments.operands[0]).openForReading(session)
    var writer = try session.results(["time", "table", "rows", "change"])
    let end = seconds.map { ContinuousClock.now + .seconds($0) }
    var state = try WatchedState(of: database)
    try writer.flush()
    do {
      while end.map({ ContinuousClock.now < $0 }) ?? true {
        usleep(100_000)
        try session.interruption.check()
        guard try WatchedState.version(of: database) != state.version else { continue }
        let next = try WatchedState(of: database)
        for row in next.rows(since: state) { try writer.add(row) }
        try writer.flush()
        state = next
      }
    } catch is Interrupted {
      // Control-C is the regular end of `watch`.
    } catch let error as SQLiteError
      where error.code.primary == .interrupt && session.interruption.isRaised
    {}
    return .done
  }
}

/// A snapshot of the values that `watch` compares: the data version, the schema version and the row
/// count of each table.
private struct WatchedState {
  /// The data version, which changes with each commit of another connection.
  let version: Int64
  private let schema: Int64
  private let counts: [String: Int]

  init(of database: Database) throws {
    // Read first, so that the next check detects a commit between this read and the ones below.
    version = try Self.version(of: database)
    (schema, counts) = try database.read { connection in
      let schema = try connection.firstRow("PRAGMA schema_version", as: Int64.self) ?? 0
      let counts = try connection.existingTables().reduce(into: [:]) { counts, table in
        counts[table] = try connection.firstRow(
          "SELECT count(*) FROM \(identifier: table)", as: Int.self)
      }
      return (schema, counts)
    }
  }

  /// Returns the value of `PRAGMA data_version`. Always reads it on the writer connection, because
  /// only values of the same connection can be compared.
  static func version(of database: Database) throws -> Int64 {
    try database.withoutTransaction {
      try $0.firstRow("PRAGMA data_version", as: Int64.self) ?? 0
    }
  }

  /// Returns the rows that `watch` writes: one for each table with a different row count, and one
  /// for a schema change. If neither changed, returns one row without a table.
  func rows(since old: WatchedState) -> [[Value]] {
    let time = Value.text(Date.now.formatted(.iso8601))
    func number(_ number: Int) -> Value { .integer(Int64(number)) }
    var rows: [[Value]] = []
    if schema != old.schema { rows.append([time, .null, .null, .text("schema")]) }
    for table in Set(counts.keys).union(old.counts.keys).sorted() {
      let (count, before) = (counts[table] ?? 0, old.counts[table] ?? 0)
      if count != before {
        rows.append([time, .text(table), number(count), number(count - before)])
      }
    }
    return rows.isEmpty ? [[time, .null, .null, .null]] : rows
  }
}
