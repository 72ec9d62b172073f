import Essentials
import MagicData
import SQLitePortable
import Terminal

extension Command {
  static let backup = Command(
    name: "backup", summary: "copy a snapshot of a store or a database",
    usage: "PATH TARGET",
    explanation: """
      Copies a store and its files to TARGET, an empty or missing folder. Copies a plain database to the file
      TARGET, which must not exist. Other programs can read and write at the same time.

      The status is 3 if asset files are missing or damaged. They are listed, and everything else is copied.
      """,
    operands: 2...2, run: backup)

  private static func backup(_ session: inout Session) throws -> ExitStatus {
    let location = try DatabaseLocation(session.arguments.operands[0])
    let target = session.arguments.operands[1]
    let database = try location.openForReading(session)
    guard let assets = try location.assets(of: database) else {
      guard try DatabaseLocation.kind(of: target) == .missing else {
        throw ToolError.failed("\(target) already exists")
      }
      try database.dump(to: .sqlite(path: target)) {
        try session.progress($0.description(of: "copying"))
      }
      return .done
    }
    let backup = try assets.backup(to: target) {
      try session.progress($0.description(of: "copying"))
    }
    for fault in backup.faults { try session.note("\(fault)") }
    return backup.faults.isEmpty ? .done : .found
  }

  static let dump = Command(
    name: "dump", summary: "write a database as text: lines of SPON or JSON",
    usage: "[--as spon|json] [--replace] PATH|--cluster ADDRESSES --name NAME FILE",
    explanation: """
      Writes a snapshot of the database to a text file, from which `restore` creates the database again. The
      text doesn't contain the files of assets. Use `backup` to copy them.

      --as FORMAT  spon or json; by default, the format of the file extension (.spon, .json, .jsonl)
      --replace    replace FILE if it exists
      \(ClusterLocation.explanation)
      """,
    flags: ["--replace"], options: ClusterLocation.options.union(["--as"]), operands: 1...2,
    run: dump)

  private static func dump(_ session: inout Session) throws -> ExitStatus {
    let cluster = try ClusterLocation.open(session, operands: 1)
    let location = cluster == nil ? try DatabaseLocation(session.arguments.operands[0]) : nil
    let file = try session.textFile(session.arguments.operands[cluster == nil ? 1 : 0])
    if try DatabaseLocation.kind(of: file.path) != .missing,
      !session.arguments.flags.contains("--replace")
    {
      throw ToolError.failed("\(file.path) already exists; add --replace to replace it")
    }
    guard let database = try cluster ?? location?.openForReading(session) else { return .failed }
    // A cluster creates a database when it is first opened, so a mistyped name would produce an
    // empty dump.
    if cluster != nil,
      try database.read({ try $0.existingTables() }).allSatisfy({ $0 == Connection.tokenTable })
    {
      throw ToolError.failed("the cluster database is empty; check its name")
    }
    try database.dump(to: file) { try session.progress($0.description(of: "writing")) }
    try noteOmittedFiles(of: database, &session)
    return .done
  }

  /// Prints the number of asset files that the rows reference, because a dump doesn't contain them.
  private static func noteOmittedFiles(of database: Database, _ session: inout Session) throws {
    guard try database.read({ try $0.tableExists("magicdata_asset") }),
      let count = try database.rows(
        "SELECT count(*) FROM magicdata_asset WHERE content IS NULL", as: Int.self
      ).first, count > 0
    else { return }
    try session.note(
      "\(count) asset files are not in the text; copy them with `magicdata backup`")
  }

  static let restore = Command(
    name: "restore", summary: "create a database from a text that `dump` has written",
    usage: "[OPTIONS] FILE PATH|--cluster ADDRESSES --name NAME",
    explanation: """
      Creates a database from a text. If this fails, PATH is unchanged. A database of a cluster must be empty.
      If restoring it fails or is interrupted, run the same command again to continue.

      A text contains no files of assets. After you restore a store, `check` therefore reports them as missing
      until you copy them to the folder next to PATH that it names.

      --as FORMAT         spon or json; by default, the format of the file extension
      --replace           replace the content of PATH if it exists, unless a newer program has created
                          or migrated it
      --migrated-to NAME  fail unless NAME is the last applied migration
      --wait SECONDS      how long to wait for the locks of other programs (5 by default)
      \(ClusterLocation.explanation)
      """,
    flags: ["--replace"],
    options: ClusterLocation.options.union(["--as", "--migrated-to", "--wait"]), operands: 1...2,
    run: restore)

  private static func restore(_ session: inout Session) throws -> ExitStatus {
    let cluster = try ClusterLocation.open(session, operands: 1)
    let file = try session.textFile(session.arguments.operands[0])
    guard try DatabaseLocation.kind(of: file.path) == .file else {
      throw ToolError.failed("\(file.path) is not a file")
    }
    if let cluster {
      try cluster.restore(from: file) { try session.progress($0.description(of: "copying")) }
      return .done
    }
    let path = session.arguments.operands[1]
    guard try DatabaseLocation.kind(of: path) != .missing else {
      try file.copy(toDatabase: path, key: session.key) {
        try session.progress($0.description(of: "reading"))
      }
      try noteOmittedFiles(of: DatabaseLocation(path).openForReading(session), &session)
      return .done
    }
    guard session.arguments.flags.contains("--replace") else {
      throw ToolError.failed("\(path) already exists; add --replace to replace its content")
    }
    let opened = try DatabaseLocation(path).openForWriting(session)
    try opened.database.restore(from: file) { try session.progress($0.description(of: "reading")) }
    try opened.database.close()
    return .done
  }
}

extension Command {
  static let `import` = Command(
    name: "import", summary: "create a store of collections from a file of SwiftDatabase",
    usage: "FILE PATH",
    explanation: """
      Creates a database from the tables in FILE, a JSON document of SwiftDatabase, an older library. PATH must
      not exist. Items keep their JSON text. CodableStore(path: PATH, coder: JSONCoder()) opens the database.
      """,
    operands: 2...2, run: importFile)

  private static func importFile(_ session: inout Session) throws -> ExitStatus {
    let (file, path) = (session.arguments.operands[0], session.arguments.operands[1])
    guard try DatabaseLocation.kind(of: file) == .file else {
      throw ToolError.failed("\(file) is not a file")
    }
    guard try DatabaseLocation.kind(of: path) == .missing else {
      throw ToolError.failed("\(path) already exists")
    }
    guard session.key == nil else {
      throw ToolError.failed("import cannot create an encrypted database; unset MAGICDATA_KEY")
    }
    try CodableStore(importing: Data(contentsOf: URL(filePath: file)))
      .save(to: URL(filePath: path))
    return .done
  }
}

extension Session {
  /// Returns the text file at a path, in the format that `--as` specifies. Without this option, the
  /// file extension determines the format. Throws `ToolError` if neither is `spon`, `json` or
  /// `jsonl`.
  fileprivate func textFile(_ path: String) throws -> DataFile {
    let end = path.split(separator: ".").last.map { String($0).lowercased() }
    switch arguments.values["--as"] ?? end {
    case "spon": return .spon(path: path)
    case "json", "jsonl": return .json(path: path)
    default:
      throw ToolError.usage(
        "the file name \(path.quoted) does not determine the format; add --as spon or --as json")
    }
  }
}

extension DumpProgress {
  fileprivate func description(of work: String) -> String {
    let bytes = totalBytes.map { "\(self.bytes / 1_000_000) of \($0 / 1_000_000) MB" }
    let rows = rows > 0 ? ", \(rows) rows" : ""
    return "\(work) \(table) \(bytes ?? "\(self.bytes / 1_000_000) MB")\(rows)"
  }
}
