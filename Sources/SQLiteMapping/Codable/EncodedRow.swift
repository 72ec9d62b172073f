import SQLiteCore

/// The values that one row encodes: bound to the parameters of a statement, or collected (``ShapeReader``).
///
/// Encoders and containers hold it, so that it may be kept. Everything in it but ``mark`` belongs to
/// the thread that encodes the row: encoders and containers, which may have been kept, ask the mark first.
final class EncodedRow {
  /// The statement; nil if values are collected.
  let handle: BorrowedHandle?
  let strategies: MappingStrategies
  let forms: ScalarForms
  /// The number of the row that is being encoded.
  let mark = RowMark()

  /// The column of each parameter, and the same in lower case.
  private var columns: [String]
  private var foldedColumns: [String]
  /// The property of each parameter and its stored form, if values are collected.
  @exclusivity(unchecked) private var collected: [(property: String, form: StoredForm?)] = []
  /// The first error of a property that was collected.
  private var failure: SQLiteError?
  private let bound: BoundParameters
  /// Whether properties without a parameter are passed over.
  private let isPartial: Bool

  // Used by one thread at a time: the check for exclusive access would cost as much as binding a value.
  @exclusivity(unchecked) private var life = RowMark.newLife()
  @exclusivity(unchecked) private var containers = ContainerCache()
  @exclusivity(unchecked) private var scalars: ScalarCache
  /// The nested values that a type builds up piece by piece; those of properties that are passed over have
  /// the parameter 0.
  @exclusivity(unchecked) private var trees: [(parameter: Int32, node: NestedNode)] = []

  /// Prepares to bind.
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

  /// Prepares to collect.
  ///
  /// - Parameter only: The only column that is collected, or nil for all.
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

  /// The permission of the present row's containers.
  var permission: RowPermission { RowPermission(mark: mark, life: unsafe life) }

  /// Begins a row in which nothing is encoded, with an encoder for it.
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

  /// Makes NULL what the row has not bound.
  func bindRest() throws {
    if unsafe !trees.isEmpty { try encodeTrees() }
    guard let handle else { return }
    try bound.forEachUnbound { parameter throws(SQLiteError) in
      try handle.bindNull(at: parameter)
    }
  }

  /// Ends the row. If somebody still has a container, it belongs to a life that is over.
  func end() {
    mark.end()
    if unsafe !trees.isEmpty { dropTrees() }
    guard unsafe containers.isKept else { return }
    close()
    unsafe life = RowMark.newLife()
  }

  /// Forgets the containers, which hold this.
  func close() { unsafe containers.removeAll() }

  /// The container for a type of keys.
  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if let container = unsafe containers.container(for: type) {
      // An object is stored together with the identity of the key type that it was made for.
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

  /// Returns whether the row has bound something that is not NULL.
  func isBound(_ parameter: Int32) -> Bool { bound[parameter] }

  /// The parameter of a property, 0 if it has none and is passed over.
  ///
  /// - Throws: ``UnknownColumn``.
  @inline(never)
  func missing(_ key: some CodingKey) throws -> Int32 {
    if isPartial { return 0 }
    throw UnknownColumn(name: strategies.keys.column(for: key.stringValue))
  }

  /// The parameter of a property, or nil; a new one if all properties are collected.
  func parameter(of key: some CodingKey) -> Int32? {
    let name = strategies.keys.column(for: key.stringValue)
    let known = foldedColumns.firstIndex(of: asciiLowercased(name)).map { Int32($0 + 1) }
    guard handle == nil, !isPartial else { return known }
    guard let known else { return add(name, of: key.stringValue) }
    let other = unsafe collected[Int(known) - 1].property
    if other != key.stringValue, failure == nil {
      failure = SQLiteError(
        .misuse, "the properties “\(other)” and “\(key.stringValue)” are one column to SQLite")
    }
    return known
  }

  /// Adds a column that is collected.
  @discardableResult
  private func add(_ column: String, of property: String) -> Int32 {
    columns.append(column)
    foldedColumns.append(asciiLowercased(column))
    unsafe collected.append((property, nil))
    return Int32(columns.count)
  }

  /// Notes that a parameter has a value of this row.
  @inline(__always)
  func mark(_ parameter: Int32) { bound[parameter] = true }

  /// An error that names the property.
  @inline(never)
  func named(_ error: SQLiteError, _ parameter: Int32) -> SQLiteError {
    SQLiteError(
      error.code, "“\(name(of: parameter))”: \(error.message)", sql: error.sql ?? handle?.sql)
  }

  private func name(of parameter: Int32) -> String {
    let index = Int(parameter) - 1
    return handle == nil ? unsafe collected[index].property : columns[index]
  }

  /// An encoder for a nested value that a type builds up piece by piece.
  func treeEncoder(forKey key: some CodingKey) -> any Encoder {
    guard let parameter = parameter(of: key) ?? (isPartial ? 0 : nil) else {
      return TreeEncoder(
        refusing: UnknownColumn(name: strategies.keys.column(for: key.stringValue)))
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

  /// Ends nested values that are built up piece by piece.
  private func dropTrees() {
    for (_, node) in unsafe trees { node.close() }
    unsafe trees.removeAll()
  }
}

extension EncodedRow {
  /// Encodes a scalar of a property that is not optional.
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

  /// Encodes a value of any type.
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

  /// Encodes a value, or nil, of an optional property.
  func encode<Source: Encodable>(optional value: Source?, at parameter: Int32) throws {
    guard handle != nil else { return try collect(optional: value, at: parameter) }
    if let value { try encode(value, at: parameter) } else { bindNil(at: parameter) }
  }

  /// Encodes a nil of which the type is not known.
  func encodeNil(at parameter: Int32) {
    if handle == nil {
      unsafe collected[Int(parameter) - 1].form = StoredForm(
        type: .blob, isOptional: true, value: .null)
    } else {
      bindNil(at: parameter)
    }
  }

  /// Makes a parameter NULL: ``bindRest()`` does so for all that are not marked.
  @inline(__always)
  func bindNil(at parameter: Int32) { bound[parameter] = false }

  @inline(__always)
  private func bind<Source>(
    _ value: Source, as scalar: any ScalarValue.Type, at parameter: Int32
  ) throws {
    do {
      // The cache has found the scalar for this type, so both are one type.
      let isBound = try handle?.use { unsafe try scalar.bind(value, to: $0, at: parameter, forms) }
      bound[parameter] = isBound == true
    } catch let error as SQLiteError {
      throw named(error, parameter)
    }
  }

  /// Binds or collects a stored form.
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

// Collecting.
extension EncodedRow {
  /// The columns that were collected.
  func collectedColumns() throws(SQLiteError) -> [ColumnDefinition] {
    if let failure { throw failure }
    return unsafe zip(columns, collected).compactMap { name, entry in
      entry.form.map { ColumnDefinition(name, $0.type, isOptional: $0.isOptional) }
    }
  }

  /// The stored form in the first column; NULL if it has none.
  var firstCollected: Value { unsafe collected.first?.form?.value ?? .null }

  private dynamic func collect<Scalar: ScalarValue>(scalar: Scalar, at parameter: Int32) throws {
    try collect(at: parameter) {
      StoredForm(type: Scalar.columnType(forms), value: try scalar.stored(forms))
    }
  }

  private dynamic func collect<Source: Encodable>(_ value: Source, at parameter: Int32) throws {
    try refuseTwoNils(Source.self, parameter)
    try collect(at: parameter) { try strategies.form(of: value) }
  }

  dynamic func collect<Source: Encodable>(optional value: Source?, at parameter: Int32) throws {
    try refuseTwoNils(Source?.self, parameter)
    try collect(at: parameter) {
      var form =
        try value.map { try strategies.form(of: $0) }
        ?? StoredForm(type: Storage(of: Source.self, strategies).columnType, value: .null)
      form.isOptional = true
      return form
    }
  }

  /// Collects a property's form; an error names the property.
  private func collect(at parameter: Int32, _ form: () throws -> StoredForm) throws {
    do {
      unsafe collected[Int(parameter) - 1].form = try form()
    } catch let error as SQLiteError {
      throw named(error, parameter)
    }
  }

  private func refuseTwoNils(_ type: Any.Type, _ parameter: Int32) throws(SQLiteError) {
    guard isOptionalOfOptional(type) else { return }
    throw SQLiteError(
      .mismatch,
      "“\(name(of: parameter))” is an optional of an optional, and NULL is only one nil")
  }
}

/// A property that the statement has no parameter for.
package struct UnknownColumn: Error, CustomStringConvertible {
  /// The column's name.
  package let name: String
  package var description: String { "the table has no column “\(name)”" }
}
