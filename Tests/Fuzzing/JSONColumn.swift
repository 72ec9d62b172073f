import MagicData

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Fuzzes JSON in columns, as any program may have written it.
package struct JSONColumn {
  private struct Nested: Codable, Equatable {
    var name: String
    var numbers: [Int]
    var table: [String: Double]
    var child: [Nested]?
    var date: Date?
    var url: URL?
  }

  private struct Item: Record {
    var id: Int
    var nested: Nested
  }

  private struct Loose: Decodable {
    var nested: [String: [Int?]]
  }

  private let database: Database

  package init() throws { database = try Database.memory() }

  /// Returns a description of a fault, or nil. Values that can be read must be equal after they are
  /// written and read again.
  package func check(_ bytes: [UInt8]) throws -> String? {
    try database.write { connection in
      let values: [Value] = [.text(String(decoding: bytes, as: UTF8.self)), .blob(bytes)]
      for value in values {
        _ = try? connection.fetch(.sql("SELECT \(value) AS nested", as: Loose.self))
        guard
          let item = try? connection.fetch(
            RecordQuery.sql("SELECT 1 AS id, \(value) AS nested", as: Item.self).first)
        else { continue }
        try connection.update(item)
        guard let again = try connection.object(of: Item.self, ifPresent: 1) else {
          return "the row is missing"
        }
        guard again.nested == item.nested else { return "\(again.nested) is not \(item.nested)" }
      }
      return nil
    }
  }
}
