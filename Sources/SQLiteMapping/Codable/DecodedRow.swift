import ExactText
import SQLiteCore

/// The rows of one statement: its columns, its strategies, and the content of the current row.
///
/// Decoders and containers reference this object, and a type may keep them after the row has ended.
/// Only the thread that reads the row may use anything except ``mark``, so decoders and containers
/// check the mark first.
final class DecodedRow {
  let handle: BorrowedHandle
  let columns: ColumnNames
  let strategies: MappingStrategies
  let forms: ScalarForms
  /// The text with which the names of the value's columns begin: empty for a whole row, or for
  /// example `country.` for a nested value.
  let prefix: String
  let codingPath: [any CodingKey]
  /// Whether an optional property without a column is decoded as nil, because the next write of its
  /// type adds the column.
  let allowsMissingColumns: Bool
  /// The mark that identifies the row being read.
  let mark: RowMark

  private let root: Any.Type
  /// The columns that were looked up, each with the name of the property that it was looked up for.
  private var properties: [(column: Int32, name: String)] = []

  // Used by one thread at a time. The check for exclusive access would cost as much as reading a
  // column.
  @exclusivity(unchecked) private var life: Int
  @exclusivity(unchecked) private var containers = ContainerCache()
  @exclusivity(unchecked) private var scalars: ScalarCache
  /// The nested rows by property: the columns whose names begin with the property's name and a dot,
  /// or nil for a property without such columns.
  @exclusivity(unchecked) private var children: [(property: String, row: DecodedRow?)] = []

  init(
    _ handle: StatementHandle, as root: Any.Type, _ strategies: MappingStrategies,
    _ mark: RowMark, life: Int = RowMark.newLife(), prefix: String = "",
    path: [any CodingKey] = [], allowsMissingColumns: Bool = false
  ) {
    self.handle = BorrowedHandle(handle)
    self.mark = mark
    unsafe self.life = life
    self.root = root
    self.strategies = strategies
    forms = strategies.scalars
    self.prefix = prefix
    columns = handle.columnNames
    codingPath = path
    self.allowsMissingColumns = allowsMissingColumns
    unsafe scalars = ScalarCache(count: columns.count)
  }

  /// Whether the statement returns a single column.
  var isSingle: Bool { columns.count == 1 }

  /// The permission with which the containers access the current row.
  var permission: RowPermission { RowPermission(mark: mark, life: unsafe life) }

  /// Begins a row and returns a decoder for it.
  func begin() -> RowDecoder {
    mark.begin(life: unsafe life)
    return decoder
  }

  /// A decoder for the current row.
  var decoder: RowDecoder { RowDecoder(self) }

  /// Ends the row, which invalidates its decoders and containers. If a copy of a container still
  /// exists, the next row begins a new life, so that the copy remains invalid (``RowMark``).
  func end() {
    mark.end()
    guard hasCopies else { return }
    close()
    unsafe life = RowMark.newLife()
  }

  /// Whether a copy of one of the containers still exists.
  private var hasCopies: Bool {
    if unsafe containers.hasCopies { return true }
    return unsafe !children.isEmpty && children.contains { $0.row?.hasCopies ?? false }
  }

  /// Releases the cached containers. They and this object reference each other, so neither would be
  /// deallocated otherwise.
  func close() {
    unsafe containers.removeAll()
    for (_, child) in unsafe children { child?.close() }
    unsafe children.removeAll()
  }

  /// Returns a container of the current row for keys of a type. Reuses the container of the
  /// previous row if its keys had the same type.
  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    if let container = unsafe containers.container(for: type) {
      // The cache stores each container with the identity of its key type.
      return unsafe unsafeDowncast(container, to: Boxed<KeyedDecodingContainer<Key>>.self).copy()
    }
    return newContainer(keyedBy: type)
  }

  @inline(never)
  private func newContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    let boxed = Boxed<KeyedDecodingContainer<Key>>.decoding(self)
    unsafe containers.add(boxed, for: type)
    return boxed.copy()
  }

  /// Returns the index of the column that stores the property of a key, or nil if no column has its
  /// name.
  func column(of key: some CodingKey) -> Int32? {
    let name = prefix + strategies.keys.column(for: key.stringValue)
    guard let position = columns.position(of: name) else { return nil }
    properties.append((Int32(position), key.stringValue))
    return Int32(position)
  }

  /// Returns the name of the property that a column was looked up for, or nil if the column is
  /// unused.
  func property(ofColumn column: Int32) -> String? {
    if let own = properties.last(where: { $0.column == column }) { return own.name }
    return unsafe children.first { $0.row?.property(ofColumn: column) != nil }?.property
  }

  /// Returns a nested row of the columns whose names begin with the property's name and a dot, or
  /// nil if no such columns exist.
  func child(of key: some CodingKey) -> DecodedRow? {
    let name = key.stringValue
    if let known = unsafe children.first(where: { $0.property == name }) { return known.row }
    let start = asciiLowercased("\(prefix)\(strategies.keys.column(for: key.stringValue)).")
    let path = codingPath + [PathKey(key.stringValue)]
    let child = handle.use {
      unsafe DecodedRow($0, as: root, strategies, mark, life: life, prefix: start, path: path)
    }
    let known = child.ownColumns.isEmpty ? nil : child
    unsafe children.append((name, known))
    return known
  }

  /// The indexes of the columns whose names begin with ``prefix``.
  var ownColumns: [Int32] {
    columns.names.indices.filter {
      asciiLowercased(columns.names[$0]).utf8.starts(with: prefix.utf8)
    }
    .map { Int32($0) }
  }

  /// Whether all columns whose names begin with ``prefix`` contain NULL, as in the result of an
  /// outer join without a match.
  var isNull: Bool {
    ownColumns.allSatisfy { handle.isNull(at: $0) }
  }

  /// Returns a decoder of the row's only column.
  ///
  /// - Parameter wanted: What needs a single column, such as “an array”, for the error message.
  /// - Throws: ``RowDecodingError`` if the row has several columns or none, or if it is nested.
  func onlyColumn(for wanted: String) throws -> ColumnDecoder {
    guard columns.count == 1, prefix.isEmpty else {
      throw error("\(wanted) needs one column, but there are \(columns.count)", at: nil)
    }
    return try decoder(ofColumn: 0)
  }

  /// Returns the coding path of the value in a column.
  func path(to column: Int32) -> [any CodingKey] {
    guard let property = properties.last(where: { $0.column == column }) else { return codingPath }
    return codingPath + [PathKey(property.name)]
  }

  /// Returns an error about a column, or about the whole row if `column` is nil.
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

  /// Converts a `DecodingError`, which was thrown by a type's own code or by another decoder, to an
  /// error about the row or, if `column` isn't nil, about that column.
  func error(_ error: DecodingError, at column: Int32?) -> RowDecodingError {
    let (message, path) = error.explanation
    // If the error was created for this value, its path begins with the path of this value.
    let own = column.map { self.path(to: $0) } ?? codingPath
    let isOwn =
      path.count >= own.count && zip(path, own).allSatisfy { $0.stringValue == $1.stringValue }
    return self.error(message, at: column, path: isOwn ? Array(path[own.count...]) : path)
  }

  /// Returns the error for a property without a column.
  @inline(never)
  func missing(_ key: some CodingKey) -> RowDecodingError {
    error(
      "the row has no column “\(prefix)\(strategies.keys.column(for: key.stringValue))”", at: nil,
      path: [PathKey(key.stringValue)])
  }

  /// Converts a `DecodingError` to a ``RowDecodingError``. Returns any other error unchanged.
  func named(_ error: any Error) -> any Error {
    (error as? DecodingError).map { self.error($0, at: nil) } ?? error
  }
}

extension DecodedRow {
  /// Reads a scalar from a column.
  ///
  /// - Throws: ``RowDecodingError`` if the content of the column doesn't represent a value of the
  ///   type.
  @inline(__always)
  func scalar<Scalar: ScalarValue>(_ type: Scalar.Type, at column: Int32) throws -> Scalar {
    if let value = handle.use({ type.read(from: $0, at: column, forms) }) { return value }
    return try converted(type, at: column)
  }

  /// Converts the content of a column, or throws an error that names the column.
  private dynamic func converted<Scalar: ScalarValue>(
    _ type: Scalar.Type, at column: Int32
  ) throws -> Scalar {
    do {
      return try type.value(of: handle.value(at: column), forms)
    } catch {
      throw self.error(error.message, at: column)
    }
  }

  /// Returns a decoder of a column's current value.
  ///
  /// - Throws: ``RowDecodingError`` if the value cannot be read.
  func decoder(ofColumn column: Int32) throws -> ColumnDecoder {
    do throws(SQLiteError) {
      return ColumnDecoder(try handle.value(at: column), strategies, in: self, column)
    } catch {
      throw self.error(error.message, at: column)
    }
  }

  /// Reads a value of any type from a column.
  ///
  /// - Throws: ``RowDecodingError`` if the content of the column doesn't represent a value of the
  ///   type, or an error from the type's own `init(from:)`.
  func value<Result: Decodable>(_ type: Result.Type, at column: Int32) throws -> Result {
    if let scalar = unsafe scalars.scalar(of: type, at: column) {
      return try value(type, as: scalar, at: column)
    }
    do {
      return try Result(from: decoder(ofColumn: column))
    } catch let error as DecodingError {
      throw self.error(error, at: column)
    }
  }

  @inline(__always)
  private func value<Result>(
    _ type: Result.Type, as scalar: any ScalarValue.Type, at column: Int32
  ) throws -> Result {
    do {
      // The cache found the scalar type for this type, so both are the same.
      return try handle.use { unsafe try scalar.read(as: type, from: $0, at: column, forms) }
    } catch let error as SQLiteError {
      throw self.error(error.message, at: column)
    }
  }

  /// Returns whether a type is a scalar, that is, whether one column contains the whole value.
  func isScalar(_ type: Any.Type) -> Bool { unsafe scalars.scalar(of: type, at: 0) != nil }
}

extension DecodedRow: ColumnRows {
  var rowNumber: Int { mark.row }

  func named(_ error: any Error, at column: Int32) -> any Error {
    switch error {
    case let error as DecodingError: self.error(error, at: column)
    case let error as SQLiteError: self.error(error.message, at: column)
    default: error
    }
  }
}
