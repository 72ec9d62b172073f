import SQLiteAssets
import SQLiteCore
import Testing
import TestSupport

@Suite struct AssetStoreDeletionTests {
  let fixture: StoreFixture
  var store: AssetStore { fixture.store }
  var database: Database { fixture.database }

  init() throws { fixture = try StoreFixture() }

  @Test(arguments: [
    "DELETE FROM magicdata_asset",
    "UPDATE magicdata_asset SET file = 'x'",
    "REPLACE INTO magicdata_asset SELECT id, 'x', size, sha256, content FROM magicdata_asset",
  ])
  func `a file that SQL unlinks is deleted, or marked if the program has no store`(
    sql: String
  ) throws {
    try store.put([1])
    try database.executeChange(SQL(unchecked: sql))
    #expect(try fixture.marks() == 0)
    #expect(fixture.files == [])
    try database.executeChange("DELETE FROM magicdata_asset")
    try store.put([1])
    try fixture.plain().executeChange(SQL(unchecked: sql))
    #expect(try fixture.marks() == 1)
    #expect(fixture.files.count == 1)
    try store.removeDeletedFiles()
    #expect(try fixture.marks() == 0)
    #expect(fixture.files == [])
  }

  @Test(arguments: [true, false])
  func `a cascade deletes files immediately or at the next opening`(isAtOnce: Bool) throws {
    try database.executeMultipleChanges(
      """
      CREATE TABLE person (id INTEGER PRIMARY KEY, photo TEXT REFERENCES magicdata_asset);
      CREATE TRIGGER person_photo AFTER DELETE ON person
      BEGIN DELETE FROM magicdata_asset WHERE id = OLD.photo; END;
      """)
    let record = try store.put([1])
    try database.executeChange("INSERT INTO person (photo) VALUES (\(record.id))")
    try (isAtOnce ? database : fixture.plain()).executeChange("DELETE FROM person")
    #expect(try store.records() == [])
    #expect(fixture.files == (isAtOnce ? [] : [record.name]))
    _ = try fixture.another()
    #expect(fixture.files == [])
  }

  @Test func `a deletion that is rolled back removes no file`() throws {
    let record = try store.put([1])
    _ = try database.write { connection in
      try store.delete(record.id, in: connection)
      return TransactionOutcome.rollback
    }
    try store.removeDeletedFiles()
    #expect(try store.bytes(of: record.id) == [1])
  }

  @Test(arguments: [true, false])
  func `files that a reader still sees are kept for this or another process`(isOther: Bool) throws {
    let (replaced, deleted) = (try store.put([1]), try store.put([2]))
    let reading = isOther ? try fixture.another() : store
    try reading.database.read { connection in
      #expect(try reading.records(in: connection).count == 2)
      // Uses another thread because an access inside this closure would reuse its connection.
      try onAnotherThread {
        try store.replace(replaced.id, with: [3])
        try store.delete(deleted.id)
        try store.removeDeletedFiles()
        _ = try store.sweep()
      }
      #expect(fixture.files.count == 3)
      #expect(try reading.bytes(of: replaced.id, in: connection) == [1])
      #expect(try reading.bytes(of: deleted.id, in: connection) == [2])
    }
    try store.removeDeletedFiles()
    #expect(fixture.files.count == 1)
    #expect(try store.bytes(of: replaced.id) == [3])
  }

  @Test func `a reader of the newest snapshot doesn't delay the removal`() throws {
    let record = try store.put([1])
    try fixture.plain().executeChange("DELETE FROM magicdata_asset")
    #expect(fixture.files == [record.name])
    try fixture.plain().read { connection in
      #expect(try connection.executeQuery("SELECT * FROM magicdata_asset").isEmpty)
      try onAnotherThread { try store.removeDeletedFiles() }
      #expect(fixture.files == [])
    }
    #expect(try store.record(record.id) == nil)
  }

  @Test func `a marked file that a row references again is kept`() throws {
    let record = try store.put([1])
    let plain = try fixture.plain()
    try plain.executeChange("UPDATE magicdata_asset SET file = 'x'")
    try plain.executeChange("UPDATE magicdata_asset SET file = \(record.name)")
    #expect(try fixture.marks() == 2)
    try store.removeDeletedFiles()
    #expect(try fixture.marks() == 0)
    #expect(try store.bytes(of: record.id) == [1])
  }

  @Test func `all marks are processed, even more than one batch holds`() throws {
    try database.write { connection in
      for _ in 0..<1_200 { try store.put([1], in: connection) }
    }
    try database.write { connection in
      for record in try store.records(in: connection) {
        try store.delete(record.id, in: connection)
      }
    }
    #expect(fixture.files == [])
    #expect(try fixture.marks() == 0)
  }

  @Test func `a failed removal is retried`() throws {
    let record = try store.put([1])
    fixture.operations.follow(.init(failing: 0, isPersistent: true, calls: ["unlinkat"]))
    #expect(try store.delete(record.id))
    #expect(fixture.files == [record.name])
    #expect(throws: AssetError.self) { try store.removeDeletedFiles() }
    fixture.operations.follow(.init())
    try store.removeDeletedFiles()
    #expect(fixture.files == [])
  }

  @Test func `a mark is kept if syncing the removal fails`() throws {
    try store.put([1])
    try fixture.plain().executeChange("DELETE FROM magicdata_asset")
    fixture.operations.follow(.init(failing: 0, calls: ["fsync"]))
    #expect(throws: AssetError.self) { try store.removeDeletedFiles() }
    #expect(try fixture.marks() == 1)
    try store.removeDeletedFiles()
    #expect(try fixture.marks() == 0)
  }

  @Test func `removing files inside a transaction throws and changes nothing`() throws {
    try database.write { connection in
      try store.put([1], in: connection)
      let error = #expect(throws: SQLiteError.self) { try store.removeDeletedFiles() }
      #expect(error?.code == .misuse)
    }
    #expect(try store.records().count == 1)
  }

  @Test func `deletion works with a rollback journal like with a WAL`() throws {
    var options = Database.Options()
    options.journalMode = .delete
    let database = try Database(
      path: "\(fixture.temporary.path)/rollback.sqlite3", options: options)
    let store = try AssetStore(database, folder: "\(fixture.temporary.path)/rollback")
    let record = try store.put([1])
    try store.replace(record.id, with: [2])
    #expect(fixture.temporary.files(in: "rollback/files").count == 1)
    #expect(try store.bytes(of: record.id) == [2])
  }
}
