import CSQLite
import Foundation
import GRDB
import MagicData
import SQLiteCore
import SQLiteMapping

/// A case that writes rows with a nested value as JSON and reads them back.
struct JSON: Case {
  let name = "json"
  let summary = "insert rows with a nested value, stored as JSON, and fetch them all"

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: writingAndReading(openC, c), .statement: writingAndReading(openDatabase, statement),
      .record: writingAndReading(openDatabase) { database, documents in
        _ = try database.write { try $0.insert(contentsOf: documents) }
        return try database.read {
          try $0.fetch(.sql(SQLiteCore.SQL(unchecked: Document.selectAll), as: Document.self))
        }
      },
      .object: turn(
        openStore, from: .script(Document.createTable),
        preparing: { documents($1).map(DocumentObject.init) },
        { magic, objects in
          _ = try magic.update(objects)
          return try magic.object(of: DocumentObject.self)
        }, checking: { objects, _ in Checksum(of: objects.map(Document.init)) }),
      .grdbStatement: writingAndReading(openQueue, grdbStatement),
      .grdbCodable: writingAndReading(openQueue) { queue, documents in
        try queue.forEach(documents) { database in { try $0.insert(database) } }
        return try queue.read { try Document.fetchAll($0, sql: Document.selectAll) }
      },
    ]
  }

  func operations(on fixture: Fixture) -> Int { max(100, fixture.items.count / 20) }

  private func documents(_ fixture: Fixture) -> [Document] {
    fixture.items.prefix(operations(on: fixture)).map(Document.init)
  }

  private func writingAndReading<Store>(
    _ open: @escaping (String) throws -> Store,
    _ work: @escaping (Store, [Document]) throws -> [Document]
  ) -> Turn {
    turn(
      open, from: .script(Document.createTable), preparing: { documents($1) }, work,
      checking: { documents, _ in Checksum(of: documents) })
  }

  private func c(_ connection: CConnection, _ documents: [Document]) throws -> [Document] {
    let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
    try unsafe connection.inTransaction(Document.insert, documents) { document, statement in
      try connection.check(unsafe sqlite3_bind_int64(statement, 1, document.id))
      var text = try document.json(encoder)
      try connection.check(
        text.withUTF8 {
          unsafe csqlite_bind_text(statement, 2, $0.baseAddress, UInt64($0.count))
        })
    }
    let statement = try unsafe connection.prepare(Document.selectAll)
    defer { unsafe sqlite3_finalize(statement) }
    var read: [Document] = []
    while try unsafe connection.step(statement) {
      guard let text = unsafe sqlite3_column_text(statement, 1) else { continue }
      let json = unsafe Data(bytes: text, count: Int(sqlite3_column_bytes(statement, 1)))
      read.append(
        try Document(id: unsafe sqlite3_column_int64(statement, 0), json: json, decoder))
    }
    return read
  }

  private func statement(
    _ database: SQLiteCore.Database, _ documents: [Document]
  ) throws -> [Document] {
    let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
    try database.write { connection in
      var statement = try connection.statement(SQLiteCore.SQL(unchecked: Document.insert))
      for document in documents { try statement.run(document.id, try document.json(encoder)) }
    }
    return try database.read { connection in
      var statement = try connection.statement(SQLiteCore.SQL(unchecked: Document.selectAll))
      var read: [Document] = []
      while try statement.step() {
        let json = statement.withBytes(at: 1) { bytes in
          unsafe bytes.withUnsafeBytes { unsafe Data($0) }
        }
        read.append(try Document(id: statement.integer(at: 0), json: json, decoder))
      }
      return read
    }
  }

  private func grdbStatement(_ queue: DatabaseQueue, _ documents: [Document]) throws -> [Document] {
    let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
    try queue.forEach(documents) { database in
      let statement = try database.makeStatement(sql: Document.insert)
      return { try statement.execute(arguments: [$0.id, try $0.json(encoder)]) }
    }
    return try queue.read { database in
      let rows = try Row.fetchCursor(database, sql: Document.selectAll)
      var read: [Document] = []
      while let row = try rows.next() {
        read.append(try Document(id: row[0], json: row[1], decoder))
      }
      return read
    }
  }
}

/// A document as an object of a store, in the same table.
struct DocumentObject: MagicObject {
  static let tableName = "document"

  @PrimaryMagicValue var id: Int
  @MagicValue var details: Document.Details

  init() {}

  init(_ document: Document) {
    id = Int(document.id)
    details = document.details
  }
}

extension Document {
  init(_ object: DocumentObject) {
    id = Int64(object.id)
    details = object.details
  }
}
