import CSQLite
import MagicData

/// A case that updates an integer column of rows with a text column that has, or doesn't have, a
/// full-text index. Both variants must cost the same.
struct UpdateNumber<Index: MemoIndex>: Case {
  var name: String { Index.isUsed ? "update-searched" : "update-number" }
  var summary: String {
    "update an integer column of a quarter of the rows, in one transaction"
      + (Index.isUsed ? "; another column has a full-text index" : "")
  }

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: turn(
        openC, from: .script(MemoTable.create + (Index.isUsed ? MemoTable.createIndex : "")),
        preparing: { connection, fixture in
          try connection.insertMemos(fixture.items)
          return fixture.changes
        }, { try $0.updateMemos($1) }, checking: { try $1.storedMemos() }),
      .record: turn(
        openDatabase, from: .script(""),
        preparing: { database, fixture in
          try database.write { _ = try $0.insert(contentsOf: fixture.items.map(Memo<Index>.init)) }
          return MemoTable.changes(of: fixture)
        },
        { database, changes in
          _ = try database.write { connection in
            try connection.updateExisting(contentsOf: changes.map(Memo<Index>.init))
          }
        }, checking: { try $1.storedMemos() }),
      .object: turn(
        openStore, from: .script(""),
        preparing: { magic, fixture in
          let objects = fixture.items.map(MemoObject<Index>.init)
          _ = try magic.insert(objects)
          return fixture.changes.map { item in
            let object = objects[Int(item.id) - 1]
            object.size = item.quantity
            return object
          }
        }, { _ = try $0.update($1) }, checking: { try $1.storedMemos() }),
    ]
  }

  func operations(on fixture: Fixture) -> Int { fixture.changes.count }
}

/// A type that determines whether the text column has a full-text index.
protocol MemoIndex: Sendable {
  static var isUsed: Bool { get }
}

enum Unsearched: MemoIndex {
  static var isUsed: Bool { false }
}

enum Searched: MemoIndex {
  static var isUsed: Bool { true }
}

private struct Memo<Index: MemoIndex>: Record {
  static var tableName: String { "memo" }
  static var traits: [PropertyTrait] { Index.isUsed ? [.searched("title")] : [] }

  var id: Int64
  var title: String
  var size: Int64

  init(_ item: Item) {
    id = item.id
    title = item.name
    size = item.quantity
  }
}

private struct MemoObject<Index: MemoIndex>: MagicObject {
  static var tableName: String { "memo" }
  static var traits: [PropertyTrait] { Index.isUsed ? [.searched(\Self.$title)] : [] }

  @PrimaryMagicValue var id: Int
  @MagicValue var title: String
  @MagicValue var size: Int64

  init() {}

  init(_ item: Item) {
    id = Int(item.id)
    title = item.name
    size = item.quantity
  }
}

private enum MemoTable {
  static let create =
    "CREATE TABLE memo (id INTEGER PRIMARY KEY, title TEXT NOT NULL, size INTEGER NOT NULL);"
  /// The index and the triggers of SQLite's documentation. The update trigger is restricted to the
  /// indexed columns.
  static let createIndex = """
    CREATE VIRTUAL TABLE memo_search USING fts5(title, content = memo, content_rowid = id);
    CREATE TRIGGER memo_insert AFTER INSERT ON memo BEGIN
      INSERT INTO memo_search (rowid, title) VALUES (new.id, new.title);
    END;
    CREATE TRIGGER memo_update AFTER UPDATE OF id, title ON memo BEGIN
      INSERT INTO memo_search (memo_search, rowid, title) VALUES ('delete', old.id, old.title);
      INSERT INTO memo_search (rowid, title) VALUES (new.id, new.title);
    END;
    """

  /// Returns the changed items with their current texts.
  static func changes(of fixture: Fixture) -> [Item] {
    fixture.changes.map { change in
      var item = fixture.items[Int(change.id) - 1]
      item.quantity = change.quantity
      return item
    }
  }
}

extension CConnection {
  fileprivate func insertMemos(_ items: [Item]) throws {
    try execute("BEGIN IMMEDIATE")
    let statement = try CStatement("INSERT INTO memo VALUES (?, ?, ?)", self)
    for item in items {
      try statement.bind(item.id, at: 1)
      try statement.bind(item.name, at: 2)
      try statement.bind(item.quantity, at: 3)
      try statement.run()
    }
    try execute("COMMIT")
  }

  fileprivate func updateMemos(_ items: [Item]) throws {
    try execute("BEGIN IMMEDIATE")
    let statement = try CStatement("UPDATE memo SET size = ? WHERE id = ?", self)
    for item in items {
      try statement.bind(item.quantity, at: 1)
      try statement.bind(item.id, at: 2)
      try statement.run()
    }
    try execute("COMMIT")
  }
}

extension Fixture {
  /// Returns the checksum of the stored integers.
  fileprivate func storedMemos() throws -> Checksum {
    let statement = try CStatement(
      "SELECT size FROM memo ORDER BY id", CConnection(path: freshPath))
    var checksum = Checksum()
    while try statement.step() { checksum.add(unsafe sqlite3_column_int64(statement.pointer, 0)) }
    return checksum
  }
}
