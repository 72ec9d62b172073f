package import MagicData
import SQLitePortable
import SQLSyntax
import SQLiteSchema

#if canImport(Darwin)
  import Foundation
#else
  import FoundationEssentials
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif
#endif

/// A store with every kind of content, which the steps change through package-level calls only.
package struct Workload: Sendable {
  package let magic: MagicData
  private let collections: CodableStore

  /// Opens the store in a folder and creates what the steps need.
  package init(path: String, options: Database.Options = Database.Options()) throws {
    magic = try MagicData(path: path, options: options)
    collections = CodableStore(database: magic.database)
    try magic.database.executeMultipleChanges(
      """
      CREATE TABLE IF NOT EXISTS plain (
        key TEXT PRIMARY KEY, -- kept
        version INTEGER NOT NULL, filler BLOB NOT NULL);
      CREATE INDEX IF NOT EXISTS plain_version ON plain (version DESC);
      CREATE TRIGGER IF NOT EXISTS plain_key AFTER UPDATE OF key ON plain BEGIN SELECT 1; END;
      """)
  }

  /// Makes a step atomically.
  package func run(_ step: Step) throws {
    switch step {
    case .set(let kind, let key, let version): try set(kind, key, version)
    case .remove(let kind, let key): try remove(kind, key)
    case .setAll(let key, let version):
      try magic.transaction { for kind in Step.Kind.allCases { try set(kind, key, version) } }
    case .removeAll(let key):
      try magic.transaction { for kind in Step.Kind.allCases { try remove(kind, key) } }
    case .migrate(let count):
      // Another program may already have run more migrations.
      let made = try magic.database.read { try migrationCount($0) }
      try magic.database.migrate(Workload.migrations(max(count, made)))
    case .checkpoint:
      do {
        try magic.database.checkpoint(.passive)
      } catch let error as SQLiteError where error.code == .busy {
        // Another process is running a checkpoint, and a passive checkpoint doesn't wait.
      }
    }
  }

  private func set(_ kind: Step.Kind, _ key: String, _ version: Int) throws {
    switch kind {
    case .row:
      try magic.database.executeChange(
        """
        INSERT INTO plain (key, version, filler)
        VALUES (\(key), \(version), \(Workload.filler(version)))
        ON CONFLICT (key) DO UPDATE SET version = excluded.version, filler = excluded.filler
        """)
    case .record: try magic.database.write { try $0.update(Note(key, version)) }
    case .object:
      if version % 2 == 0, try magic.has(of: Person.self, primary: key) {
        let person = try magic.object(of: Person.self, primary: key)
        person.change(to: version)
        try magic.update(person)
      } else {
        try magic.update(Person(key, version))
      }
    case .asset:
      if version % 2 == 0, try magic.has(of: Document.self, primary: key) {
        let document = try magic.object(of: Document.self, primary: key)
        document.change(to: version)
        try magic.update(document)
      } else {
        try magic.update(Document(key, version))
      }
    case .collection:
      let entry = Entry(id: key, version: version)
      try magic.transaction {
        if try collections.update(item: entry) == 0 { try collections.insert(item: entry) }
      }
    }
  }

  private func remove(_ kind: Step.Kind, _ key: String) throws {
    switch kind {
    case .row: try magic.database.executeChange("DELETE FROM plain WHERE key = \(key)")
    case .record: try magic.database.write { try $0.remove(of: Note.self, primary: key) }
    case .object:
      try magic.removeAll(Person.where(\Person.$id == key))
    case .asset:
      try magic.removeAll(Document.where(\Document.$id == key))
    case .collection: try collections.delete(item: Entry(id: key, version: 0))
    }
  }

  static func filler(_ version: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(version % 251), count: version % 7 * 900)
  }

  /// Returns migrations that each add a column, fill it and drop the previous one, and that rebuild
  /// the table with another constraint.
  static func migrations(_ count: Int) -> [Migration] {
    (0..<count).map { number in
      var steps: [Migration.Step] = [
        .addColumn(
          ColumnDefinition("note\(number)", .integer, isOptional: true), in: "plain"),
        .transform("plain") { row in
          ["note\(number)": try row.get("version", as: Int.self) + number]
        },
      ]
      if number > 0 { steps.append(.dropColumn("note\(number - 1)", in: "plain")) }
      steps.append(
        .addConstraint(
          "CONSTRAINT \(identifier: "limit\(number)") CHECK (version > -1)", in: "plain"))
      if number > 0 { steps.append(.dropConstraint(named: "limit\(number - 1)", in: "plain")) }
      return Migration("note \(number)", steps)
    }
  }

  private func migrationCount(_ connection: Connection) throws -> Int {
    let columns = try connection.columns(of: "plain").map(\.name)
    guard let note = columns.first(where: { $0.hasPrefix("note") }) else { return 0 }
    return (Int(note.dropFirst(4)) ?? -1) + 1
  }

  /// Returns the current content of the store.
  ///
  /// - Throws: ``Damage`` if something is incomplete or differs from what was written.
  package func state() throws -> Step.State {
    var state: Step.State = [:]
    try magic.database.read { connection in
      for (key, version, filler) in try connection.rows(
        "SELECT key, version, filler FROM plain", as: String.self, Int.self, [UInt8].self)
      {
        guard filler == Workload.filler(version) else { throw Damage("row \(key) \(version)") }
        state["row \(key)"] = version
      }
      let migrations = try migrationCount(connection)
      if migrations > 0 { state["migrations"] = migrations }
      let columns = try connection.columns(of: "plain").count
      guard columns == (migrations > 0 ? 4 : 3) else { throw Damage("columns") }
      try Workload.checkSchema(connection, migrations)
    }
    for note in try magic.database.read({ try $0.objects(of: Note.self) }) {
      guard note == Note(note.id, note.version) else { throw Damage("record \(note.id)") }
      state["record \(note.id)"] = note.version
    }
    for person in try magic.object(of: Person.self) {
      guard person.isIntact else { throw Damage("object \(person.id)") }
      state["object \(person.id)"] = person.version
    }
    let documents = try magic.object(of: Document.self)
    for document in documents {
      guard try document.file.get() == Document.content(document.id, document.version) else {
        throw Damage("asset \(document.id)")
      }
      state["asset \(document.id)"] = document.version
    }
    let entries: [Entry] = try collections.read()
    for entry in entries {
      guard state.updateValue(entry.version, forKey: "collection \(entry.id)") == nil else {
        throw Damage("collection \(entry.id) twice")
      }
    }
    return state
  }

  /// Checks that the table that each migration rebuilds has its old parts and the wanted
  /// constraint.
  private static func checkSchema(_ connection: Connection, _ migrations: Int) throws {
    let schema = try connection.schemaModel()
    let names = schema.table("plain")?.constraints.compactMap(\.name?.text)
    guard names == (migrations > 0 ? ["limit\(migrations - 1)"] : []) else {
      throw Damage("constraints \(names ?? []) after \(migrations) migrations")
    }
    let text = try connection.firstRow(
      "SELECT sql FROM sqlite_schema WHERE name = 'plain'", as: String.self)
    guard text?.contains("-- kept") == true, schema.indexes(on: "plain").count == 1,
      schema.triggers(on: "plain").count == 1,
      !schema.tables.contains(where: { $0.name.name.text.hasPrefix("magicdata_rebuild") })
    else { throw Damage("the schema of plain") }
  }

  /// Checks for damage that reading doesn't detect.
  package func check() throws {
    let integrity = try magic.database.rows("PRAGMA integrity_check", as: String.self)
    guard integrity == ["ok"] else { throw Damage("integrity: \(integrity)") }
    let broken = try magic.database.executeQuery("PRAGMA foreign_key_check").count
    guard broken == 0 else { throw Damage("\(broken) broken references") }
    let faults = try magic.assets.verify()
    guard faults.isEmpty else { throw Damage("assets: \(faults)") }
    let records = try magic.assets.records()
    let documents = try magic.count(of: Document.self)
    guard records.count == documents else {
      throw Damage("\(records.count) assets of \(documents) documents")
    }
    // All other assets must be deleted or have no file.
    var named: Set<String> = []
    for file in try magic.database.rows("SELECT file FROM magicdata_asset", as: String.self) {
      named.insert(file)
    }
    let files = try Workload.files(in: "\(magic.assets.path)/files")
    guard named == Set(files) else {
      throw Damage("files: \(named.symmetricDifference(files).sorted())")
    }
    let pending = try Workload.files(in: "\(magic.assets.path)/pending")
    guard pending.isEmpty else { throw Damage("pending: \(pending)") }
  }

  /// Returns the names of the files in a folder and its subfolders.
  static func files(in path: String) throws -> [String] {
    let manager = FileManager.default
    // A store creates its folder when it writes its first content.
    guard manager.fileExists(atPath: path) else { return [] }
    return try manager.contentsOfDirectory(atPath: path).flatMap { name -> [String] in
      var isFolder = false
      var status = stat()
      isFolder = unsafe stat("\(path)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      return isFolder ? try files(in: "\(path)/\(name)").map { "\(name)/\($0)" } : [name]
    }
  }
}

/// An error for a store with content that wasn't written.
package struct Damage: Error, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}
