import SQLiteCore

/// The parameters of one statement, and the ones that the current row has bound.
///
/// Encoders and containers hold it, so that it may be kept. Everything in it but ``mark`` belongs to
/// the thread that binds the row: encoders and containers, which may have been kept, ask the mark first.
final class EncodedRow {
  let handle: BorrowedHandle
  let strategies: MappingStrategies
  let forms: ScalarForms
  /// The number of the row that is being bound.
  let mark = RowMark()
  /// Set while a value is encoded that has not said yet that it is a single one.
  var isNested = false

  private let columns: [String]
  private let positions: [String: Int32]
  private let bound: BoundParameters
  /// Whether properties without a parameter are passed over.
  private let bindsKeysOnly: Bool
  private var trees: [Int32: JSONNode] = [:]
  /// The nested values of properties that are passed over.
  private var looseTrees: [JSONNode] = []

  // Used by one thread at a time: the check for exclusive access would cost as much as binding a value.
  @exclusivity(unchecked) private var life = RowMark.newLife()
  @exclusivity(unchecked) private var container: ReusedContainer?
  @exclusivity(unchecked) private var containerKey: ObjectIdentifier?
  /// Whether more than one type of keys was asked for, of which the first containers are not known.
  @exclusivity(unchecked) private var hasOthers = false
  @exclusivity(unchecked) private var scalars: ScalarCache

  init(
    _ handle: StatementHandle, columns: [String], strategies: MappingStrategies,
    bindsKeysOnly: Bool
  ) {
    self.handle = BorrowedHandle(handle)
    self.columns = columns
    self.strategies = strategies
    self.bindsKeysOnly = bindsKeysOnly
    forms = strategies.scalars
    unsafe scalars = ScalarCache(count: columns.count + 1)
    positions = Dictionary(
      zip(columns.map(asciiLowercased), 1...), uniquingKeysWith: { first, _ in first })
    bound = BoundParameters(count: columns.count)
  }

  /// The permission of the present row's containers.
  var permission: RowPermission { RowPermission(mark: mark, life: unsafe life) }

  /// Begins a row in which nothing is bound, with an encoder for it.
  func begin() -> RowEncoder {
    unsafe mark.begin(life: life)
    beginInPlace()
    return RowEncoder(content: self, row: mark.row)
  }

  /// Begins a row in which nothing is bound, and for which nobody gets an encoder.
  func beginInPlace() {
    bound.beginRow()
  }

  /// Makes NULL what the row has not bound.
  func bindRest() throws {
    if !trees.isEmpty { try bindTrees() }
    try bound.forEachUnbound { parameter throws(SQLiteError) in
      try handle.bindNull(at: parameter)
    }
  }

  /// Ends the row. If somebody still has a container, it belongs to a life that is over.
  func end() {
    mark.end()
    if !trees.isEmpty || !looseTrees.isEmpty { dropTrees() }
    guard unsafe hasOthers || container?.isKept ?? false else { return }
    close()
    unsafe life = RowMark.newLife()
    unsafe hasOthers = false
  }

  /// Forgets the container, which holds this.
  func close() {
    unsafe container = nil
    unsafe containerKey = nil
  }

  /// The container for a type of keys.
  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if unsafe containerKey == ObjectIdentifier(type), let container = unsafe container {
      // An object is stored together with the identity of the key type that it was made for.
      return unsafe unsafeDowncast(container, to: Boxed<KeyedEncodingContainer<Key>>.self).copy()
    }
    return newContainer(keyedBy: type)
  }

  @inline(never)
  private func newContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    let boxed = Boxed(KeyedEncodingContainer(RowEncodingContainer<Key>(self)))
    unsafe hasOthers = container != nil
    unsafe container = boxed
    unsafe containerKey = ObjectIdentifier(type)
    return boxed.copy()
  }

  /// Returns whether the row has bound something that is not NULL.
  func isBound(_ parameter: Int32) -> Bool { bound[parameter] }

  /// The parameter of a property, 0 if it has none and is passed over.
  ///
  /// - Throws: ``UnknownColumn``.
  @inline(never)
  func missing(_ key: some CodingKey) throws -> Int32 {
    if bindsKeysOnly { return 0 }
    throw UnknownColumn(name: strategies.keys.column(for: key.stringValue))
  }

  /// The parameter of a property, or nil.
  func parameter(of key: some CodingKey) -> Int32? {
    positions[asciiLowercased(strategies.keys.column(for: key.stringValue))]
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
    let node: JSONNode
    if let parameter = parameter(of: key) {
      node = trees[parameter] ?? JSONNode()
      trees[parameter] = node
    } else if bindsKeysOnly {
      node = JSONNode()
      looseTrees.append(node)
    } else {
      return NestingEncoder(
        error: UnknownColumn(name: strategies.keys.column(for: key.stringValue)))
    }
    return TreeEncoder(node: node, codingPath: [key])
  }

  /// Ends nested values that are built up piece by piece.
  private func dropTrees() {
    for node in trees.values { node.close() }
    for node in looseTrees { node.close() }
    trees.removeAll()
    looseTrees.removeAll()
  }
}

extension EncodedRow {
  /// Binds a scalar.
  @inline(__always)
  func bind(_ scalar: some ScalarValue, at parameter: Int32) throws {
    do {
      try handle.attempt { handle throws(SQLiteError) in
        try scalar.bind(to: handle, at: parameter, forms)
      }
    } catch {
      throw named(error, parameter)
    }
    mark(parameter)
  }

  /// Binds a value of any type.
  func bind<Source: Encodable>(any value: Source, at parameter: Int32) throws {
    if let scalar = unsafe scalars.scalar(of: Source.self, at: parameter) {
      return try bind(value, as: scalar, at: parameter)
    }
    isNested = true
    do {
      try value.encode(to: ColumnEncoder(self, parameter: parameter))
    } catch is NestingSignal {
      isNested = true
    }
    guard isNested else { return }
    isNested = false
    try bind(stored: strategies.nested.stored(value), at: parameter)
  }

  @inline(__always)
  private func bind<Source>(
    _ value: Source, as scalar: any ScalarValue.Type, at parameter: Int32
  ) throws {
    do {
      // The cache found the scalar for this type, which it is.
      let isBound = try handle.use { unsafe try scalar.bind(value, to: $0, at: parameter, forms) }
      bound[parameter] = isBound
    } catch let error as SQLiteError {
      throw named(error, parameter)
    }
  }

  private func bind(stored: Value, at parameter: Int32) throws {
    try handle.bind(stored, at: parameter)
    mark(parameter)
  }

  private func bindTrees() throws {
    for (parameter, node) in trees {
      if case .coder = strategies.nested {
        throw named(
          SQLiteError(.misuse, "a nested container needs JSON, and another coder is set"),
          parameter)
      }
      try bind(stored: strategies.nested.stored(json: node.data()), at: parameter)
    }
  }
}

/// The parameters of a statement, by the coding keys of one type. Properties without a parameter are an error, or
/// are passed over by a statement for the primary key only.
///
/// A class, since the standard library copies its containers at every call.
final class RowEncodingContainer<Key: CodingKey>: ScalarKeyedEncoding, NestingKeyedEncoding {
  let row: EncodedRow
  let slots: KeySlots<Key>
  private let permission: RowPermission

  init(_ row: EncodedRow) {
    self.row = row
    permission = row.permission
    slots = KeySlots { row.parameter(of: $0) ?? KeySlots<Key>.none }
  }

  var codingPath: [any CodingKey] { [] }

  /// The parameter of a property; 0 if it is passed over.
  @inline(__always)
  private func parameter(_ key: Key) throws -> Int32 {
    guard permission.isValid else { throw SQLiteError.keptEncoder }
    let parameter = slots[key]
    return parameter < 0 ? try row.missing(key) : parameter
  }

  func encodeNil(forKey key: Key) throws {
    let parameter = try parameter(key)
    if parameter > 0 { row.bindNil(at: parameter) }
  }

  @inline(__always)
  func put(_ scalar: some ScalarValue, _ key: Key) throws {
    let parameter = try parameter(key)
    if parameter > 0 { try row.bind(scalar, at: parameter) }
  }

  @inline(__always)
  func putOptional(_ scalar: (some ScalarValue)?, _ key: Key) throws {
    if let scalar { try put(scalar, key) } else { try encodeNil(forKey: key) }
  }

  func encode(_ value: some Encodable, forKey key: Key) throws {
    let parameter = try parameter(key)
    if parameter > 0 { try row.bind(any: value, at: parameter) }
  }

  func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws {
    guard let value else { return try encodeNil(forKey: key) }
    try encode(value, forKey: key)
  }

  func encoder(forKey key: some CodingKey) -> any Encoder {
    guard permission.isValid else { return NestingEncoder(error: SQLiteError.keptEncoder) }
    return row.treeEncoder(forKey: key)
  }
}

/// Binds one value: as the single value that it encodes, or as JSON if it has containers.
///
/// Three words, so that it needs no memory of its own as `any Encoder`. Of one that is kept, everything
/// throws when its row has ended.
struct ColumnEncoder: Encoder {
  private let content: EncodedRow
  /// The number of its row.
  private let number: Int
  private let parameter: Int32

  init(_ row: EncodedRow, parameter: Int32) {
    content = row
    number = row.mark.row
    self.parameter = parameter
  }

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The row of the parameter; throws if it has ended.
  private var row: EncodedRow {
    @inline(__always) get throws {
      if content.mark.row != number { throw SQLiteError.keptEncoder }
      return content
    }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    nesting().container(keyedBy: type)
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { nesting().unkeyedContainer() }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    (try? row)?.isNested = false
    return self
  }

  /// Notes that the value has containers, all of which throw.
  private func nesting() -> NestingEncoder {
    guard let row = try? row else { return NestingEncoder(error: SQLiteError.keptEncoder) }
    row.isNested = true
    return NestingEncoder(error: NestingSignal())
  }
}

extension ColumnEncoder: ScalarEncoding {
  func encodeNil() throws { try row.bindNil(at: parameter) }

  @inline(__always)
  func put(_ scalar: some ScalarValue) throws { try row.bind(scalar, at: parameter) }

  func encode(_ value: some Encodable) throws { try row.bind(any: value, at: parameter) }
}

/// Binds the properties of one value.
///
/// Two words, so that it needs no memory of its own as `any Encoder`. Of one that is kept, everything
/// throws when its row has ended.
struct RowEncoder: RowEncoding {
  let content: EncodedRow
  /// The number of its row.
  let row: Int

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// Throws if the row has ended.
  func check() throws {
    if content.mark.row != row { throw SQLiteError.keptEncoder }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    guard content.mark.row == row else {
      return NestingEncoder(error: SQLiteError.keptEncoder).container(keyedBy: type)
    }
    return content.container(keyedBy: type)
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    NestingEncoder(error: SQLiteError.notARow).unkeyedContainer()
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    WholeRowContainer(encoder: self, error: SQLiteError.notARow)
  }
}
