import SQLiteAssets
import SQLiteCore
import Testing

/// Tests files that can't be removed yet because a reader still needs them.
@Suite struct AssetStoreHeldBackTests {
  struct Stop: Error {}

  let fixture: StoreFixture
  var store: AssetStore { fixture.store }
  var database: Database { fixture.database }

  init() throws {
    fixture = try StoreFixture()
    try database.executeChange("CREATE TABLE note (text TEXT)")
  }

  /// Waits until the writes before this call have finished.
  private func waitForWrites() throws {
    try database.withoutTransaction { _ in }
  }

  /// Reads the assets and runs `body` on another thread before the read ends.
  private func whileReading(
    _ database: Database, _ body: @escaping @Sendable () throws -> Void
  ) throws {
    try database.read { connection in
      _ = try connection.executeQuery("SELECT * FROM magicdata_asset")
      try onAnotherThread(body)
    }
  }

  @Test func `a file is removed when this database's last older read ends`() throws {
    let (deleted, replaced) = (try store.put([1]), try store.put([2]))
    try whileReading(database) { [store, database] in
      try whileReading(database) {
        try store.delete(deleted.id)
        try store.replace(replaced.id, with: [3])
        try database.executeChange("INSERT INTO note VALUES ('x')")
        #expect(fixture.files.count == 3)
      }
      try waitForWrites()
      #expect(fixture.files.count == 3)
    }
    try waitForWrites()
    #expect(fixture.files.count == 1)
    #expect(try fixture.marks() == 0)
    #expect(try store.bytes(of: replaced.id) == [3])
  }

  @Test func `after another database's read ends, the next commit removes the file`() throws {
    let record = try store.put([1])
    try whileReading(fixture.plain()) { [store, database] in
      try store.delete(record.id)
      try database.executeChange("INSERT INTO note VALUES ('x')")
      #expect(fixture.files == [record.name])
    }
    #expect(fixture.files == [record.name])
    #expect(throws: Stop.self) {
      try database.write { connection in
        try connection.executeChange("INSERT INTO note VALUES ('y')")
        throw Stop()
      }
    }
    #expect(fixture.files == [record.name])
    try database.executeChange("INSERT INTO note VALUES ('z')")
    #expect(fixture.files == [])
  }

  @Test func `rollbacks and accesses that throw don't cancel the removal`() throws {
    let record = try store.put([1])
    try whileReading(fixture.plain()) { [store, database] in
      try store.delete(record.id)
      for _ in 0..<3 {
        #expect(throws: Stop.self) { try database.withoutTransaction { _ in throw Stop() } }
        #expect(throws: Stop.self) { try database.write { _ in throw Stop() } }
        #expect(throws: Stop.self) {
          try database.withoutTransaction { connection in
            try connection.executeChange("BEGIN")
            try connection.executeChange("INSERT INTO note VALUES ('x')")
            try connection.executeChange("ROLLBACK")
            throw Stop()
          }
        }
      }
      #expect(fixture.files == [record.name])
    }
    try database.executeChange("INSERT INTO note VALUES ('x')")
    #expect(fixture.files == [])
  }

  @Test func `a reopened connection still removes the file later`() throws {
    let record = try store.put([1])
    try whileReading(fixture.plain()) { [store, database] in
      try store.delete(record.id)
      try database.suspend()
      database.resume()
    }
    try database.executeChange("INSERT INTO note VALUES ('x')")
    #expect(fixture.files == [])
  }

  @Test func `a store closed during a read leaves the removal to the next opening`() throws {
    let record = try store.put([1])
    try whileReading(fixture.plain()) { [fixture] in
      let another = try fixture.another()
      try whileReading(another.database) { try another.delete(record.id) }
    }
    #expect(fixture.files == [record.name])
    _ = try fixture.another()
    #expect(fixture.files == [])
  }
}
