import Foundation
import MagicData
import SQLitePortable
import Testing
import TestSupport

/// Tests copies to and from files that are databases. Only SQLite may open those files, and the
/// files next to a database belong to it.
@Suite struct HoldCopyTests {
  struct Item: Codable, Hashable { var n: Int }

  let folder: TestFolder

  init() throws { folder = try TestFolder.inMemory() }

  private func url(_ name: String = "data.sqlite3") -> URL { URL(filePath: folder.file(name)) }

  private func items(_ range: Range<Int>) -> [Item] { range.map { Item(n: $0) } }

  /// Creates the files that a killed process leaves, with some items in the file and some in the
  /// WAL.
  private func leaveLog(_ name: String, items: Range<Int>, inLog: Range<Int>) throws {
    let live = try CodableStore(path: folder.file("live-\(name)"))
    try live.insert(items: self.items(items))
    try live.database.checkpoint(.truncate)
    try live.insert(items: self.items(inLog))
    for suffix in ["", "-wal", "-shm"] {
      try folder.write(folder.bytes(of: "live-\(name)\(suffix)"), to: name + suffix)
    }
    try live.database.close()
  }

  private func check(_ name: String, holds items: Range<Int>) throws {
    let store = try CodableStore(path: folder.file(name))
    #expect(try store.read() == self.items(items))
    #expect(try store.database.rows("PRAGMA integrity_check", as: String.self).first == "ok")
    try store.database.close()
  }

  @Test func `a store is loaded from an open file, including its WAL`() throws {
    let live = try CodableStore(path: folder.file())
    try live.insert(items: items(0..<100))
    try live.database.checkpoint(.truncate)
    try live.insert(items: items(100..<150))
    let copy = try CodableStore()
    try copy.load(from: url())
    #expect(try copy.read() == items(0..<150))
    // The other process respects the locks and keeps the WAL.
    #expect(try Helper.run("look", folder.file()).status == 0)
    #expect(folder.contains("data.sqlite3-wal"))
    try live.insert(items: items(150..<160))
    for suffix in ["", "-wal"] {
      try folder.write(folder.bytes(of: "data.sqlite3\(suffix)"), to: "killed.sqlite3\(suffix)")
    }
    try check("killed.sqlite3", holds: 0..<160)
  }

  @Test func `a store can be saved over the files of a killed process`() throws {
    let memory = try CodableStore()
    try memory.insert(items: items(500..<900))
    try leaveLog("a.sqlite3", items: 0..<300, inLog: 0..<5)
    try memory.save(to: url("a.sqlite3"))
    try check("a.sqlite3", holds: 500..<900)
    try leaveLog("b.sqlite3", items: 0..<3, inLog: 0..<500)
    try memory.save(to: url("b.sqlite3"))
    try check("b.sqlite3", holds: 500..<900)
  }

  @Test func `asynchronous saves and loads use SQLite, too`() async throws {
    let memory = try CodableStore()
    try await memory.insert(items: items(500..<900))
    try leaveLog("a.sqlite3", items: 0..<3, inLog: 0..<500)
    try await memory.save(to: url("a.sqlite3"))
    try check("a.sqlite3", holds: 500..<900)
    try leaveLog("b.sqlite3", items: 0..<3, inLog: 3..<9)
    try await memory.load(from: url("b.sqlite3"))
    #expect(try await memory.read() == items(0..<9))
  }

  @Test func `a store can be loaded from the files of a killed process`() throws {
    try leaveLog("a.sqlite3", items: 0..<30, inLog: 30..<50)
    let memory = try CodableStore(fileURL: url("a.sqlite3"))
    #expect(try memory.read() == items(0..<50))
  }

  @Test func `an open store sees what is saved into its file`() throws {
    let live = try CodableStore(path: folder.file())
    try live.insert(items: items(0..<10))
    let memory = try CodableStore()
    try memory.insert(items: items(10..<15))
    try memory.save(to: url())
    #expect(try live.read() == items(10..<15))
    try live.insert(items: items(15..<20))
    try live.database.close()
    try check("data.sqlite3", holds: 10..<20)
  }

  @Test func `a database with another page size can be overwritten`() throws {
    let old = try Database(path: folder.file())
    try old.withoutTransaction { connection in
      try connection.executeChange("PRAGMA journal_mode = DELETE")
      try connection.executeChange("PRAGMA page_size = 1024")
      try connection.executeChange("VACUUM")
      try connection.executeChange("PRAGMA journal_mode = WAL")
    }
    let memory = try CodableStore()
    try memory.insert(items: items(0..<100))
    try memory.save(to: url())
    #expect(try old.rows("SELECT count(*) FROM \"items Item\"", as: Int.self).first == 100)
  }

  @Test func `saving a store into its own file or over a foreign file throws`() throws {
    let live = try CodableStore(path: folder.file())
    try live.insert(items: items(0..<10))
    #expect(throws: SQLiteError.self) { try live.save(to: url()) }
    #expect(try live.read() == items(0..<10))
    try folder.write(Array("a letter to my aunt".utf8), to: "letter")
    #expect(throws: SQLiteError.self) { try live.save(to: url("letter")) }
    #expect(try folder.bytes(of: "letter") == Array("a letter to my aunt".utf8))
  }

  @Test func `a failed save to a new path leaves no file`() throws {
    let store = try CodableStore()
    try store.insert(items: items(0..<10))
    try store.database.close()
    #expect(throws: SQLiteError.self) { try store.save(to: url("new")) }
    #expect(try folder.names() == [])
  }

  @Test(arguments: [DataFile.spon(path: ""), .json(path: "")])
  func `a text dump doesn't overwrite a database that is in use`(kind: DataFile) throws {
    func file(_ name: String) -> DataFile {
      if case .spon = kind {
        .spon(path: folder.file(name))
      } else {
        .json(path: folder.file(name))
      }
    }
    let live = try CodableStore(path: folder.file())
    try live.insert(items: items(0..<10))
    #expect(throws: SQLiteError.self) { try live.database.dump(to: file("data.sqlite3")) }
    #expect(throws: SQLiteError.self) { try live.database.dump(to: file("data.sqlite3-shm")) }
    try leaveLog("a.sqlite3", items: 0..<3, inLog: 3..<5)
    #expect(throws: SQLiteError.self) { try live.database.dump(to: file("a.sqlite3")) }
    try check("a.sqlite3", holds: 0..<5)
    try live.database.close()
    // The database is closed and has no WAL.
    let memory = try Database.memory()
    try memory.dump(to: file("data.sqlite3"))
    #expect(throws: SQLiteError.self) { try Database(path: folder.file()) }
  }

  @Test func `reading an open database as text or as an asset throws`() throws {
    let live = try CodableStore(path: folder.file())
    try live.insert(items: items(0..<10))
    let memory = try Database.memory()
    let magic = try MagicData(type: .memory)
    for suffix in ["", "-wal", "-shm"] {
      let path = folder.file() + suffix
      #expect(throws: SQLiteError.self) { try memory.restore(from: .spon(path: path)) }
      #expect(throws: SQLiteError.self) {
        try DataFile.json(path: path).copy(to: .spon(path: folder.file("copy")))
      }
      #expect(throws: AssetError.self) { try magic.assets.put(contentsOf: path) }
    }
    _ = try Helper.run("look", folder.file())
    #expect(folder.contains("data.sqlite3-wal"))
  }

  @Test func `a database can be copied over the files of a killed process`() throws {
    try leaveLog("a.sqlite3", items: 0..<300, inLog: 0..<5)
    try leaveLog("b.sqlite3", items: 0..<10, inLog: 10..<40)
    try DataFile.sqlite(path: folder.file("b.sqlite3")).copy(
      to: .sqlite(path: folder.file("a.sqlite3")))
    try check("a.sqlite3", holds: 0..<40)
    try DataFile.sqlite(path: folder.file("b.sqlite3")).copy(to: .spon(path: folder.file("c.spon")))
    try leaveLog("d.sqlite3", items: 0..<300, inLog: 0..<5)
    try DataFile.spon(path: folder.file("c.spon")).copy(to: .sqlite(path: folder.file("d.sqlite3")))
    try check("d.sqlite3", holds: 0..<40)
  }

  @Test func `a copy isn't placed next to the journals of a deleted file`() throws {
    try leaveLog("a.sqlite3", items: 0..<300, inLog: 0..<5)
    try FileManager.default.removeItem(atPath: folder.file("a.sqlite3"))
    let store = try CodableStore()
    try store.insert(items: items(7..<9))
    let path = folder.file("a.sqlite3")
    #expect(throws: SQLiteError.self) { try store.database.vacuum(into: path) }
    #expect(throws: SQLiteError.self) { try store.database.dump(to: .spon(path: path)) }
    #expect(folder.contains("a.sqlite3-wal"))
    #expect(!folder.contains("a.sqlite3"))
    // SQLite itself can write the file safely.
    try store.save(to: url("a.sqlite3"))
    try check("a.sqlite3", holds: 7..<9)
  }
}
