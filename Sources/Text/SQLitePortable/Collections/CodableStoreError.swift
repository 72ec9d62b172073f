import SQLiteCore

/// An error of a ``CodableStore``.
public enum CodableStoreError: Error, Hashable, CustomStringConvertible {
  /// Two types have one name: name the table of one of them. The name, and the second type.
  case sameName(String, String)
  /// The file or data to load is no store: the reason.
  case notAStore(String)
  /// There is no file to save to or to load from: none was named when the store was made, nor now.
  case noFile
  /// Some of the values in a table could not be read as items. They are still there: the table, their number
  /// and the first of them.
  case undecodable(table: String, count: Int, first: UndecodableItem)

  /// The error in words.
  public var description: String {
    switch self {
    case .sameName(let name, let type):
      "another type has the table “\(name)”: name the table of \(type)"
    case .notAStore(let reason): "this is not a store of collections: \(reason)"
    case .noFile: "no file was named to save to or to load from"
    case .undecodable(let table, let count, let first):
      "\(count) values in the table “\(table)” cannot be read, the first (\(first.position)) because: "
        + first.reason
    }
  }

  /// The error of bytes that are not a database.
  static func notADatabase(_ error: SQLiteError) -> CodableStoreError {
    .notAStore("\(error.message) (CodableStore(importing:) reads what SwiftDatabase saved)")
  }
}

/// A stored value that could not be read as an item.
public struct UndecodableItem: Error, Hashable, Sendable {
  /// Its position in the table, which never changes.
  public let position: Int64
  /// Why.
  public let reason: String
}
