import SQLiteCore

/// What SQLite converts values to that are put into a column, by the column's declared type
/// (<https://www.sqlite.org/datatype3.html#determination_of_column_affinity>).
enum Affinity {
  case integer
  case text
  case blob
  case real
  case numeric

  /// The affinity of a declared type, by SQLite's rules in their order.
  init(declared type: String) {
    let type = asciiLowercased(type)
    if type.contains("int") {
      self = .integer
    } else if type.contains("char") || type.contains("clob") || type.contains("text") {
      self = .text
    } else if type.contains("blob") || type.isEmpty {
      self = .blob
    } else if type.contains("real") || type.contains("floa") || type.contains("doub") {
      self = .real
    } else {
      self = .numeric
    }
  }

  /// Says whether values of a type come out of the column as they went in.
  func keeps(_ type: ColumnType) -> Bool {
    // Blobs are never converted; nothing is by a column without affinity.
    if self == .blob || type == .blob || type == .any { return true }
    switch Affinity(declared: type.rawValue) {
    case .text: return self == .text
    case .integer: return self == .integer || self == .numeric
    // A whole real may come back as an integer, which is read as the same real.
    case .real: return self == .real || self == .numeric || self == .integer
    case .numeric: return self == .numeric || self == .integer
    case .blob: return true
    }
  }
}
