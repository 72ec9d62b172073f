import Essentials
import SQLiteCore

/// The values of the row that is being encoded. They are bound to the parameters of a statement or,
/// for a ``ShapeReader``, collected.
///
/// Encoders and containers reference this object, and a type may keep them after the row has ended.
/// Only the thread that encodes the row may use anything except ``mark``, so encoders and
/// containers check the mark first.
final class EncodedRow {
  /// The statement whose parameters are bound, or nil if values are collected.
  let handle: BorrowedHandle?
  let strategies: MappingStrategies
  let forms: ScalarForms
  /// The mark that identifies the row being encoded.
  let mark = RowMark()

  /// The names of the columns. The first is the column of parameter 1.
  private var columns: [String]
  /// The names in ``columns``, in ASCII lowercase.
  private var foldedColumns: [String]
  /// The property and the stored form of each parameter, if values are collected.
  @exclusivity(unchecked) private var collected: [(property: String, form: StoredForm?)] = []
  /// The error for the first two collected properties that have the same column, or nil if all
  /// columns differ.
  private var failure: SQLiteError?
  private let bound: BoundParameters
  /// Whether properties without a parameter are skipped instead of causing an error.
  private let isPartial: Bool

  // Used by one thread at a time. The check for exclusive access would cost as much as binding a
  // value.
  @exclusivity(unchecked) private var life = RowMark.newLife()
  @exclusivity(unchecked) private var containers = ContainerCache()
  @exclusivity(unchecked) private var scalars: ScalarCache
  /// The nested values that a type encodes in parts, with `nestedContainer` or `superEncoder`.
  /// Those of skipped properties have parameter 0.
  @exclusivity(unchecked) private var trees: [(parameter: Int32, node: NestedNode)] = []

  /// Creates a row that binds values to the parameters of a statement.
  init(
    _ handle: StatementHandle, columns: [String], strategies: MappingStrategies, isPartial: Bool
  ) {
    self.handle = BorrowedHandle(handle)
    self.columns = columns
    self.strategies = strategies
    self.isPartial = isPartial
    forms = strategies.scalars
    unsafe scalars = ScalarCache(count: columns.count + 1)
    foldedColumns = columns.map(asciiLowercased)
    bound = BoundParameters(count: columns.count)
  }

  /// Creates a row that collects values.
  ///
  /// - Parameters:
  ///   - only: The name of the only column to collect, or nil to collect all columns.
  ///   - strategies: The forms in which values are stored.
  init(collecting only: String?, strategies: MappingStrategies) {
    handle = nil
    columns = []
    foldedColumns = []
    isPartial = only != nil
    self.strategies = strategies
    forms = strategies.scalars
    unsafe scalars = ScalarCache(count: 0)
    bound = BoundParameters(count: 0)
    if let only { add(only, of: only) }
  }

  /// The permission with which the containers access the current row.
  var permission: RowPermission { RowPermission(mark: mark, life: unsafe life) }

  /// Begins a row in which no parameter has a value yet, and returns an encoder for it.
  func begin() -> RowEncoder {
    unsafe mark.begin(life: life)
    bound.beginRow()
    if let handle {
      handle.use { $0.beginRow() }
    } else {
      for index in unsafe collected.indices { unsafe collected[index].form = nil }
    }
    return RowEncoder(content: self, row: mark.row)
  }

  /// Binds the nested values that were encoded in parts, and NULL to all other parameters without a
  /// value.
  func bindRemaining() throws {
    if unsafe !trees.isEmpty { try encodeTrees() }
    guard let handle else { return }
    try bound.forEachUnbound { parameter throws(SQLiteError) in
      try handle.bindNull(at: parameter)
    }
  }

  /// Ends the row, which invalidates its encoders and containers. If a copy of a container still
  /// exists, the next row begins a new life, so that the copy remains invalid (``RowMark``).
  func end() {
    mark.end()
    if unsafe !trees.isEmpty { dropTrees() }
    guard unsafe containers.hasCopies else { return }
    close()
    unsafe life = RowMark.newLife()
  }

  /// Releases the cached containers. They and this object reference each other, so neither would be
  /// deallocated otherwise.
  func close() { unsafe containers.removeAll() }

  /// Returns a container of the current row for keys of a type. Reuses the container of the
  /// previous row if its keys had the same type.
  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if let container = unsafe containers.container(for: type) {
      // The cache stores each container with the identity of its key type.
      return unsafe unsafeDowncast(container, to: Boxed<KeyedEncodingContainer<Key>>.self).copy()
    }
    return newContainer(keyedBy: type)
  }

  @inline(never)
  private func newContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    let boxed = Boxed(KeyedEncodingContainer(RowEncodingContainer<Key>(self)))
    unsafe containers.add(boxed, for: type)
    return boxed.copy()
  }

  /// Returns whether the row has bound something other than NULL to a parameter.
  func isBound(_ parameter: Int32) -> Bool { bound[parameter] }

  /// Returns 0, the parameter number that makes the caller skip a property without a parameter.
  ///
  /// - Throws: ``UnknownColumn`` if the row doesn't allow properties without a parameter.
  @inline(never)
  func missing(_ key: some CodingKey) throws -> Int32 {
    if isPartial { return 0 }
    throw UnknownColumn(name: strategies.keys.column(for: key.stringValue))
  }

  /// Returns the number of the parameter for the property of a key, or nil if no parameter's column
  /// has its name. If all properties are collected, adds a parameter instead of returning nil.
  func parameter(of key: some CodingKey) -> Int32? {
    let name = strategies.keys.column(for: key.stringValue)
    let known = foldedColumns.firstIndex(of: asciiLowercased(name)).map { Int32($0 + 1) }
    guard handle == nil, !isPartial else { return known }
    guard let known else { return add(name, of: key.stringValue) }
    let other = unsafe collected[Int(known) - 1].property
    if other != key.stringValue, failure == nil {
      failure = SQLiteError(
        .misuse,
        "the properties “\(other)” and “\(key.stringValue)” have the same column, because "
          + "SQLite ignores case; rename one of them")
    }
    return known
  }

  /// Adds a column to collect, and returns the number of its new parameter.
  @discardableResult
  private func add(_ column: String, of property: String) -> Int32 {
    columns.append(column)
    foldedColumns.append(asciiLowercased(column))
    unsafe collected.append((property, nil))
    return Int32(columns.count)
  }

  /// Records that a parameter has a value in this row.
  @inline(__always)
  func mark(_ parameter: Int32) { bound[parameter] = true }

  /// Returns a copy of an error, with a message that begins with the name of the parameter's
  /// property.
  @inline(never)
  func named(_ error: SQLiteError, _ parameter: Int32) -> SQLiteError {
    SQLiteError(
      error.code, "“\(name(of: parameter))”: \(error.message)", sql: error.sql ?? handle?.sql)
  }

  private func name(of parameter: Int32) -> String {
    let index = Int(parameter) - 1
    return handle == nil ? unsafe collected[index].property : columns[index]
  }

  /// Returns an encoder for a nested value that a type encodes in parts, with `nestedContainer` or
  /// `superEncoder`. For a property without a parameter, the encoder discards the value if the row
  /// skips such properties, and throws otherwise.
  func treeEncoder(forKey key: some CodingKey) -> any Encoder {
    guard let parameter = parameter(of: key) ?? (isPartial ? 0 : nil) else {
      return TreeEncoder(
        throwing: UnknownColumn(name: strategies.keys.column(for: key.stringValue)))
    }
    if parameter > 0, let known = unsafe trees.first(where: { $0.parameter == parameter }) {
      return TreeEncoder(known.node, [key])
    }
    let node = NestedNode()
    unsafe trees.append((parameter, node))
    return TreeEncoder(node, [key])
  }

  private func encodeTrees() throws {
    for (parameter, node) in unsafe trees where parameter > 0 {
      let stored = try strategies.nested.stored(node)
      try set(
        StoredForm(type: strategies.nested.columnType, value: stored), at: parameter)
    }
  }

  /// Discards the nested values that were encoded in parts. Encoders of them that a type has kept
  /// throw from now on.
  private func dropTrees() {
    for (_, node) in unsafe trees { node.close() }
    unsafe trees.removeAll()
  }
}

extension EncodedRow {
  /// Binds the scalar of a non-optional property to a parameter, or collects it.
  @inline(__always)
  func encode<Scalar: ScalarValue>(scalar: Scalar, at parameter: Int32) throws {
    guard let handle else { return try collect(scalar: scalar, at: parameter) }
    do {
      try handle.attempt { handle throws(SQLiteError) in
        try scalar.bind(to: handle, at: parameter, forms)
      }
    } catch {
      throw named(error, parameter)
    }
    mark(parameter)
  }

  /// Binds a value of any type to a parameter, or collects it.
  func encode<Source: Encodable>(_ value: Source, at parameter: Int32) throws {
    guard handle != nil else { return try collect(value, at: parameter) }
    if let scalar = unsafe scalars.scalar(of: Source.self, at: parameter) {
      return try bind(value, as: scalar, at: parameter)
    }
    do {
      try set(ColumnEncoder.form(of: value, strategies), at: parameter)
    } catch let error as SQLiteError {
      throw named(error, parameter)
    }
  }

  /// Binds the value of an optional property to a parameter, or collects it. Nil becomes NULL.
  func encode<Source: Encodable>(optional value: Source?, at parameter: Int32) throws {
    guard handle != nil else { return try collect(optional: value, at: parameter) }
    if let value { try encode(value, at: parameter) } else { bindNil(at: parameter) }
  }

  /// Binds or collects NULL for a property whose type is unknown, because `encodeNil(forKey:)`
  /// doesn't state it.
  func encodeNil(at parameter: Int32) {
    if handle == nil {
      unsafe collected[Int(parameter) - 1].form = StoredForm(
        type: .blob, isOptional: true, value: .null)
    } else {
      bindNil(at: parameter)
    }
  }

  /// Records that a parameter has no value in this row. ``bindRemaining()`` then binds NULL to it.
  @inline(__always)
  func bindNil(at parameter: Int32) { bound[parameter] = false }

  @inline(__always)
  private func bind<Source>(
    _ value: Source, as scalar: any ScalarValue.Type, at parameter: Int32
  ) throws {
    do {
      // The cache found the scalar type for this type, so both are the same.
      let isBound = try handle?.use { unsafe try scalar.bind(value, to: $0, at: parameter, forms) }
      bound[parameter] = isBound == true
    } catch let error as SQLiteError {
      throw named(error, parameter)
    }
  }

  /// Binds a stored form to a parameter, or stores it for the parameter if values are collected.
  private func set(_ form: StoredForm, at parameter: Int32) throws {
    guard let handle else {
      unsafe collected[Int(parameter) - 1].form = form
      return
    }
    if form.value.isNull { return bindNil(at: parameter) }
    try handle.bind(form.value, at: parameter)
    mark(parameter)
  }
}

// Collecting values instead of binding them.
extension EncodedRow {
  /// Returns the columns of the properties that the last value has encoded.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if two properties have the same column.
  func collectedColumns() throws(SQLiteError) -> [ColumnDefinition] {
    if let failure { throw failure }
    return unsafe zip(columns, collected).compactMap { name, entry in
      entry.form.map { form in
        var column = ColumnDefinition(name, form.type, isOptional: form.isOptional)
        column.isDateText = form.isDate && form.type == .text
        return column
      }
    }
  }

  /// The collected value of the first column, or NULL if the last value didn't encode it.
  var firstCollected: Value { unsafe collected.first?.form?.value ?? .null }

  private dynamic func collect<Scalar: ScalarValue>(scalar: Scalar, at parameter: Int32) throws {
    try collect(at: parameter) {
      StoredForm(
        type: Scalar.columnType(forms), isDate: Scalar.self == Date.self,
        value: try scalar.stored(forms))
    }
  }

  private dynamic func collect<Source: Encodable>(_ value: Source, at parameter: Int32) throws {
    try checkNotNestedOptional(Source.self, parameter)
    try collect(at: parameter) { try strategies.form(of: value) }
  }

  dynamic func collect<Source: Encodable>(optional value: Source?, at parameter: Int32) throws {
    try checkNotNestedOptional(Source?.self, parameter)
    try collect(at: parameter) {
      var form =
        try value.map { try strategies.form(of: $0) }
        ?? StoredForm(
          type: ColumnStorage(of: Source.self, strategies).columnType,
          isDate: Source.self == Date.self, value: .null)
      form.isOptional = true
      return form
    }
  }

  /// Collects the stored form that `form` returns for a parameter. Adds the name of the property to
  /// its errors.
  private func collect(at parameter: Int32, _ form: () throws -> StoredForm) throws {
    do {
      unsafe collected[Int(parameter) - 1].form = try form()
    } catch let error as SQLiteError {
      throw named(error, parameter)
    }
  }

  private func checkNotNestedOptional(_ type: Any.Type, _ parameter: Int32) throws(SQLiteError) {
    guard isOptionalOfOptional(type) else { return }
    throw SQLiteError(
      .mismatch,
      "“\(name(of: parameter))” is an optional of an optional, but NULL represents only one nil")
  }
}

/// An error that is thrown if the statement has no parameter for a property.
package struct UnknownColumn: Error, CustomStringConvertible {
  /// The name of the property's column.
  package let name: String
  package var description: String { "the table has no column “\(name)”" }
}
