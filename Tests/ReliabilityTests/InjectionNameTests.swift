import Foundation
import MagicData
import SQLitePortable
import Testing
import TestSupport

/// Tests hostile texts as names of collections, links, migrations, functions and dumped objects:
/// each text names exactly one thing or throws.
@Suite struct InjectionNameTests {
  struct Note: Codable, Hashable, Identifiable {
    var id: String
    var text: String

    static func == (one: Note, other: Note) -> Bool { isSame(one.id, other.id) }

    func hash(into hasher: inout Hasher) { hasher.combine(id) }

    func isIdentical(_ other: Note) -> Bool { isSame(id, other.id) && isSame(text, other.text) }
  }

  /// A record with an arbitrary table name and arbitrary property names.
  struct Named: Record, Equatable {
    @TaskLocal static var table = "any"
    @TaskLocal static var searched = "text"
    static var tableName: String { table }
    static var traits: [PropertyTrait] { [.unique(searched), .searched(searched)] }
    static let primaryKey = "\u{1F511}"

    var values: [String: String]

    struct Name: CodingKey {
      var stringValue: String
      var intValue: Int? { nil }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    init(_ values: [String: String]) { self.values = values }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Name.self)
      values = [:]
      // A searchable table has internal columns.
      for key in container.allKeys where !key.stringValue.hasPrefix("magicdata_") {
        values[key.stringValue] = try container.decode(String.self, forKey: key)
      }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Name.self)
      for (name, value) in values.sorted(by: { $0.key < $1.key }) {
        try container.encode(value, forKey: Name(stringValue: name))
      }
    }
  }

  static let texts = Injections.all

  /// Returns whether SQLite or this library reserves the name.
  private func isReserved(_ text: String) -> Bool {
    text.hasPrefix("sqlite_") || text.hasPrefix("magicdata_")
  }

  @Test func `any text can name a collection`() throws {
    let database = try SafeDatabase.make()
    let before = try SafeDatabase.content(of: database)
    let store = CodableStore(database: database)
    var made: Set<[UInt8]> = []
    for text in Self.texts {
      var expected = [Note(id: text, text: text), Note(id: "other", text: text + text)]
      try store.insert(on: text, items: expected)
      made.insert(Array(text.utf8))
      expected[0].text = "new"
      #expect(try store.update(item: expected[0], from: text) == 1)
      let notes: [Note] = try store.read(from: text)
      #expect(notes.count == 2, "\(text.debugDescription)")
      #expect(zip(notes, expected).allSatisfy { $0.isIdentical($1) }, "\(text.debugDescription)")
      #expect(try store.contains(item: expected[0], in: text))
      #expect(try store.count(of: Note.self, in: text) == 2)
      #expect(try store.readReport(of: Note.self, from: text).undecodable.isEmpty)
      try store.delete(item: expected[1], from: text)
      #expect(try store.read(from: text) == [expected[0]])
    }
    #expect(Set(try store.tableNames().map { Array($0.utf8) }) == made)
    #expect(made.count == 200)
    let again = CodableStore(database: try Database.memory(serialized: database.serialized()))
    for text in Self.texts {
      let notes: [Note] = try again.read(from: text)
      #expect(notes.count == 1 && notes[0].isIdentical(Note(id: text, text: "new")))
    }
    #expect(try SafeDatabase.containsAll(before, database))
  }

  @Test func `any text can name a relation`() throws {
    for text in Self.texts where !isReserved(text) {
      let database = try SafeDatabase.make()
      let before = try SafeDatabase.content(of: database)
      try database.write { connection in
        let ends = ["from " + text, "to " + text]
        for end in ends {
          try connection.createTable(
            end, columns: [ColumnDefinition(text, .integer, isPrimaryKey: true)])
          try connection.executeChange("INSERT INTO \(identifier: end) VALUES (1), (2)")
        }
        for arrangement in [LinkTable.Arrangement.list, .set, .dictionary] {
          let table = LinkTable(
            text, arrangement, from: .init(table: ends[0], key: text),
            to: .init(table: ends[1], key: text))
          try connection.ensure(table.definition)
          switch arrangement {
          case .list: try connection.setList(table, of: 1, to: [2, 1])
          case .set: try connection.setSet(table, of: 1, to: [1, 2])
          case .dictionary: try connection.setDictionary(table, of: 1, to: [.text(text): 1])
          }
          let links = try connection.links(table, of: [1])
          let expected: [Int64] =
            switch arrangement {
            case .list: [2, 1]
            case .set: [1, 2]
            case .dictionary: [1]
            }
          #expect(links.map(\.target) == expected, "\(text.debugDescription)")
          if case .dictionary = arrangement {
            guard case .text(let key) = links.first?.place else {
              Issue.record("\(links)")
              continue
            }
            #expect(isSame(key, text))
          }
          try connection.deleteTable(text)
        }
      }
      #expect(try SafeDatabase.containsAll(before, database))
    }
  }

  @Test func `any text can name a cross reference`() throws {
    struct Left: Record {
      var id: String
    }
    struct Right: Record {
      var id: String
    }
    for text in Self.texts where !isReserved(text) {
      let database = try SafeDatabase.make()
      let before = try SafeDatabase.content(of: database)
      let reference = CrossReference<Left, Right>(
        text, leftKeyName: "l" + text, rightKeyName: "r" + text,
        columns: [ColumnDefinition("x" + text, .text, defaultValue: .text(text))])
      try database.write { try $0.update(Left(id: text)) }
      try database.write { try $0.update(Right(id: text)) }
      try database.write { try $0.link(Left(id: text), Right(id: text), through: reference) }
      let rights = try database.read { try $0.rightObjects(of: Left(id: text), through: reference) }
      #expect(rights.count == 1 && isSame(rights.first?.id, text), "\(text.debugDescription)")
      let extra = try database.rows(
        "SELECT \(identifier: "x" + text) FROM \(identifier: text)", as: String.self
      ).first
      #expect(isSame(extra, text))
      try database.write { try $0.unlink(Left(id: text), Right(id: text), through: reference) }
      #expect(try SafeDatabase.containsAll(before, database))
    }
  }

  @Test func `any text can name a record and its property`() throws {
    for text in Self.texts where !isReserved(text) {
      try Named.$table.withValue(text) {
        try Named.$searched.withValue(text) {
          let database = try SafeDatabase.make()
          let before = try SafeDatabase.content(of: database)
          let value = Named([Named.primaryKey: text, text: "word \(text)"])
          // FTS5 reserves this name.
          guard text != "rowid" else {
            #expect(throws: SQLiteError.self) { try database.write { try $0.update(value) } }
            #expect(try SafeDatabase.content(of: database) == before)
            return
          }
          try database.write { try $0.update(value) }
          try database.write { try $0.update(value) }
          let found = try database.read {
            try $0.objects(
              of: Named.self, orderedBy: .column(text, descending: true))
          }
          #expect(found == [value], "\(text.debugDescription)")
          // The uniqueness applies to that column.
          #expect(throws: SQLiteError.self) {
            try database.write {
              try $0.insert(contentsOf: [Named([Named.primaryKey: "x", text: "word \(text)"])])
            }
          }
          let results = try database.read {
            try $0.fetch(
              Named.all.search(.all(of: "word"), marks: SearchMarks(start: text, end: text)))
          }
          #expect(results.map(\.value) == [value])
          #expect(isSame(results.first?.highlights[text], "\(text)word\(text) \(text)"))
          let reference = RecordReference<Named, Named>(text)
          #expect(try database.read { try $0.target(of: value, through: reference) } == nil)
          #expect(try database.write { try $0.remove(value) })
          #expect(try SafeDatabase.containsAll(before, database))
        }
      }
    }
  }

  @Test func `a migration with any text as its name runs once`() throws {
    let database = try SafeDatabase.make()
    try database.executeChange("CREATE TABLE counted (n)")
    let before = try SafeDatabase.content(of: database)
    func migration(_ text: String) -> Migration {
      Migration(text, .sql("INSERT INTO counted VALUES (\(text))"))
    }
    // The library compares names like Swift does.
    #expect(throws: SQLiteError.self) {
      try database.migrate(["é", "e\u{301}"].map(migration))
    }
    var names: [String] = []
    for text in Self.texts where !names.contains(text) { names.append(text) }
    let migrations = names.map(migration)
    let made = try database.migrate(migrations)
    #expect(made.count > 190 && made.count == names.count)
    #expect(zip(made, names).allSatisfy { isSame($0, $1) })
    #expect(try database.migrate(migrations) == [])
    let kept = try database.rows("SELECT n FROM counted ORDER BY rowid", as: String.self)
    #expect(kept.count == names.count && zip(kept, names).allSatisfy { isSame($0, $1) })
    #expect(try SafeDatabase.containsAll(before, database))
  }

  @Test func `any text can be a name in a migration step`() throws {
    for text in Self.texts where !isReserved(text) {
      let database = try SafeDatabase.make()
      let before = try SafeDatabase.content(of: database)
      try database.executeMultipleChanges("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
      try database.migrate([
        Migration(
          "names", .renameTable("t", to: text),
          .addColumn(ColumnDefinition("b" + text, .text, defaultValue: .text(text)), in: text),
          .addColumn(ColumnDefinition("c" + text, .text, isOptional: true), in: text),
          .transform(text) { row in
            ["c" + text: try row.get("b" + text, as: String.self) + "!"]
          }, .dropColumn("a", in: text))
      ])
      let row = try database.executeQuery("SELECT * FROM \(identifier: text)").first
      #expect(row?.columnNames == ["b" + text, "c" + text], "\(text.debugDescription)")
      #expect(row?.values == [.text(text), .text(text + "!")])
      try database.migrate([
        Migration("names", []), Migration("drop", .dropTable(text)),
      ])
      #expect(try SafeDatabase.containsAll(before, database))
    }
  }

  @Test func `any text can name a function and a collation`() throws {
    let database = try SafeDatabase.make()
    let before = try SafeDatabase.content(of: database)
    for text in Self.texts {
      try database.write { connection in
        try connection.addFunction(text) { (value: String) in text + value }
        let result = try connection.firstRow(
          "SELECT \(identifier: text)(\(text))", as: String.self)
        #expect(isSame(result, text + text), "\(text.debugDescription)")
        try connection.removeFunction(text, argumentCount: 1)
        try connection.addCollation(text) { $0 == $1 ? 0 : $0 < $1 ? 1 : -1 }
        let sorted = try connection.rows(
          "SELECT value FROM json_each('[\"a\", \"b\"]') ORDER BY value COLLATE \(identifier: text)",
          as: String.self)
        #expect(sorted == ["b", "a"], "\(text.debugDescription)")
        var statement = try connection.statement("SELECT :a, ?2")
        #expect(throws: SQLiteError.self) { try statement.bind(1, named: text + "§") }
      }
    }
    #expect(try SafeDatabase.content(of: database) == before)
  }

  @Test func `hostile names and values in a dump are restored unchanged`() throws {
    let folder = try TestFolder.inMemory()
    let database = try SafeDatabase.make()
    var names: Set<String> = []
    // SQLite considers names equal that differ only in the case of ASCII letters.
    for text in Self.texts
    where !isReserved(text)
      && names.insert(String(decoding: text.utf8.map(lower), as: UTF8.self)).inserted
    {
      let other = "other " + text
      try database.write {
        try $0.createTable(
          text,
          columns: [
            ColumnDefinition(other, .text), ColumnDefinition("x", .text, defaultValue: .text(text)),
          ])
      }
      try database.write { try $0.createIndex("index " + text, on: text, columns: [other]) }
      try database.executeChange(
        "INSERT INTO \(identifier: text) (\(identifier: other)) VALUES (\(text)), (\(text + text))")
    }
    #expect(names.count > 190)
    let expected = try content(database)
    for file in [
      DataFile.spon(path: folder.file("spon")), .json(path: folder.file("json")),
      .sqlite(path: folder.file("sqlite")),
    ] {
      try database.dump(to: file)
      let again = try SafeDatabase.make()
      try again.restore(from: file)
      #expect(try content(again) == expected, "\(file)")
    }
  }

  private func lower(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte + 32 : byte }

  /// Returns the bytes of the schema and of all rows.
  private func content(_ database: Database) throws -> [[[UInt8]]] {
    try database.read { connection in
      func bytes(_ row: Row) -> [[UInt8]] { row.values.map { Array("\($0)".utf8) } }
      var content = try connection.executeQuery(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, CAST(name AS BLOB)"
      ).map(bytes)
      for table in try connection.existingTables().sorted(by: {
        Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8))
      }) {
        content += try connection.executeQuery("SELECT * FROM \(identifier: table)").map(bytes)
      }
      return content
    }
  }
}
