import Foundation
import GRDB
import SQLiteMapping

/// A row with a nested value that is stored as JSON.
struct Document: Codable, Sendable {
  struct Details: Codable, Sendable {
    struct Size: Codable, Sendable {
      var width: Double
      var height: Double?
    }

    var title: String
    var words: [String]
    var size: Size
    var counts: [String: Int64]
    var note: String?
  }

  var id: Int64
  var details: Details

  static let createTable = "CREATE TABLE document (id INTEGER PRIMARY KEY, details TEXT NOT NULL)"
  static let insert = "INSERT INTO document (id, details) VALUES (?, ?)"
  static let selectAll = "SELECT id, details FROM document ORDER BY id"

  /// Creates a document from the values of an item.
  init(_ item: Item) {
    id = item.id
    details = Details(
      title: item.name, words: item.name.split(separator: " ").map(String.init),
      size: Details.Size(width: item.price, height: item.rating),
      counts: ["quantity": item.quantity, "payload": Int64(item.payload.count)], note: item.note)
  }

  /// Creates a document from the columns of a row.
  init(id: Int64, json: Data, _ decoder: JSONDecoder) throws {
    self.id = id
    details = try decoder.decode(Details.self, from: json)
  }

  /// Returns the details as JSON, for the engines that don't encode nested values.
  func json(_ encoder: JSONEncoder) throws -> String {
    String(decoding: try encoder.encode(details), as: UTF8.self)
  }
}

extension Document: SQLiteMapping.Record {
  static let tableName = "document"
}

extension Document: FetchableRecord, PersistableRecord {
  static let databaseTableName = "document"
}

extension Checksum {
  /// Computes the checksum of documents.
  init(of documents: [Document]) {
    self.init()
    for document in documents {
      add(document.id)
      let details = document.details
      add(details.title)
      for word in details.words { add(word) }
      add(details.size.width)
      if let height = details.size.height { add(height) } else { addNull() }
      for (name, count) in details.counts.sorted(by: { $0.key < $1.key }) {
        add(name)
        add(count)
      }
      if let note = details.note { add(note) } else { addNull() }
    }
  }
}
