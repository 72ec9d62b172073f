import SQLiteCore

/// An error that a ``CodableStore`` throws.
public enum CodableStoreError: Error, Hashable, CustomStringConvertible {
  /// Two types without a table name of their own have the same name. Pass a table name for one of
  /// them. The values are the name and the module-qualified name of the rejected type.
  case sameName(String, String)
  /// The file or data to load isn't a store. The value is the reason.
  case notAStore(String)
  /// There is no file to save to or to load from, because neither the call nor the initializer
  /// specified one.
  case noFile
  /// Some values in a table can't be decoded as items. They remain in the table. `table` is its
  /// name, `count` the number of these values, and `first` describes the first of them.
  case undecodable(table: String, count: Int, first: UndecodableItem)

  /// A message that describes the error.
  public var description: String {
    switch self {
    case .sameName(let name, let type):
      "another type uses the table “\(name)”; name another table for \(type)"
    case .notAStore(let reason): "this is not a store of collections: \(reason)"
    case .noFile: "the store has no file to save to or to load from; pass a path"
    case .undecodable(let table, let count, let first):
      "\(count) values in the table “\(table)” cannot be read; the first, at position "
        + "\(first.position): "
        + first.reason
    }
  }

  /// Returns the error for a file or data that isn't a SQLite database.
  static func notADatabase(_ error: SQLiteError) -> CodableStoreError {
    .notAStore(
      "\(error.message); call CodableStore(importing:) for a file that SwiftDatabase saved")
  }
}

/// A stored value that can't be decoded as an item.
public struct UndecodableItem: Error, Hashable, Sendable {
  /// The position of the value in its table. Positions grow in the order of insertion and never
  /// change.
  public let position: Int64
  /// The reason why decoding failed.
  public let reason: String
}
