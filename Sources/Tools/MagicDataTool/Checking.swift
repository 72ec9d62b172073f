import MagicData
import Terminal

extension Command {
  static let check = Command(
    name: "check", summary: "check integrity, foreign keys and assets",
    usage: "[--quick] [--format table|csv|json] PATH",
    explanation: """
      Searches for damage without changing anything. Prints a row for each finding:

      integrity     damage that SQLite finds in the file (PRAGMA integrity_check)
      foreign key   rows that reference missing rows
      asset         files that are missing or don't match their digest
      recovery      what opening the store, or a sweep, would do next; not a fault

      --quick  skip the indexes and the files of assets

      The status is 3 if there are faults.
      """,
    flags: ["--quick"], options: ["--format"], run: check)

  private static func check(_ session: inout Session) throws -> ExitStatus {
    let location = try DatabaseLocation(session.arguments.operands[0])
    let database = try location.openForReading(session)
    let isQuick = session.arguments.flags.contains("--quick")
    var report = Report(writer: try session.results(["check", "subject", "finding"]))

    try session.progress("reading every page")
    try database.read { connection in
      for finding in try connection.integrityFindings(isQuick: isQuick) {
        try report.add(["integrity", nil, finding])
      }
      try session.interruption.check()
      for (table, parent, count, first) in try connection.brokenReferences() {
        let location = first.map { ", the first in row \($0)" } ?? ""
        let rows = count == 1 ? "1 row references" : "\(count) rows reference"
        try report.add([
          "foreign key", table, "\(rows) missing rows of \(parent)\(location)",
        ])
      }
    }
    do {
      if let assets = try location.assets(of: database) {
        if !isQuick {
          let errors = try assets.verify { try session.progress($0.description(of: "reading")) }
          for error in errors { try report.add(["asset", nil, "\(error)"]) }
        }
        for (name, step) in try assets.upkeepPlan().steps {
          try report.add(["recovery", name, step], isFault: false)
        }
      }
    } catch let error as ToolError {
      try report.add(["asset", nil, error.message])
    }
    session.endProgress()
    try report.writer.finish()
    return report.count == 0 ? .done : .found
  }

  static let repair = Command(
    name: "repair", summary: "repair what can be repaired without losing data",
    usage: "[OPTIONS] PATH",
    explanation: """
      Lists what can be repaired. With --apply, repairs it:

      - rolls back a transaction that was interrupted by a crash
      - moves pending asset files into place if their rows are committed, and otherwise deletes them
      - deletes files that no row references
      - rebuilds indexes that don't match their table

      It changes nothing else. `check` lists rows without a parent, missing and damaged files, and damaged
      pages. Make a backup first.

      --format FORMAT     table, csv or json
      --apply             repair; without this option, nothing is changed
      --migrated-to NAME  fail unless NAME is the last applied migration
      --wait SECONDS      how long to wait for the locks of other programs (5 by default)

      The status is 3 if there is something to repair, or if faults remain that cannot be repaired.
      """,
    flags: ["--apply"], options: ["--format", "--migrated-to", "--wait"], run: repair)

  private static func repair(_ session: inout Session) throws -> ExitStatus {
    let location = try DatabaseLocation(session.arguments.operands[0])
    let applies = session.arguments.flags.contains("--apply")
    var report = Report(writer: try session.results(["subject", applies ? "done" : "to do"]))

    if let bytes = FileLocks.size(of: location.path + "-journal"), bytes > 0 {
      try report.add([
        location.path + "-journal", "roll back its transaction if its program has ended",
      ])
      if applies { try location.rollBackInterruptedTransaction(session) }
    }
    try location.checkIsNotNewer(session)
    try session.progress("reading every page")
    let database = try location.openForReading(session)
    let findings = try database.read { try $0.integrityFindings(isQuick: false) }
    let indexes = Connection.indexes(namedIn: findings)
    if let assets = try location.assets(of: database) {
      for (name, step) in try assets.upkeepPlan().steps { try report.add([name, step]) }
    }
    try database.close()
    for index in indexes { try report.add([index, "rebuild the index"]) }

    var left = findings.count { Connection.index(namedIn: $0) == nil }
    if applies {
      // Opening the store moves or removes pending asset files.
      let opened = try location.openForWriting(session)
      if !indexes.isEmpty {
        try opened.database.write { connection in
          for index in indexes {
            try session.progress("rebuilding the index \(index)")
            try connection.executeChange("REINDEX \(identifier: index)")
          }
        }
      }
      if case .store(let magic) = opened { _ = try magic.assets.sweep() }
      left = try opened.database.read { try $0.integrityFindings(isQuick: false) }.count
      try opened.database.close()
    }
    session.endProgress()
    try report.writer.finish()
    if left > 0 {
      try session.note("\(left) faults cannot be repaired; list them with `magicdata check`")
    }
    return left > 0 || (report.count > 0 && !applies) ? .found : .done
  }

  static let sweep = Command(
    name: "sweep", summary: "delete asset files that no row references",
    usage: "[OPTIONS] PATH",
    explanation: """
      Deletes the files in a store's folder that no row references and no reader needs. Prints a row for each.

      --format FORMAT     table, csv or json
      --dry-run           only list the files
      --migrated-to NAME  fail unless NAME is the last applied migration
      --wait SECONDS      how long to wait for the locks of other programs (5 by default)
      """,
    flags: ["--dry-run"], options: ["--format", "--migrated-to", "--wait"], run: sweep)

  private static func sweep(_ session: inout Session) throws -> ExitStatus {
    let location = try DatabaseLocation(session.arguments.operands[0])
    var writer = try session.results(["file", "step"])
    if session.arguments.flags.contains("--dry-run") {
      let database = try location.openForReading(session)
      guard let assets = try location.assets(of: database) else { throw Self.noAssets(location) }
      for (name, step) in try assets.upkeepPlan().steps {
        try writer.add([.text(name), .text(step)])
      }
    } else {
      guard case .store(let magic) = try location.openForWriting(session) else {
        throw Self.noAssets(location)
      }
      let report = try magic.assets.sweep()
      let lists = [
        (report.removed, "deleted"), (report.kept, "kept: a reader may need it"),
        (report.foreign, "ignored: not a file of the store"),
      ]
      for (names, step) in lists {
        for name in names { try writer.add([.text(name), .text(step)]) }
      }
      try magic.database.close()
    }
    try writer.finish()
    return .done
  }

  private static func noAssets(_ location: DatabaseLocation) -> ToolError {
    .failed("\(location.path) has no assets")
  }
}

/// A writer for the result rows of `check` and `repair`, which counts the faults.
private struct Report {
  var writer: ResultWriter
  /// The number of rows that report a fault.
  private(set) var count = 0

  init(writer: ResultWriter) { self.writer = writer }

  mutating func add(_ cells: [String?], isFault: Bool = true) throws {
    try writer.add(cells.map { $0.map { .text($0) } ?? .null })
    if isFault { count += 1 }
  }
}

extension UpkeepPlan {
  /// The names of the files that recovery or a sweep would move or remove, each with a description
  /// of that step.
  fileprivate var steps: [(name: String, step: String)] {
    [
      (moved, "move into place: its row is committed"),
      (discarded, "delete: its row was never committed"),
      (deleted, "delete: its asset was deleted or replaced"),
      (unnamed, "delete: no row references it"),
    ].flatMap { names, step in names.map { ($0, step) } }
  }
}

extension AssetProgress {
  func description(of work: String) -> String {
    "\(work) assets: \(assets) of \(totalAssets), \(bytes / 1_000_000) of \(totalBytes / 1_000_000) MB"
  }
}

extension Connection {
  /// Returns the faults that SQLite finds in the file, at most 1,000.
  fileprivate func integrityFindings(isQuick: Bool) throws -> [String] {
    let findings = try rows(
      isQuick ? "PRAGMA quick_check(1000)" : "PRAGMA integrity_check(1000)", as: String.self)
    return findings == ["ok"] ? [] : findings
  }

  /// Returns the violated foreign keys. Each element contains the table, the referenced table, the
  /// number of violating rows, and the smallest rowid among them. The rowid is nil for a table
  /// WITHOUT ROWID.
  fileprivate func brokenReferences() throws -> [(String, String, Int, Int64?)] {
    try rows(
      """
      SELECT "table", parent, count(*), min(rowid) FROM pragma_foreign_key_check
      GROUP BY "table", parent, fkid
      """, as: String.self, String.self, Int.self, Int64?.self)
  }

  /// Returns the name of the index that, according to a message of SQLite's integrity check,
  /// doesn't match its table. Returns nil if the message is about something else.
  fileprivate static func index(namedIn finding: String) -> String? {
    for words in [
      " missing from index ", "wrong # of entries in index ", "non-unique entry in index ",
    ] {
      if let range = finding.firstRange(of: words) { return String(finding[range.upperBound...]) }
    }
    return nil
  }

  fileprivate static func indexes(namedIn findings: [String]) -> [String] {
    Set(findings.compactMap { index(namedIn: $0) }).sorted()
  }
}
