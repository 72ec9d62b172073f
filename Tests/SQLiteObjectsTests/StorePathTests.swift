import Conformance
import Foundation
import MagicData
import Synchronization
import TestSupport
import Testing

private struct Plain: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var text: String
  init() { text = "" }
  init(_ text: String) { self.text = text }
}

/// The files and connections that a store opens for its path.
@Suite(.everyEngine, .requires(.files)) struct StorePathTests {
  @Test func `an existing file is opened as the database, whatever its name`() throws {
    let folder = try TestFolder()
    let path = folder.file("people")
    try Database.at(path).executeChange("CREATE TABLE other (a)")
    let magic = try MagicData.at(path)
    try magic.update(Counted("a"))
    try magic.database.close()
    #expect(try MagicData.at(path).count(of: Counted.self) == 1)
    #expect(try Database.at(path).read { try $0.tableExists("other") })
  }

  @Test func `an existing store is opened and read by one connection without writes`() throws {
    let folder = try TestFolder()
    let path = folder.file("people.sqlite3")
    let first = try MagicData(path: path)
    try first.update(Plain("a"))
    try first.database.close()
    let before = try Data(contentsOf: URL(filePath: path))
    let opened = Mutex(0)
    var options = Database.Options()
    options.prepareConnection = { _ in opened.withLock { $0 += 1 } }
    let magic = try MagicData(path: path, options: options)
    #expect(try magic.count(of: Plain.self) == 1)
    #expect(try magic.object(of: Plain.self).count == 1)
    #expect(opened.withLock { $0 } == 1)
    // Without assets, no folder is created for them.
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!names.contains { $0.hasSuffix("assets") })
    try magic.database.close()
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
    let again = try MagicData(path: path, options: options)
    try again.update(Plain("b"))
    #expect(try again.count(of: Plain.self) == 2)
    #expect(opened.withLock { $0 } == 3)
  }

  @Test func `creating a store and an asset takes at most two connections`() throws {
    let folder = try TestFolder()
    let opened = Mutex(0)
    var options = Database.Options()
    options.prepareConnection = { _ in opened.withLock { $0 += 1 } }
    let magic = try MagicData(path: folder.path, options: options)
    let asset = try magic.assets.put([1, 2, 3])
    #expect(opened.withLock { $0 } <= 2)
    #expect(try magic.assets.bytes(of: asset.id) == [1, 2, 3])
    try magic.database.close()
    let again = try MagicData(path: folder.path)
    #expect(again.identity == magic.identity)
    #expect(try again.assets.bytes(of: asset.id) == [1, 2, 3])
  }

  @Test(arguments: [Database.Options.Mode.readOnly, .readWrite])
  func `a missing store isn't created without permission`(mode: Database.Options.Mode) throws {
    let folder = try TestFolder()
    let error = #expect(throws: SQLiteError.self) {
      try MagicData(path: folder.file("acme"), options: Database.Options(mode: mode))
    }
    #expect(error?.code == .cannotOpen)
    #expect(try folder.names() == [])
  }

  @Test func `a folder that can't be created throws the system's error`() throws {
    let error = try #require(throws: SQLiteError.self) { try MagicData.at("/dev/null/store") }
    #expect(error.code == .cannotOpen)
    #expect(error.message == "/dev/null/store: the folder cannot be created: Not a directory")
  }
}
