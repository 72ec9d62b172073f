import SQLiteAssets
import SQLiteCore
import Testing
import TestSupport

/// Deletions are noticed by whatever SQL they are made.
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

  @Test func `BEGIN and COMMIT in SQL do, and ROLLBACK does not`() throws {
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

  @Test func `a rolled back deletion removes nothing, and the next one is noticed`() throws {
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

  @Test func `an asynchronous write notices them too`() async throws {
    try await store.put([1])
    try await database.write { connection in
      _ = try connection.executeChange("DELETE FROM magicdata_asset")
    }
    #expect(fixture.files == [])
  }

  @Test func `a connection that was opened anew notices them too`() throws {
    try store.put([1])
    try database.suspend()
    database.resume()
    try database.executeChange("DELETE FROM magicdata_asset")
    #expect(fixture.files == [])
  }

  @Test func `a database in memory notices them too`() throws {
    let database = try Database.memory()
    let store = try AssetStore(database, folder: "\(fixture.temporary.path)/memory")
    try store.put([1])
    try database.executeChange("DELETE FROM magicdata_asset")
    #expect(fixture.temporary.files(in: "memory/files") == [])
  }

  @Test func `two stores on one database do not disturb each other`() throws {
    try store.put([1])
    do {
      let other = try AssetStore(database, folder: store.path)
      try other.put([2])
    }
    try database.executeChange("DELETE FROM magicdata_asset")
    #expect(fixture.files == [])
  }

  @Test func `a transaction that lets no asset go calls the file system not once`() throws {
    try database.executeChange("CREATE TABLE note (text TEXT)")
    fixture.operations.follow(.init())
    for number in 0..<10 { try database.executeChange("INSERT INTO note VALUES (\(number))") }
    try database.executeChange("DELETE FROM note")
    #expect(fixture.operations.log == [])
  }

  @Test func `nothing of it is in the file`() throws {
    let schema = try fixture.plain().rows("SELECT name FROM sqlite_master", as: String.self)
    #expect(schema.allSatisfy { !$0.contains("marked") })
  }
}
