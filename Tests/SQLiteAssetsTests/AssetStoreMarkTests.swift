import SQLiteAssets
import SQLiteCore
import Testing
import TestSupport

/// Tests that a deletion is detected for every kind of SQL that causes it.
@Suite struct AssetStoreMarkTests {
  struct Stop: Error {}

  let fixture: StoreFixture
  var store: AssetStore { fixture.store }
  var database: Database { fixture.database }

  init() throws { fixture = try StoreFixture() }

  @Test func `a transaction removes files after its commit, not before`() throws {
    let record = try store.put([1])
    try database.write { connection in
      try connection.executeChange("DELETE FROM magicdata_asset")
      #expect(fixture.files == [record.name])
    }
    #expect(fixture.files == [])
  }

  @Test func `files are removed after a COMMIT in SQL, but not after a ROLLBACK`() throws {
    let record = try store.put([1])
    try database.withoutTransaction { connection in
      for sql in ["BEGIN", "DELETE FROM magicdata_asset", "ROLLBACK"] as [SQL] {
        try connection.executeChange(sql)
      }
    }
    #expect(fixture.files == [record.name])
    try database.withoutTransaction { connection in
      for sql in ["BEGIN", "DELETE FROM magicdata_asset", "COMMIT"] as [SQL] {
        try connection.executeChange(sql)
      }
    }
    #expect(fixture.files == [])
  }

  @Test func `a deletion that is rolled back removes no file, but the next deletion does`() throws {
    let record = try store.put([1])
    #expect(throws: Stop.self) {
      try database.write { connection in
        try connection.executeChange("DELETE FROM magicdata_asset")
        throw Stop()
      }
    }
    _ = try database.write { connection in
      try connection.savepoint {
        try connection.executeChange("DELETE FROM magicdata_asset")
        return TransactionOutcome.rollback
      }
    }
    #expect(try store.bytes(of: record.id) == [1])
    try database.executeChange("DELETE FROM magicdata_asset")
    #expect(fixture.files == [])
  }

  @Test func `a deletion in an asynchronous write is detected`() async throws {
    try await store.put([1])
    try await database.write { connection in
      _ = try connection.executeChange("DELETE FROM magicdata_asset")
    }
    #expect(fixture.files == [])
  }

  @Test func `a deletion is detected after the connection was reopened`() throws {
    try store.put([1])
    try database.suspend()
    database.resume()
    try database.executeChange("DELETE FROM magicdata_asset")
    #expect(fixture.files == [])
  }

  @Test func `a deletion in an in-memory database is detected`() throws {
    let database = try Database.memory()
    let store = try AssetStore(database, folder: "\(fixture.temporary.path)/memory")
    try store.put([1])
    try database.executeChange("DELETE FROM magicdata_asset")
    #expect(fixture.temporary.files(in: "memory/files") == [])
  }

  @Test func `two stores can share a database, and one can close first`() throws {
    try store.put([1])
    do {
      let other = try AssetStore(database, folder: store.path)
      try other.put([2])
    }
    try database.executeChange("DELETE FROM magicdata_asset")
    #expect(fixture.files == [])
  }

  @Test func `a transaction that deletes no asset makes no file system calls`() throws {
    try database.executeChange("CREATE TABLE note (text TEXT)")
    fixture.operations.follow(.init())
    for number in 0..<10 { try database.executeChange("INSERT INTO note VALUES (\(number))") }
    try database.executeChange("DELETE FROM note")
    #expect(fixture.operations.log == [])
  }

  @Test func `the objects that detect deletions aren't stored in the database file`() throws {
    let schema = try fixture.plain().rows("SELECT name FROM sqlite_master", as: String.self)
    #expect(schema.allSatisfy { !$0.contains("marked") })
  }
}
