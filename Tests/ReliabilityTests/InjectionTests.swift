import Foundation
import MagicData
import Testing
import TestSupport

/// Tests hostile texts at every public entry point and compares the results with Swift's in memory.
/// Each text is stored unchanged, byte for byte, or throws, and the rest of the database is
/// unaffected.
@Suite struct InjectionTests {
  struct Entry: Record, Equatable {
    static let primaryKey = "key"
    static let traits: [PropertyTrait] = [.searched("text")]
    var key: String
    var text: String
  }

  struct Thing: MagicObject {
    @PrimaryMagicValue var id: String
    @MagicValue var text: String
    @MagicValue var table: [String: Thing] = [:]
    @MagicValue var file: MagicAsset<String> = MagicAsset()

    init() {}

    init(_ id: String) {
      self.id = id
      text = id
      table = [id: self]
      file = MagicAsset(value: id)
    }
  }

  static let texts = Injections.all

  @Test func `there are 200 different texts`() {
    #expect(Self.texts.count == 200)
    #expect(Set(Self.texts.map { Array($0.utf8) }).count == 200)
  }

  @Test func `any text is stored unchanged as a value`() throws {
    let database = try SafeDatabase.make()
    try database.executeChange("CREATE TABLE t (a TEXT, b)")
    let before = try SafeDatabase.content(of: database)
    for text in Self.texts {
      try database.executeChange("INSERT INTO t VALUES (\(text), 1)")
      try database.executeChange("INSERT INTO t VALUES (?, 2)", withArgs: [text])
      try database.write { connection in
        try connection.executeChange(
          "INSERT INTO t VALUES (:text, 3)", withArgs: [":text": text])
        var insert = try connection.statement("INSERT INTO t VALUES (?1, ?2)")
        try insert.run(text, 4)
      }
      try database.executeChange(
        SQL(unchecked: "INSERT INTO t VALUES (\(SQL.escapeValue(text)), 5)"))
      let kept = try database.rows("SELECT a FROM t ORDER BY b", as: String.self)
      #expect(kept.count == 5 && kept.allSatisfy { isSame($0, text) }, "\(text.debugDescription)")
      let list = try database.rows("SELECT count(*) FROM t WHERE a IN \([text])", as: Int.self)
        .first
      #expect(list == 5)
      let found = try database.rows(
        "SELECT count(*) FROM t WHERE a = \(text) AND a LIKE \(text) ESCAPE '\u{1}'", as: Int.self
      ).first
      #expect(found ?? -1 >= 0)
      try database.executeChange("DELETE FROM t")
    }
    #expect(try SafeDatabase.content(of: database) == before)
  }

  @Test func `any text can name a table and a column, unless it is reserved`() throws {
    let database = try SafeDatabase.make()
    let before = try SafeDatabase.content(of: database)
    for text in Self.texts {
      do {
        try database.write {
          try $0.createTable(
            text,
            columns: [
              ColumnDefinition("id", .integer, isPrimaryKey: true), .init(text + "x", .text),
            ])
        }
        try database.write { try $0.createIndex(text + "i", on: text, columns: [text + "x"]) }
        try database.executeChange(
          "INSERT INTO \(identifier: text) (\(identifier: text + "x")) VALUES (\(text))")
        try database.executeChange(
          "UPDATE i? SET i? = ?", withArgs: [text, text + "x", text])
        let row = try database.executeQuery("SELECT * FROM \(identifier: text)").first
        #expect(row?.columnNames.count == 2 && isSame(row?.columnNames[1], text + "x"))
        #expect(try isSame(row?.get(1, as: String.self), text))
        let columns = try database.read { try $0.columns(of: text) }
        #expect(columns.count == 2 && isSame(columns[1].name, text + "x"))
        #expect(try database.read { try $0.existingTables() }.contains { isSame($0, text) })
        try database.write { connection in
          try connection.withBlob(table: text, column: text + "x", rowID: 1) { blob in
            let content = try blob.read(count: blob.byteCount, at: 0)
            #expect(content == Array(text.utf8))
          }
        }
        try database.migrate([
          Migration("to x", .renameColumn(text + "x", to: text + "y", in: text)),
          Migration("and back", .renameColumn(text + "y", to: text + "x", in: text)),
        ])
        try database.executeChange("DELETE FROM magicdata_meta WHERE key LIKE 'migration%'")
        try database.write { try $0.deleteTable(text) }
      } catch let error as SQLiteError {
        // SQLite reserves names that begin with sqlite_, and this library reserves its table.
        #expect(text.hasPrefix("sqlite_") || text == "magicdata_meta", "\(text): \(error)")
      }
      try database.executeMultipleChanges("DROP TABLE IF EXISTS magicdata_meta")
    }
    #expect(try SafeDatabase.content(of: database) == before)
  }

  @Test func `a text as an unknown column throws and changes nothing`() throws {
    let database = try SafeDatabase.make()
    try database.write {
      try $0.insert(contentsOf: [Entry(key: "b", text: "1"), Entry(key: "a", text: "2")])
    }
    let before = try SafeDatabase.content(of: database)
    for text in Self.texts {
      #expect(throws: SQLiteError.self, "\(text)") {
        try database.read {
          try $0.objects(of: Entry.self, orderedBy: .column(text + "§", descending: true))
        }
      }
      #expect(throws: SQLiteError.self) {
        try database.executeQuery("SELECT \(identifier: text + "§") FROM safe")
      }
      let found = try database.read {
        try $0.objects(
          of: Entry.self, where: "text = \(text)", orderedBy: .column("key"))
      }
      #expect(found == (text == "1" ? [Entry(key: "b", text: "1")] : []))
    }
    #expect(try SafeDatabase.content(of: database) == before)
  }

  @Test func `a text in a record is found like in memory`() throws {
    let database = try SafeDatabase.make()
    try database.write { try $0.update(Entry(key: "first", text: "")) }
    let before = try SafeDatabase.content(of: database)
    let entries = Self.texts.map { Entry(key: $0, text: "x\($0)y") }
    try database.write { try $0.update(contentsOf: entries) }
    for entry in entries {
      let found = try database.read { try $0.object(of: Entry.self, ifPresent: entry.key) }
      #expect(isSame(found?.key, entry.key) && isSame(found?.text, entry.text))
      #expect(try database.read { try $0.count(of: Entry.self, where: "key = \(entry.key)") } == 1)
    }
    for entry in entries { #expect(try database.write { try $0.remove(entry) }) }
    #expect(try database.read { try $0.objects(of: Entry.self) } == [Entry(key: "first", text: "")])
    #expect(try SafeDatabase.content(of: database) == before)
  }

  @Test func `searching for a text finds the texts that contain its words`() throws {
    let database = try SafeDatabase.make()
    let entries = Self.texts.map { Entry(key: $0, text: $0) }
    try database.write { try $0.insert(contentsOf: entries) }
    let before = try SafeDatabase.content(of: database)
    let words = Self.texts.map { Words($0) }
    for (text, wanted) in zip(Self.texts, words) {
      let patterns: [(SearchPattern, (Words) -> Bool)] = [
        (.all(of: text), { $0.hasAll(of: wanted) }), (.any(of: text), { $0.hasAny(of: wanted) }),
        (.phrase(text), { $0.hasPhrase(wanted) }),
      ]
      for (pattern, fits) in patterns {
        let found = try database.read { try $0.fetch(Entry.all.search(pattern)) }.map {
          Array($0.value.key.utf8)
        }
        let expected = zip(Self.texts, words).filter { fits($1) }.map { Array($0.0.utf8) }
        #expect(Set(found) == Set(expected), "\(text.debugDescription)")
        #expect(found.count == expected.count)
      }
      // A prefix search finds at least the exact matches.
      let begun = try database.read { try $0.fetch(Entry.all.search(.prefix(text))) }.count
      #expect(begun >= words.count { $0.hasAll(of: wanted) })
    }
    #expect(try SafeDatabase.content(of: database) == before)
  }

  @Test func `a JSON path finds only the key that it names`() throws {
    let database = try SafeDatabase.make()
    let before = try SafeDatabase.content(of: database)
    for text in Self.texts {
      let json = try String(decoding: JSONEncoder().encode([text: text]), as: UTF8.self)
      // The key is compared exactly as a value.
      let found = try database.rows(
        "SELECT value FROM json_each(\(json)) WHERE key = \(text)", as: String.self)
      #expect(found.count == 1 && isSame(found.first, text))
      do {
        // No text is the JSON path of its key.
        let value = try database.rows("SELECT json_extract(\(json), \(text))", as: Value.self).first
        #expect(value == .null, "\(text.debugDescription)")
      } catch let error as SQLiteError {
        #expect(error.code.primary == .error)
      }
    }
    #expect(try SafeDatabase.content(of: database) == before)
  }

  @Test func `a text in an object is found like in memory`() throws {
    let magic = try MagicData(type: .memory)
    try magic.update(Thing("first"))
    try magic.database.executeMultipleChanges(
      "CREATE TABLE safe (a, b); INSERT INTO safe VALUES (1, 2)")
    let before = try SafeDatabase.content(of: magic.database)
    try magic.update(Self.texts.map { Thing($0) })
    let ids = try magic.object(of: Thing.self).map(\.id)
    for text in Self.texts {
      let thing = try magic.object(of: Thing.self, primary: text)
      #expect(isSame(thing.id, text) && isSame(thing.text, text))
      #expect(isSame(thing.table.first?.key, text) && isSame(thing.table.first?.value.id, text))
      #expect(try isSame(thing.file.get(), text))
      let equal = try magic.objects(of: Thing.self, where: \.$text == text)
      #expect(equal.count == 1)
      let bytes = Array(text.utf8)
      let prefixed = try magic.count(of: Thing.self, where: (\Thing.$text).hasPrefix(text))
      #expect(prefixed == ids.count { $0.utf8.starts(with: bytes) }, "\(text.debugDescription)")
      let containing = try magic.count(of: Thing.self, where: (\Thing.$text).contains(text))
      #expect(
        containing == ids.count { contains(Array($0.utf8), bytes) }, "\(text.debugDescription)")
      let like = try magic.count(of: Thing.self, where: (\Thing.$text).like(text))
      let pattern = LikePattern(text)
      #expect(like == ids.count { pattern.matches($0) }, "\(text.debugDescription)")
    }
    #expect(try magic.removeAll(Thing.all) == 201)
    #expect(try SafeDatabase.content(of: magic.database) == before)
  }

  private func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
    guard !part.isEmpty, text.count >= part.count else { return part.isEmpty }
    return (0...(text.count - part.count)).contains { text[$0...].starts(with: part) }
  }

  @Test func `an asset with any text as its extension or file name stays in its folder`() throws {
    let folder = try TestFolder.inMemory()
    let magic = try MagicData(path: folder.file("store"))
    let assets = magic.assets
    for text in Self.texts {
      do {
        let record = try assets.put([1, 2], extension: text)
        let path = try #require(try assets.open(record.id).path)
        #expect(path.hasPrefix("\(assets.path)/files/") && path.hasSuffix(".\(text)"))
        #expect(path.split(separator: "/").last?.contains("..") == false)
        try magic.database.write { connection in try assets.delete(record.id, in: connection) }
      } catch AssetError.invalidExtension(let rejected) {
        #expect(isSame(rejected, text))
      }
      #expect(AssetID(text) == nil)
      // A row that another program wrote can name any file.
      try magic.database.executeChange(
        """
        INSERT INTO magicdata_asset (id, file, size, sha256)
        VALUES (\(AssetID()), \(text), 1, \([UInt8](repeating: 0, count: 32)))
        """)
      #expect(try assets.verify().count == 1)
      try magic.database.executeChange("DELETE FROM magicdata_asset")
    }
    try assets.removeDeletedFiles()
    #expect(try folder.names() == ["store"])
    let files = "\(assets.path)/files"
    // A store creates its folder when it writes its first content.
    guard FileManager.default.fileExists(atPath: files) else { return }
    #expect(try FileManager.default.contentsOfDirectory(atPath: files) == [])
  }

  @Test func `a database with any text as its file name is stored under that name`() throws {
    let folder = try TestFolder.inMemory()
    for text in Self.texts where !text.contains("/") && text != ".." && text != "." && text != "~" {
      let inner = folder.file("inner")
      try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
      let database = try Database(path: "\(inner)/\(text)")
      try database.executeChange("CREATE TABLE t (a)")
      try database.close()
      let names = try FileManager.default.contentsOfDirectory(atPath: inner)
      #expect(names.count == 1 && isSame(names.first, text), "\(text.debugDescription)")
      let copy = "\(inner)/copy \(text)"
      try Database(path: "\(inner)/\(text)").vacuum(into: copy)
      #expect(FileManager.default.fileExists(atPath: copy))
      try FileManager.default.removeItem(atPath: inner)
    }
  }
}
