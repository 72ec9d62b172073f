import SQLiteCore

/// What is known of the parameters of one statement, and which of them the current row has bound.
///
/// Apart from ``RowEncoder``, which holds the containers, which hold this.
final class EncodedRow {
  let handle: StatementHandle
  let strategies: MappingStrategies
  /// Whether `Data` is bound as it is.
  let bindsBlobs: Bool
  /// Set while a value is encoded that has not said yet that it is a single one.
  var isNested = false

  private let columns: [String]
  private let positions: [String: Int32]
  private let bound: BoundParameters
  private var trees: [Int32: JSONNode] = [:]

  init(_ handle: StatementHandle, columns: [String], strategies: MappingStrategies) {
    self.handle = handle
    self.columns = columns
    self.strategies = strategies
    bindsBlobs = strategies.data == .blob
    positions = Dictionary(
      zip(columns.map(asciiLowercased), 1...), uniquingKeysWith: { first, _ in first })
    bound = BoundParameters(count: columns.count)
  }

  /// Begins a row in which nothing is bound.
  func begin() {
    bound.beginRow()
  }

  /// Makes NULL what the row has not bound.
  func end() throws {
    if !trees.isEmpty { try bindTrees() }
    try bound.forEachUnbound { parameter throws(SQLiteError) in
      try handle.bindNull(at: parameter)
    }
  }

  /// Says whether the row has bound something that is not NULL.
  func isBound(_ parameter: Int32) -> Bool { bound[parameter] }

  /// The parameter of a property, or nil.
  func parameter(of key: some CodingKey) -> Int32? {
    positions[asciiLowercased(strategies.keys.column(for: key.stringValue))]
  }

  /// An error for a property without a parameter.
  @inline(never)
  func unknown(_ key: some CodingKey) -> UnknownColumn {
    UnknownColumn(name: strategies.keys.column(for: key.stringValue))
  }

  /// Notes that a parameter has a value of this row.
  @inline(__always)
  func mark(_ parameter: Int32) { bound[parameter] = true }

  /// Makes a parameter NULL, as those are that are not marked in the end.
  func bindNil(at parameter: Int32) { bound[parameter] = false }

  /// An error that names the property.
  @inline(never)
  func named(_ error: SQLiteError, _ parameter: Int32) -> SQLiteError {
    SQLiteError(
      error.code, "“\(columns[Int(parameter) - 1])”: \(error.message)", sql: error.sql ?? handle.sql
    )
  }

  /// An encoder for a nested value that a type builds up piece by piece.
  func treeEncoder(forKey key: some CodingKey) -> any Encoder {
    guard let parameter = parameter(of: key) else { return NestingEncoder(error: unknown(key)) }
    let node = trees[parameter] ?? JSONNode()
    trees[parameter] = node
    return TreeEncoder(node: node, codingPath: [key])
  }

  private func bindTrees() throws {
    for (parameter, node) in trees { try bind(json: node.data(), at: parameter) }
    trees.removeAll()
  }
}
