import SQLiteCore
import Testing

/// What was kept from an access after it ended must throw, and never touch freed memory.
@Suite struct LeakTests {
  private final class Keeper {
    var connection: Connection?
    var statement: StatementBox?
  }

  /// A class can hold a statement beyond its scope.
  private final class StatementBox {
    var statement: Statement
    init(_ statement: consuming Statement) { self.statement = statement }
  }

  @Test(arguments: Kind.allCases)
  func `a connection used after its access throws`(kind: Kind) throws {
    let fixture = try Fixture(kind)
    let keeper = Keeper()
    try fixture.database.write { connection in
      try connection.executeChange("CREATE TABLE t (a)")
      keeper.connection = connection
    }
    for _ in 0..<2 {
      let connection = try #require(keeper.connection)
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
    let keeper = Keeper()
    try fixture.database.read { connection in
      _ = try connection.statement("SELECT ?1 -- in the cache already")
      var statement = try connection.statement(SQL(unchecked: text))
      try statement.bind("a", at: 1)
      _ = try statement.step()
      keeper.statement = StatementBox(statement)
    }
    let box = try #require(keeper.statement)
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
    keeper.statement = nil
  }

  @Test func `a second live user that leaks is finalized too`() throws {
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

  @Test func `a leaked statement does not hold a write open`() throws {
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
    // SQLite refuses to commit while a statement writes.
    #expect(error != nil)
    #expect(box != nil)
    #expect(try fixture.count() == 0)
    try fixture.database.executeChange("INSERT INTO t VALUES (3)")
    #expect(try fixture.count() == 1)
  }

  @Test func `the database may go before what leaked from it`() throws {
    let keeper = Keeper()
    do {
      let database = try Database.memory()
      try database.read { connection in
        keeper.connection = connection
        keeper.statement = StatementBox(try connection.statement("SELECT 1"))
      }
    }
    #expect(sqliteError { _ = try keeper.connection?.executeQuery("SELECT 1") }?.code == .misuse)
    keeper.connection = nil
    let box = try #require(keeper.statement)
    #expect(sqliteError { _ = try box.statement.step() }?.code == .misuse)
    keeper.statement = nil
  }
}
