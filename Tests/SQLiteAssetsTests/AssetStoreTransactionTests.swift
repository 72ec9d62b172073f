import SQLiteAssets
import SQLiteCore
import Testing

@Suite struct AssetStoreTransactionTests {
  struct Stop: Error {}

  let fixture: StoreFixture
  var store: AssetStore { fixture.store }
  var database: Database { fixture.database }

  init() throws { fixture = try StoreFixture() }

  @Test func `an asset can be read in the transaction that puts it`() throws {
    try database.write { connection in
      let record = try store.put([1], in: connection)
      #expect(try store.bytes(of: record.id, in: connection) == [1])
      #expect(fixture.files == [])
      #expect(fixture.pending == [record.name])
    }
    #expect(fixture.files.count == 1)
    #expect(fixture.pending == [])
  }

  @Test func `other stores don't see an asset before the commit`() throws {
    try database.write { connection in
      let record = try store.put([1], in: connection)
      let other = try fixture.another()
      #expect(try other.records() == [])
      #expect(throws: AssetError.noAsset(record.id)) { try other.bytes(of: record.id) }
      // Opening the other store hasn't removed the file as orphaned.
      #expect(fixture.pending == [record.name])
    }
    #expect(try store.records().count == 1)
  }

  @Test func `a rollback restores the previous assets and leaves no new file`() throws {
    let kept = try store.put([1])
    #expect(throws: Stop.self) {
      try database.write { connection in
        try store.put([2], in: connection)
        try store.replace(kept.id, with: [3], in: connection)
        try store.delete(kept.id, in: connection)
        throw Stop()
      }
    }
    #expect(try store.records() == [kept])
    #expect(try store.bytes(of: kept.id) == [1])
    #expect(fixture.files == [kept.name])
    #expect(fixture.pending == [])
  }

  @Test func `rolling back a savepoint removes only its own files`() throws {
    let deleted = try store.put([0])
    let (outer, last) = try database.write { connection in
      let outer = try store.put([1], in: connection)
      _ = try? connection.savepoint {
        try store.put([2], in: connection)
        try store.delete(outer.id, in: connection)
        try store.delete(deleted.id, in: connection)
        throw Stop()
      }
      #expect(fixture.pending == [outer.name])
      let last = try connection.savepoint { try store.put([3], in: connection) }
      try store.delete(deleted.id, in: connection)
      return (outer, last)
    }
    #expect(Set(try store.records()) == [outer, last])
    #expect(fixture.files == [outer.name, last.name].sorted())
    #expect(fixture.pending == [])
  }

  @Test func `an asset that is put and deleted in one transaction leaves no file`() throws {
    try database.write { connection in
      let record = try store.put([1], in: connection)
      try store.replace(record.id, with: [2], in: connection)
      try store.delete(record.id, in: connection)
    }
    #expect(fixture.files + fixture.pending == [])
    #expect(try fixture.marks() == 0)
  }

  @Test func `the file of a failed COMMIT is kept until the next commit`() throws {
    try database.executeMultipleChanges(
      """
      CREATE TABLE owner (id INTEGER PRIMARY KEY);
      CREATE TABLE item (owner INTEGER REFERENCES owner DEFERRABLE INITIALLY DEFERRED);
      """)
    #expect(throws: SQLiteError.self) {
      try database.write { connection in
        try store.put([1], in: connection)
        try connection.executeChange("INSERT INTO item VALUES (7)")
      }
    }
    #expect(try store.records() == [])
    #expect(fixture.pending.count == 1)
    let record = try store.put([2])
    #expect(fixture.pending == [])
    #expect(fixture.files == [record.name])
  }

  @Test(arguments: [("fsync", 0, 1), ("fsync", 1, 1), ("fsync", 3, 3), ("syncfs", 0, 20)])
  func `content is synced before the commit, and a failed sync prevents it`(
    call: String, failing: Int, count: Int
  ) throws {
    try store.put([0])
    fixture.operations.follow(.init(failing: failing, calls: [call]))
    #expect(throws: AssetError.self) {
      try database.write { connection in
        for _ in 0..<count { try store.put([1], in: connection) }
      }
    }
    #expect(try store.records().count == 1)
    #expect(fixture.pending == [])
  }

  @Test func `outside a transaction, each change opens its own`() throws {
    try database.withoutTransaction { connection in
      let record = try store.put([1], in: connection)
      #expect(fixture.files == [record.name])
      #expect(connection.isAutocommit)
      #expect(try store.delete(record.id, in: connection))
    }
    #expect(fixture.files == [])
  }

  @Test func `a put inside a transaction that SQL began throws`() throws {
    try database.withoutTransaction { connection in
      try connection.executeChange("BEGIN")
      #expect(throws: SQLiteError.self) { try store.put([1], in: connection) }
      #expect(throws: SQLiteError.self) {
        try connection.savepoint { try store.put([1], in: connection) }
      }
      try connection.executeChange("COMMIT")
    }
    #expect(fixture.files + fixture.pending == [])
  }

  @Test func `a put in a read throws and leaves no file`() throws {
    #expect(throws: SQLiteError.self) {
      try database.read { connection in try store.put([1], in: connection) }
    }
    #expect(fixture.files + fixture.pending == [])
  }

  @Test func `a transaction with a thousand small assets needs at most four syncs`() throws {
    fixture.operations.follow(.init())
    try database.write { connection in
      for number in 0..<1_000 { try store.put("\(number)".utf8, in: connection) }
    }
    let syncs = fixture.operations.log.filter { $0 == "fsync" || $0 == "syncfs" }
    #expect(syncs.count <= 4)
    #expect(syncs.contains("syncfs"))
    #expect(fixture.files.count == 1_000)
  }

  @Test func `a put syncs its file, its folder and the previous put's moves`() throws {
    // The first put also syncs the creation of the opener's folder.
    for _ in 0..<3 {
      fixture.operations.follow(.init())
      try store.put([1])
      #expect(fixture.operations.log.count { $0 == "fsync" } == 3)
    }
  }

  @Test func `staged content is synced once`() async throws {
    for _ in 0..<3 {
      fixture.operations.follow(.init())
      _ = try await store.put([1])
      #expect(fixture.operations.log.count { $0 == "fsync" } == 3)
    }
    fixture.operations.follow(.init())
    var contents: [StagedAsset] = []
    for number in 0..<20 { contents.append(try await store.stage("\(number)".utf8)) }
    #expect(fixture.operations.log.count { $0 == "fsync" } == 20)
    try await database.write { [store, contents] connection in
      for content in contents { try store.put(content, in: connection) }
    }
    // One sync for the folder and one for the previous put's moves.
    #expect(fixture.operations.log.count { $0 == "fsync" || $0 == "syncfs" } == 22)
  }

  @Test func `without syncfs, each file is synced individually`() throws {
    fixture.operations.follow(
      .init(failing: 0, isPersistent: true, number: 38, calls: ["syncfs"]))
    try database.write { connection in
      for number in 0..<50 { try store.put("\(number)".utf8, in: connection) }
    }
    #expect(fixture.operations.log.count { $0 == "fsync" } >= 51)
  }
}
