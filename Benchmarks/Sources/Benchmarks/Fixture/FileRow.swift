import Foundation
import GRDB
import MagicData
import SQLiteMapping

/// A row with 1 MiB of content.
struct FileRow: Codable, Sendable {
  var id: Int64
  var content: Data

  static let createTable = "CREATE TABLE file (id INTEGER PRIMARY KEY, content BLOB NOT NULL)"
  static let insert = "INSERT INTO file (id, content) VALUES (?, ?)"
  static let selectOne = "SELECT content FROM file WHERE id = ?"

  static func count(_ fixture: Fixture) -> Int { fixture.items.count < 20_000 ? 2 : 16 }

  /// Returns rows with pseudorandom content that depends on the items.
  static func all(_ fixture: Fixture) -> [FileRow] {
    fixture.items.prefix(count(fixture)).map { item in
      var generator = SplitMix64(seed: UInt64(bitPattern: item.quantity))
      var content = Data(capacity: 1 << 20)
      while content.count < 1 << 20 {
        unsafe withUnsafeBytes(of: generator.next()) { unsafe content.append(contentsOf: $0) }
      }
      return FileRow(id: item.id, content: content)
    }
  }
}

extension FileRow: SQLiteMapping.Record {
  static let tableName = "file"
}

extension FileRow: FetchableRecord, PersistableRecord {
  static let databaseTableName = "file"
}

/// The same row as an object of a store.
struct FileObject: MagicObject {
  static let tableName = "file"

  @PrimaryMagicValue var id: Int
  @MagicValue var content: Data

  init() {}

  init(_ file: FileRow) {
    id = Int(file.id)
    content = file.content
  }
}

extension Checksum {
  init(of files: [FileRow]) {
    self.init()
    for file in files {
      add(file.id)
      add(file.content)
    }
  }
}
