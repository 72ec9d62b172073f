import Essentials
import MagicData
import SQLiteCluster
import SQLiteCore
import Terminal

extension Command {
  static let info = Command(
    name: "info", summary: "list tables, rows, sizes, assets, migrations, locks and cluster nodes",
    usage: "[--format table|csv|json] PATH | --cluster ADDRESSES --name NAME",
    explanation: """
      Describes a store or a database. Prints one row for each item, with its number of rows and its size if
      they are known.

      kind       name                      rows              bytes       note
      database   the file                  pages             size        version of SQLite, journal mode
      log        the write-ahead log                         size
      table      each table                rows              its pages   the Swift type of its rows
      index      each index                                  its pages   its table
      assets     the folder of the files   assets            total size  how many are in files and in rows
      migration  each applied migration    its position
      lock       each other program        process ID                    purpose of its locks (on Linux)
      node       the address of each node  its ID                        its role, and which one is the leader
      \(ClusterLocation.explanation)
      """,
    options: ClusterLocation.options.union(["--format"]), operands: 0...1, run: info)

  private static func info(_ session: inout Session) throws -> ExitStatus {
    if let database = try ClusterLocation.open(session, operands: 0) {
      return try info(ofCluster: database, &session)
    }
    let location = try DatabaseLocation(session.arguments.operands[0])
    let database = try location.openForReading(session)
    var facts = Facts(writer: try session.results(["kind", "name", "rows", "bytes", "note"]))
    let path = database.path ?? location.path
    let locks = FileLocks.holders(of: path)
    let journal =
      try database.withoutTransaction {
        try $0.firstRow("PRAGMA journal_mode", as: String.self)
      } ?? ""
    try database.read { connection in
      let pages = try connection.number("PRAGMA page_count")
      let size = try connection.number("PRAGMA page_size")
      try facts.add(
        "database", path, rows: pages, bytes: pages * size,
        "SQLite \(Database.sqliteVersion), journal mode \(journal), \(try connection.number("PRAGMA freelist_count")) free pages"
      )
      if let bytes = FileLocks.size(of: path + "-wal"), bytes > 0 {
        try facts.add("log", path + "-wal", rows: nil, bytes: bytes, nil)
      }
      try addTables(connection, &facts, &session)
      if try connection.tableExists("magicdata_asset") {
        let sums = try connection.firstRow(
          "SELECT count(*), total(size), count(content) FROM magicdata_asset", as: Int.self,
          Double.self, Int.self)
        let (count, bytes, inRows) = sums ?? (0, 0, 0)
        try facts.add(
          "assets", StorePath.assets(of: path), rows: count, bytes: Int(exactly: bytes),
          "\(count - inRows) in files, \(inRows) in rows")
      }
    }
    for (index, name) in try database.appliedMigrations().enumerated() {
      try facts.add("migration", name, rows: index + 1, bytes: nil, nil)
    }
    for holder in locks {
      try facts.add(
        "lock", holder.program, rows: holder.process, bytes: nil,
        holder.uses.joined(separator: ", "))
    }
    session.endProgress()
    try facts.writer.finish()
    return .done
  }

  /// Adds a row to `facts` for each table and index of the database.
  private static func addTables(
    _ connection: Connection, _ facts: inout Facts, _ session: inout Session
  ) throws {
    let sizes = connection.isRemote ? [:] : try connection.pageSizes()
    let types = try connection.typesOfTables()
    for table in try connection.existingTables() {
      try session.progress("counting the rows of \(table)")
      let rows = try? connection.number("SELECT count(*) FROM \(identifier: table)")
      let note = rows == nil ? "cannot be read" : types[table.lowercased()]
      try facts.add("table", table, rows: rows, bytes: sizes[table], note)
    }
    for index in try connection.existingIndexes() {
      try facts.add("index", index.name, rows: nil, bytes: sizes[index.name], index.table)
    }
  }

  private static func info(
    ofCluster database: Database, _ session: inout Session
  ) throws -> ExitStatus {
    var facts = Facts(writer: try session.results(["kind", "name", "rows", "bytes", "note"]))
    for node in try database.clusterNodes() ?? [] {
      try facts.add(
        "node", node.address, rows: Int(truncatingIfNeeded: node.id), bytes: nil,
        node.isLeader ? "\(node.role.name), leader" : node.role.name)
    }
    try database.read { connection in
      let pages = try connection.number("PRAGMA page_count")
      try facts.add(
        "database", session.arguments.values["--name"] ?? "", rows: pages,
        bytes: pages * (try connection.number("PRAGMA page_size")), nil)
      try addTables(connection, &facts, &session)
    }
    for (index, name) in try database.appliedMigrations().enumerated() {
      try facts.add("migration", name, rows: index + 1, bytes: nil, nil)
    }
    session.endProgress()
    try facts.writer.finish()
    return .done
  }
}

extension ClusterNode.Role {
  fileprivate var name: String {
    switch self {
    case .voter: "voter"
    case .standBy: "stand-by"
    case .spare: "spare"
    }
  }
}

/// A writer for the result rows of `info`.
private struct Facts {
  var writer: ResultWriter

  mutating func add(
    _ kind: String, _ name: String, rows: Int?, bytes: Int?, _ note: String?
  ) throws {
    func value(_ number: Int?) -> Value { number.map { .integer(Int64($0)) } ?? .null }
    try writer.add(
      [.text(kind), .text(name), value(rows), value(bytes), note.map { .text($0) } ?? .null])
  }
}

extension Connection {
  /// Returns the integer in the first column of the first row, or 0 if there is no row.
  fileprivate func number(_ sql: SQL) throws -> Int {
    try firstRow(sql, as: Int.self) ?? 0
  }

  /// Returns the total page size of each table and index in bytes. Empty if SQLite was built
  /// without `dbstat`.
  fileprivate func pageSizes() throws -> [String: Int] {
    guard Capabilities.has("ENABLE_DBSTAT_VTAB") else { return [:] }
    let rows = try rows(
      "SELECT name, sum(pgsize) FROM dbstat GROUP BY name", as: String.self, Int.self)
    return Dictionary(rows, uniquingKeysWith: { $1 })
  }

  /// Returns the name of the Swift type of each table, by lowercase table name.
  fileprivate func typesOfTables() throws -> [String: String] {
    guard try tableExists("magicdata_meta") else { return [:] }
    let rows = try rows(
      "SELECT substr(key, 7), value FROM magicdata_meta WHERE key LIKE 'table:%'", as: String.self,
      String.self)
    return Dictionary(rows.map { ($0.0.lowercased(), $0.1) }, uniquingKeysWith: { $1 })
  }
}
