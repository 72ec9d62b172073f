import Conformance
import Foundation
import MagicData
import Testing
import TestSupport

private struct Note: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var text: String
  init() { text = "" }
}

@Suite(.everyEngine, .requires(.files)) struct OlderStoreTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private var file: String { folder.path + "/default.sqlite3" }

  /// Creates a store as the older MagicData did for a type `Note`.
  private func makeOlderStore(_ mode: Database.Options.JournalMode = .delete) throws {
    try FileManager.default.createDirectory(
      atPath: folder.path, withIntermediateDirectories: true)
    var options = Database.Options()
    options.journalMode = mode
    let database = try Database.at(file, options: options)
    try database.executeMultipleChanges(
      """
      CREATE TABLE "0Table_Info" (
        table_name TEXT PRIMARY KEY NOT NULL, version INTEGER NOT NULL,
        z_index_count INTEGER NOT NULL, structure BLOB, updating INTEGER NOT NULL);
      CREATE TABLE "Note" ("_id" TEXT PRIMARY KEY, "_text" TEXT, z_index INTEGER UNIQUE);
      INSERT INTO "0Table_Info" VALUES ('Note', 0, 1, NULL, 0);
      INSERT INTO "Note" VALUES ('a', 'old', 0);
      """)
    try database.close()
  }

  @Test func `opening a store of the older MagicData throws and changes nothing`() async throws {
    try makeOlderStore()
    let before = try Data(contentsOf: URL(filePath: file))
    for path in [folder.path, file] {
      let opening = { try MagicData.at(path) }
      let error = #expect(throws: MagicError.self) { try opening() }
      guard case .olderStore(let place, ["Note"])? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(place.hasSuffix("/default.sqlite3"))
      #expect(error?.description.contains("older MagicData") == true)
      await #expect(throws: MagicError.self) { try await MagicData.at(path) }
    }
    #expect(try Data(contentsOf: URL(filePath: file)) == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["default.sqlite3"])
  }

  @Test func `another database with a table of the same name can be opened`() throws {
    try makeOlderStore()
    let database = try Database.at(file)
    try database.executeMultipleChanges(
      """
      DROP TABLE "0Table_Info"; CREATE TABLE "0Table_Info" (structure);
      DROP TABLE Note
      """)
    try database.close()
    let magic = try MagicData.at(file)
    let note = Note()
    note.id = "a"
    try magic.insert(note)
    #expect(try magic.object(of: Note.self).count == 1)
  }

  @Test func `objects of an older store can be read by SQL and saved in a new store`() throws {
    try makeOlderStore()
    var options = Database.Options()
    options.mode = .readOnly
    let older = try Database.at(file, options: options)
    let magic = try MagicData.fresh()
    for (id, text) in try older.rows(
      "SELECT _id, _text FROM Note ORDER BY z_index", as: String.self, String.self)
    {
      let note = Note()
      note.id = id
      note.text = text
      try magic.insert(note)
    }
    #expect(try magic.object(of: Note.self, primary: "a").text == "old")
  }
}
