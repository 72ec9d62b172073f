import CSQLite
import Foundation
import GRDB
import MagicData
import SQLiteCore
import SQLiteMapping

/// A case that writes blobs of 1 MiB and reads them back.
struct Blob: Case {
  let name = "blob"
  let summary = "insert blobs of 1 MiB in one transaction, then fetch each"

  var engines: KeyValuePairs<Engine, Turn> {
    [
      .c: writingAndReading(openC, c), .statement: writingAndReading(openDatabase, statement),
      .rows: writingAndReading(openDatabase, rows),
      .record: writingAndReading(openDatabase) { database, files in
        _ = try database.write { try $0.insert(contentsOf: files) }
        return try database.read { connection in
          try files.compactMap { try connection.object(of: FileRow.self, ifPresent: $0.id) }
        }
      },
      .object: turn(
        openStore, from: .script(FileRow.createTable),
        preparing: { FileRow.all($1).map(FileObject.init) },
        { magic, objects in
          _ = try magic.update(objects)
          return try objects.map { try magic.object(of: FileObject.self, primary: $0.id) }
        },
        checking: { (objects: [FileObject], _) in
          Checksum(of: objects.map { FileRow(id: Int64($0.id), content: $0.content) })
        }),
      .grdbStatement: writingAndReading(openQueue, grdbStatement),
      .grdbCodable: writingAndReading(openQueue) { queue, files in
        try queue.forEach(files) { database in { try $0.insert(database) } }
        return try queue.read { database in
          try files.compactMap { try FileRow.fetchOne(database, key: $0.id) }
        }
      },
    ]
  }

  func operations(on fixture: Fixture) -> Int { FileRow.count(fixture) }

  private func writingAndReading<Store>(
    _ open: @escaping (String) throws -> Store,
    _ work: @escaping (Store, [FileRow]) throws -> [FileRow]
  ) -> Turn {
    turn(
      open, from: .script(FileRow.createTable), preparing: { FileRow.all($1) }, work,
      checking: { files, _ in Checksum(of: files) })
  }

  private func c(_ connection: CConnection, _ files: [FileRow]) throws -> [FileRow] {
    try unsafe connection.inTransaction(FileRow.insert, files) { file, statement in
      try connection.check(unsafe sqlite3_bind_int64(statement, 1, file.id))
      try connection.check(
        unsafe file.content.withUnsafeBytes {
          unsafe csqlite_bind_blob(statement, 2, $0.baseAddress, UInt64($0.count))
        })
    }
    let statement = try unsafe connection.prepare(FileRow.selectOne)
    defer { unsafe sqlite3_finalize(statement) }
    return try files.compactMap { file in
      try connection.check(unsafe sqlite3_bind_int64(statement, 1, file.id))
      defer { unsafe sqlite3_reset(statement) }
      guard try unsafe connection.step(statement),
        let start = unsafe sqlite3_column_blob(statement, 0)
      else { return nil }
      let count = unsafe Int(sqlite3_column_bytes(statement, 0))
      return FileRow(id: file.id, content: unsafe Data(bytes: start, count: count))
    }
  }

  private func statement(
    _ database: SQLiteCore.Database, _ files: [FileRow]
  ) throws -> [FileRow] {
    try database.write { connection in
      var statement = try connection.statement(SQLiteCore.SQL(unchecked: FileRow.insert))
      for file in files { try statement.run(file.id, file.content) }
    }
    return try database.read { connection in
      var statement = try connection.statement(SQLiteCore.SQL(unchecked: FileRow.selectOne))
      return try files.compactMap { file in
        try statement.reset()
        try statement.bind(file.id, at: 1)
        guard try statement.step() else { return nil }
        let content = statement.withBytes(at: 0) { bytes in
          unsafe bytes.withUnsafeBytes { unsafe Data($0) }
        }
        return FileRow(id: file.id, content: content)
      }
    }
  }

  private func rows(_ database: SQLiteCore.Database, _ files: [FileRow]) throws -> [FileRow] {
    try database.write { connection in
      for file in files {
        try connection.executeChange(
          "INSERT INTO file (id, content) VALUES (\(file.id), \(file.content))")
      }
    }
    return try database.read { connection in
      try files.compactMap { file in
        let content = try connection.firstRow(
          "SELECT content FROM file WHERE id = \(file.id)", as: Data.self)
        return content.map { FileRow(id: file.id, content: $0) }
      }
    }
  }

  private func grdbStatement(_ queue: DatabaseQueue, _ files: [FileRow]) throws -> [FileRow] {
    try queue.forEach(files) { database in
      let statement = try database.makeStatement(sql: FileRow.insert)
      return { try statement.execute(arguments: [$0.id, $0.content]) }
    }
    return try queue.read { database in
      let statement = try database.makeStatement(sql: FileRow.selectOne)
      return try files.compactMap { file in
        let content = try Data.fetchOne(statement, arguments: [file.id])
        return content.map { FileRow(id: file.id, content: $0) }
      }
    }
  }
}
