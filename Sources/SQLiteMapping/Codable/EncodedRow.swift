import SQLiteCore

/// What is known of the parameters of one statement, and which of them the current row has bound.
///
/// Encoders and containers hold it, so that it may be kept. Everything in it but ``mark`` belongs to
/// the thread that binds the row: who may have been kept asks the mark before anything else.
final class EncodedRow {
  let handle: BorrowedHandle
  let strategies: MappingStrategies
  let forms: ScalarForms
  /// Says which row is being bound.
  let mark = RowMark()
  /// Set while a value is encoded that has not said yet that it is a single one.
  var isNested = false

  private let columns: [String]
  private let positions: [String: Int32]
  private let bound: BoundParameters
  /// Whether properties without a parameter are passed over.
  private let bindsKeysOnly: Bool
  private var trees: [Int32: JSONNode] = [:]
  /// What is encoded of properties that are passed over.
  private var looseTrees: [JSONNode] = []

  // Nobody else has a part in these, and to check that costs as much as to bind a value.
  @exclusivity(unchecked) private var life = RowMark.newLife()
  @exclusivity(unchecked) private var container: HandedOut?
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
  var ticket: RowTicket { RowTicket(mark: mark, life: unsafe life) }

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

  /// What a container throws that is kept, and of a kept encoder everything.
  static var gone: SQLiteError {
    SQLiteError(.misuse, "it was kept after its value was encoded")
  }

  /// Says whether the row has bound something that is not NULL.
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
    if let scalar = unsafe scalars.scalar(of: Source.self, at: parameter),
      try bind(value, as: scalar, at: parameter)
    {
      return
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

  private func bind<Source, Scalar: ScalarValue>(
    _ value: Source, as scalar: Scalar.Type, at parameter: Int32
  ) throws -> Bool {
    guard let value = same(value, as: scalar) else { return false }
    if value.isNil {
      bindNil(at: parameter)
    } else {
      try bind(value, at: parameter)
    }
    return true
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
