package import SQLiteCore

/// Binds `Encodable` values to the parameters of one statement, row after row.
///
/// It is made once per statement; which parameter a property is bound to is found out once. A
/// parameter that a value does not encode is NULL, whatever the row before had there.
package final class RowEncoder: Encoder {
  let handle: StatementHandle
  let strategies: MappingStrategies
  /// Whether `Data` is bound as it is.
  let bindsBlobs: Bool
  /// Set while a value is encoded that has not said yet that it is a single one.
  var isNested = false
  package var codingPath: [any CodingKey] { [] }
  package var userInfo: [CodingUserInfoKey: Any] { [:] }

  private let columns: [String]
  private let positions: [String: Int32]
  private let bound: BoundParameters
  private var container: AnyObject?
  private var containerKey: ObjectIdentifier?
  private var trees: [Int32: JSONNode] = [:]

  /// Prepares to bind.
  ///
  /// - Parameters:
  ///   - statement: A statement with one parameter for each column; it must outlive the encoder.
  ///   - columns: The columns that parameters 1 and following stand for.
  ///   - strategies: How values are stored.
  package init(
    _ statement: borrowing Statement, columns: [String], strategies: MappingStrategies
  ) {
    handle = statement.handle
    self.columns = columns
    self.strategies = strategies
    bindsBlobs = strategies.data == .blob
    positions = Dictionary(
      zip(columns.map(asciiLowercased), 1...), uniquingKeysWith: { first, _ in first })
    bound = BoundParameters(count: columns.count)
  }

  /// Binds all properties of `value`; the statement must stand at its beginning.
  ///
  /// - Throws: ``UnknownColumn`` for a property without a parameter; an error that names the
  ///   property if its value cannot be stored.
  package func bind(_ value: some Encodable) throws {
    bound.beginRow()
    try value.encode(to: self)
    if !trees.isEmpty { try bindTrees() }
    for parameter in 1...Int32(columns.count) where !bound[parameter] {
      try handle.bindNull(at: parameter)
    }
  }

  /// Says whether the value bound last had something for a parameter that is not NULL.
  package func isBound(_ parameter: Int32) -> Bool { bound[parameter] }

  /// Ends the use of the encoder: its container holds it as it holds that, and with it the statement.
  func end() {
    container = nil
    containerKey = nil
  }

  package func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if containerKey == ObjectIdentifier(type), let container {
      // An object is stored together with the identity of the key type that it was made for.
      return unsafe unsafeDowncast(container, to: Cached<Key>.self).container
    }
    let cached = Cached(KeyedEncodingContainer(RowEncodingContainer<Key>(self)))
    container = cached
    containerKey = ObjectIdentifier(type)
    return cached.container
  }

  package func unkeyedContainer() -> any UnkeyedEncodingContainer {
    NestingEncoder(error: notARow).unkeyedContainer()
  }

  package func singleValueContainer() -> any SingleValueEncodingContainer {
    WholeRowContainer(encoder: self, error: notARow)
  }

  private var notARow: SQLiteError {
    SQLiteError(
      .misuse, "a row is made of properties with names, not of a single value or an array")
  }
}

/// A container with the type that it has been made for.
private final class Cached<Key: CodingKey> {
  let container: KeyedEncodingContainer<Key>

  init(_ container: KeyedEncodingContainer<Key>) {
    self.container = container
  }
}

/// A property that the statement has no parameter for.
package struct UnknownColumn: Error, CustomStringConvertible {
  /// The column's name.
  package let name: String
  package var description: String { "the table has no column “\(name)”" }
}

extension RowEncoder {
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
