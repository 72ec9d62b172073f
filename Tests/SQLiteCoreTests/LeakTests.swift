import SQLiteCore
import Testing

/// Tests that connections and statements throw when they are used after their access, and never
/// touch freed memory.
@Suite struct LeakTests {
  private final class LeakedObjects {
    var connection: Connection?
    var statement: StatementBox?
  }

  /// Holds a statement beyond its scope.
  private final class StatementBox {
    var statement: Statement
    init(_ statement: consuming Statement) { self.statement = statement }
  }

  @Test(arguments: Kind.allCases)
  func `a connection used after its access throws`(kind: Kind) throws {
    let fixture = try Fixture(kind)
    let leaked = LeakedObjects()
    try fixture.database.write { connection in
      try connection.executeChange("CREATE TABLE t (a)")
      leaked.connection = connection
    }
    for _ in 0..<2 {
      let connection = try #require(leaked.connection)
      #expect(sqliteError { _ = try connection.executeQuery("SELECT 1") }?.code == .misuse)
      #expect(sqliteError { _ = try connection.statement("SELECT 1") }?.code == .misuse)
      #expect(sqliteError { try connection.transaction {} }?.code == .misuse)
      #expect(sqliteError { try connection.savepoint {} }?.code == .misuse)
      #expect(sqliteError { try connection.executeMultipleChanges("SELECT 1") }?.code == .misuse)
      #expect(connection.isAutocommit)
      _ = connection.lastInsertedRowID
      _ = connection.numberOfRowsModified
      try fixture.database.close()
    }
  }

  @Test(arguments: Kind.allCases, ["SELECT ?1", "SELECT ?1 -- in the cache already"])
  func `a statement used after its access throws`(kind: Kind, text: String) throws {
    let fixture = try Fixture(kind)
    let leaked = LeakedObjects()
    try fixture.database.read { connection in
      _ = try connection.statement("SELECT ?1 -- in the cache already")
      var statement = try connection.statement(SQL(unchecked: text))
      try statement.bind("a", at: 1)
      _ = try statement.step()
      leaked.statement = StatementBox(statement)
    }
    let box = try #require(leaked.statement)
    for _ in 0..<2 {
      #expect(sqliteError { _ = try box.statement.step() }?.code == .misuse)
      #expect(sqliteError { try box.statement.bind(1, at: 1) }?.code == .misuse)
      #expect(sqliteError { try box.statement.run(1) }?.code == .misuse)
      #expect(sqliteError { _ = try box.statement.firstRow() }?.code == .misuse)
      try box.statement.reset()
      box.statement.clearBindings()
      let value = try box.statement.value(at: 0)
      #expect(value == .null)
      let (integer, blob) = (box.statement.integer(at: 0), box.statement.blob(at: 0))
      #expect(integer == 0)
      #expect(blob.isEmpty)
      let size = box.statement.withBytes(at: 0) { $0.byteCount }
      #expect(size == 0)
      let (count, names) = (box.statement.columnCount, box.statement.columnNames)
      #expect(count == 0)
      #expect(names == [])
      let expanded = box.statement.expandedSQL
      #expect(expanded == text)
      try fixture.database.close()
    }
    leaked.statement = nil
  }

  @Test func `all leaked statements with the same SQL are finalized`() throws {
    let fixture = try Fixture(.file)
    var boxes: [StatementBox] = []
    try fixture.database.read { connection in
      for _ in 0..<3 {
        var statement = try connection.statement("SELECT 1")
        _ = try statement.step()
        boxes.append(StatementBox(statement))
      }
    }
    for box in boxes { #expect(sqliteError { _ = try box.statement.step() }?.code == .misuse) }
    #expect(try fixture.database.rows("SELECT 1", as: Int.self).first == 1)
    boxes.removeFirst()
    #expect(try fixture.database.rows("SELECT 1", as: Int.self).first == 1)
    boxes.removeAll()
    #expect(try fixture.database.rows("SELECT 1", as: Int.self).first == 1)
  }

  @Test func `a leaked statement doesn't keep a write open`() throws {
    let fixture = try Fixture(.file)
    try fixture.database.executeChange("CREATE TABLE t (a)")
    var box: StatementBox?
    let error = sqliteError {
      try fixture.database.write { connection in
        var statement = try connection.statement("INSERT INTO t VALUES (1), (2) RETURNING a")
        _ = try statement.step()
        box = StatementBox(statement)
      }
    }
    // SQLite can't commit while a statement writes.
    #expect(error != nil)
    #expect(box != nil)
    #expect(try fixture.count() == 0)
    try fixture.database.executeChange("INSERT INTO t VALUES (3)")
    #expect(try fixture.count() == 1)
  }

  @Test func `a database can be released before its leaked connection and statement`() throws {
    let leaked = LeakedObjects()
    do {
      let database = try Database.memory()
      try database.read { connection in
        leaked.connection = connection
        leaked.statement = StatementBox(try connection.statement("SELECT 1"))
      }
    }
    #expect(sqliteError { _ = try leaked.connection?.executeQuery("SELECT 1") }?.code == .misuse)
    leaked.connection = nil
    let box = try #require(leaked.statement)
    #expect(sqliteError { _ = try box.statement.step() }?.code == .misuse)
    leaked.statement = nil
  }
}
