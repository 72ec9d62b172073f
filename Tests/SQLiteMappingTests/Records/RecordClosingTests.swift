import Conformance
import Foundation
import SQLiteCore
import SQLiteMapping
import Testing
import TestSupport

/// Tests that row encoders and decoders don't keep a connection open. The last connection that
/// closes removes the WAL file, so a remaining WAL file shows an open connection.
@Suite(.everyEngine) struct RecordClosingTests {
  struct Note: Record {
    var id: String
    var place: Place?
    var text: String

    struct Place: Codable {
      var x: Int
    }
  }

  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func filesAfterClosing(_ body: (Database) throws -> Void) throws -> [String] {
    try folder.open(body)
    return try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
  }

  @Test(.requires(.files)) func `no connection stays open after records were saved`() throws {
    let files = try filesAfterClosing { database in
      try database.write { try $0.update(Note(id: "a", text: "b")) }
      try database.write { try $0.insert(contentsOf: [Note(id: "c", text: "d")]) }
    }
    #expect(files == ["test.sqlite3"])
  }

  @Test(.requires(.files)) func `no connection stays open after records were fetched`() throws {
    try folder.open { try $0.write { try $0.update(Note(id: "a", place: .init(x: 1), text: "b")) } }
    let files = try filesAfterClosing { database in
      #expect(try database.read { try $0.objects(of: Note.self) }.count == 1)
      let note = try database.read { try $0.object(of: Note.self, ifPresent: "a") }
      #expect(note?.text == "b")
      try database.read { connection in
        try connection.forEach(Note.all) { _ in
          // The inner query takes the cached decoder of the type from the outer query.
          try connection.forEach(Note.where("text = 'b'")) { _ in }
        }
      }
    }
    #expect(files == ["test.sqlite3"])
  }

  @Test(.requires(.files)) func `no connection stays open after queries were decoded`() throws {
    let files = try filesAfterClosing { database in
      let sql: SQL = "SELECT 'a' AS id, 'b' AS text, 1 AS \"place.x\""
      #expect(try database.read { try $0.fetch(.sql(sql, as: Note.self)) }.count == 1)
      try database.read { connection in
        let note = try connection.fetch(RecordQuery.sql(sql, as: Note.self).first)
        #expect(note?.text == "b")
        try connection.forEach(.sql(sql, as: Note.self)) { #expect($0.id == "a") }
      }
    }
    #expect(files == ["test.sqlite3"])
  }
}
