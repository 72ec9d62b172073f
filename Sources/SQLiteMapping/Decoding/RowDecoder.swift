package import SQLiteCore

/// Reads rows of one statement as `Decodable` types, straight from the statement's columns.
///
/// It is made once per statement, on its first row, and reads whatever row the statement stands on.
/// What is found out for one row (which column a property is) serves all the others.
package final class RowDecoder: Decoder {
  let handle: StatementHandle
  let columns: ColumnNames
  let strategies: MappingStrategies
  /// What the names of the columns begin with that belong to this value.
  let prefix: String
  package let codingPath: [any CodingKey]
  package var userInfo: [CodingUserInfoKey: Any] { [:] }

  private let root: Any.Type
  private let isSingle: Bool
  /// The property that each column was found for.
  private var properties: [Int32: String] = [:]
  private var container: AnyObject?
  private var containerKey: ObjectIdentifier?
  private var otherContainers: [ObjectIdentifier: AnyObject] = [:]
  private var children: [String: RowDecoder?] = [:]

  /// Prepares to read rows.
  ///
  /// - Parameters:
  ///   - statement: A statement that stands on a row; it must outlive the decoder.
  ///   - type: What the rows are read as; errors name it.
  ///   - strategies: How values are stored.
  package convenience init(
    _ statement: borrowing Statement, as type: Any.Type, strategies: MappingStrategies
  ) {
    self.init(statement.handle, as: type, strategies, prefix: "", path: [])
  }

  private init(
    _ handle: StatementHandle, as root: Any.Type, _ strategies: MappingStrategies,
    prefix: String, path: [any CodingKey]
  ) {
    self.handle = handle
    self.root = root
    self.strategies = strategies
    self.prefix = prefix
    columns = handle.columnNames
    isSingle = columns.count == 1
    codingPath = path
  }

  /// Reads the row that the statement stands on.
  ///
  /// - Throws: ``RowDecodingError``, or what the type's own `init(from:)` throws.
  package func row<Result: Decodable>(as type: Result.Type) throws -> Result {
    do {
      if isSingle, hasOwnForm(type) { return try value(type, at: 0) }
      return try Result(from: self)
    } catch let error as DecodingError {
      throw self.error(error, at: nil)
    }
  }

  /// Reads the row that the statement stands on, and all that follow.
  ///
  /// - Throws: As ``row(as:)``; ``SQLiteError``.
  package func rows<Result: Decodable>(
    of statement: inout Statement, as type: Result.Type
  ) throws -> [Result] {
    var rows: [Result] = []
    repeat { rows.append(try row(as: type)) } while try statement.step()
    return rows
  }

  /// Says whether the decoder still reads the columns of a statement's rows.
  func reads(_ statement: borrowing Statement) -> Bool {
    handle === statement.handle && columns === handle.columnNames
  }

  /// Ends the use of the decoder: its containers hold it as it holds them, and with it the statement.
  func end() {
    container = nil
    containerKey = nil
    otherContainers.removeAll()
    for child in children.values { child?.end() }
    children.removeAll()
  }

  package func container<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    if containerKey == ObjectIdentifier(type), let container {
      // An object is stored together with the identity of the key type that it was made for.
      return unsafe unsafeDowncast(container, to: Cached<Key>.self).container
    }
    return newContainer(keyedBy: type)
  }

  package func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try onlyColumn(for: "an array").unkeyedContainer()
  }

  package func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

/// A container with the type that it has been made for.
private final class Cached<Key: CodingKey> {
  let container: KeyedDecodingContainer<Key>

  init(_ container: KeyedDecodingContainer<Key>) {
    self.container = container
  }
}

extension RowDecoder {
  @inline(never)
  private func newContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    if let container, let containerKey { otherContainers[containerKey] = container }
    let known = otherContainers[ObjectIdentifier(type)]
    // As above.
    let cached =
      known.map { unsafe unsafeDowncast($0, to: Cached<Key>.self) }
      ?? Cached(KeyedDecodingContainer(RowDecodingContainer<Key>(self)))
    container = cached
    containerKey = ObjectIdentifier(type)
    return cached.container
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
    let child = RowDecoder(
      handle, as: root, strategies, prefix: start, path: codingPath + [PathKey(key.stringValue)])
    let known = child.ownColumns.isEmpty ? nil : child
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

/// A step of a coding path.
struct PathKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(_ name: String) {
    stringValue = name
    intValue = nil
  }

  init?(stringValue: String) {
    self.init(stringValue)
  }

  init?(intValue: Int) {
    stringValue = "\(intValue)"
    self.intValue = intValue
  }
}
