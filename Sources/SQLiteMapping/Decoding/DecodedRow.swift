import SQLiteCore

/// What is known of the rows of one statement, and what is in the one that it stands on.
///
/// Apart from ``RowDecoder``, which holds the containers, which hold this.
final class DecodedRow {
  let handle: StatementHandle
  let columns: ColumnNames
  let strategies: MappingStrategies
  /// Whether `Data` is read as it is stored.
  let readsBlobs: Bool
  /// What the names of the columns begin with that belong to this value.
  let prefix: String
  let codingPath: [any CodingKey]

  private let root: Any.Type
  /// The property that each column was found for.
  private var properties: [Int32: String] = [:]
  private var children: [String: RowDecoder?] = [:]

  init(
    _ handle: StatementHandle, as root: Any.Type, _ strategies: MappingStrategies,
    prefix: String = "", path: [any CodingKey] = []
  ) {
    self.handle = handle
    self.root = root
    self.strategies = strategies
    readsBlobs = strategies.data == .blob
    self.prefix = prefix
    columns = handle.columnNames
    codingPath = path
  }

  /// The column of a property, or nil.
  func column(of key: some CodingKey) -> Int32? {
    let name = prefix + strategies.keys.column(for: key.stringValue)
    guard let position = columns.position(of: name) else { return nil }
    properties[Int32(position)] = key.stringValue
    return Int32(position)
  }

  /// A decoder for the columns whose names begin with the property's, and a dot; nil without any.
  func child(of key: some CodingKey) -> RowDecoder? {
    if let known = children[key.stringValue] { return known }
    let start = asciiLowercased("\(prefix)\(strategies.keys.column(for: key.stringValue)).")
    let path = codingPath + [PathKey(key.stringValue)]
    let child = DecodedRow(handle, as: root, strategies, prefix: start, path: path)
    let known = child.ownColumns.isEmpty ? nil : RowDecoder(child)
    children[key.stringValue] = .some(known)
    return known
  }

  /// The columns whose names begin with the prefix.
  var ownColumns: [Int32] {
    columns.names.indices.filter {
      asciiLowercased(columns.names[$0]).utf8.starts(with: prefix.utf8)
    }
    .map { Int32($0) }
  }

  /// Says whether all columns with the prefix are NULL, as an outer join leaves them.
  var isNull: Bool {
    ownColumns.allSatisfy { handle.isNull(at: $0) }
  }

  /// The only column of the row.
  func onlyColumn(for wanted: String) throws -> ColumnDecoder {
    guard columns.count == 1, prefix.isEmpty else {
      throw error("\(wanted) needs one column, and there are \(columns.count)", at: nil)
    }
    return ColumnDecoder(row: self, column: 0)
  }

  /// The way to a column's value.
  func path(to column: Int32) -> [any CodingKey] {
    guard let property = properties[column] else { return codingPath }
    return codingPath + [PathKey(property)]
  }

  /// An error about a column, or about the whole row.
  @inline(never)
  func error(
    _ message: String, at column: Int32?, path: [any CodingKey] = []
  ) -> RowDecodingError {
    RowDecodingError(
      type: "\(root)",
      codingPath: ((column.map { self.path(to: $0) } ?? codingPath) + path).map(\.stringValue),
      column: column.flatMap { column in
        columns.names.indices.contains(Int(column)) ? columns.names[Int(column)] : nil
      },
      storageClass: column.map { handle.storageClass(at: $0) }, message: message, sql: handle.sql)
  }

  /// An error that a type's own code made, or another decoder.
  func error(_ error: DecodingError, at column: Int32?) -> RowDecodingError {
    let (message, path) = error.explanation
    // The path begins with ours if the error was made at ours.
    let own = column.map { self.path(to: $0) } ?? codingPath
    let isOwn =
      path.count >= own.count && zip(path, own).allSatisfy { $0.stringValue == $1.stringValue }
    return self.error(message, at: column, path: isOwn ? Array(path[own.count...]) : path)
  }

  /// An error for a property without a column.
  @inline(never)
  func missing(_ key: some CodingKey) -> RowDecodingError {
    error(
      "the row has no column “\(prefix)\(strategies.keys.column(for: key.stringValue))”", at: nil,
      path: [PathKey(key.stringValue)])
  }
}
