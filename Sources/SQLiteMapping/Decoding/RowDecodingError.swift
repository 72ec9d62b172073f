/// A row that cannot be read as the type that was asked for.
///
/// The description names everything but the stored content, which may be private.
public struct RowDecodingError: Error, Hashable, Sendable {
  /// The type that the row was read as.
  public let type: String
  /// The property, and the way to it inside a nested value.
  public let codingPath: [String]
  /// The column, or nil if there is none.
  public let column: String?
  /// The storage class found in the column: `NULL`, `INTEGER`, `REAL`, `TEXT` or `BLOB`.
  public let storageClass: String?
  /// What was wrong, in English.
  public let message: String
  /// The SQL that returned the row.
  public let sql: String
}

extension RowDecodingError: CustomStringConvertible {
  /// The type, the property, the column, what was found and the SQL.
  public var description: String {
    var text = ([type] + codingPath).joined(separator: ".")
    if let column {
      text += " (column “\(column)”"
      if let storageClass { text += ", which holds \(storageClass)" }
      text += ")"
    }
    return "\(text): \(message), in: \(sql)"
  }
}

extension DecodingError {
  /// The words and the path of the error, without its type.
  var explanation: (message: String, path: [any CodingKey]) {
    switch self {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      (context.debugDescription, context.codingPath)
    case .keyNotFound(let key, let context):
      ("there is no value for “\(key.stringValue)”", context.codingPath)
    @unknown default: ("\(self)", [])
    }
  }
}
