package import SQLiteCore

/// Finds out the columns of a type, and what one value of it stores in them.
///
/// A `Decodable` type cannot be asked for its properties; a value that encodes itself shows them,
/// those that are nil too, as long as it encodes them by `encodeIfPresent` or `encodeNil`.
package final class ShapeEncoder: RowEncoding {
  /// The columns, in the order in which they were encoded first.
  package private(set) var columns: [ColumnDefinition] = []
  /// The stored form of the value in each column.
  package private(set) var values: [Value] = []
  package var codingPath: [any CodingKey] { [] }
  package var userInfo: [CodingUserInfoKey: Any] { [:] }

  let strategies: MappingStrategies
  private var positions: [String: Int] = [:]
  private var properties: [String: String] = [:]
  private var trees: [(name: String, node: JSONNode)] = []
  private var failure: (any Error)?
  /// Whether the value is encoded: what it has kept throws from then on.
  private var isDone = false
  /// The only column that is looked at, or nil for all.
  private let only: String?

  /// Encodes `value`.
  ///
  /// - Parameters:
  ///   - value: A value.
  ///   - strategies: How values are stored.
  ///   - only: The only column to look at, which is several times cheaper, or nil for all.
  /// - Throws: ``SQLiteError`` if it is not made of properties with names, or if two of them have
  ///   one column by SQLite's rule, which takes `name` and `Name` for one.
  package init(
    _ value: some Encodable, strategies: MappingStrategies, only: String? = nil
  ) throws {
    self.strategies = strategies
    self.only = only
    defer {
      isDone = true
      for (_, node) in trees { node.close() }
    }
    try value.encode(to: self)
    if let failure { throw failure }
    for (name, node) in trees {
      set(
        name,
        StoredForm(
          type: strategies.nested.columnType, value: strategies.nested.stored(json: try node.data())
        ))
    }
    guard only != nil || !columns.isEmpty else { throw SQLiteError.notARow }
  }

  /// Returns the stored form of the value in a column; NULL if it has none.
  package func value(in column: String) -> Value {
    positions[asciiLowercased(column)].map { values[$0] } ?? .null
  }

  package func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    isDone
      ? NestingEncoder(error: SQLiteError.keptEncoder).container(keyedBy: type)
      : KeyedEncodingContainer(ShapeContainer(shape: self))
  }

  package func unkeyedContainer() -> any UnkeyedEncodingContainer {
    failure = failure ?? SQLiteError.notARow
    return NestingEncoder(error: SQLiteError.notARow).unkeyedContainer()
  }

  package func singleValueContainer() -> any SingleValueEncodingContainer {
    WholeRowContainer(encoder: self, error: SQLiteError.notARow)
  }
}

extension ShapeEncoder {
  /// Notes a property.
  func add(_ key: some CodingKey, _ form: StoredForm) throws {
    let name = strategies.keys.column(for: key.stringValue)
    let folded = asciiLowercased(name)
    if let other = properties[folded], other != key.stringValue {
      throw SQLiteError(
        .misuse, "the properties “\(other)” and “\(key.stringValue)” are one column to SQLite")
    }
    properties[folded] = key.stringValue
    set(name, form)
  }

  /// Throws if the value is encoded.
  func check() throws {
    if isDone { throw SQLiteError.keptEncoder }
  }

  /// Returns whether a property's column is looked at.
  ///
  /// - Throws: ``SQLiteError`` if the value is encoded.
  func isWanted(_ key: some CodingKey) throws -> Bool {
    try check()
    return only == nil || isWanted(strategies.keys.column(for: key.stringValue))
  }

  private func isWanted(_ name: String) -> Bool {
    guard let only, name != only else { return true }
    return name.utf8.count == only.utf8.count && asciiLowercased(name) == asciiLowercased(only)
  }

  private func set(_ name: String, _ form: StoredForm) {
    if let position = positions[asciiLowercased(name)] {
      values[position] = form.value
      columns[position].type = form.type
      columns[position].isOptional = form.isOptional
    } else {
      positions[asciiLowercased(name)] = columns.count
      columns.append(ColumnDefinition(name, form.type, isOptional: form.isOptional))
      values.append(form.value)
    }
  }

  /// An encoder for a nested value that is built up piece by piece.
  func treeEncoder(forKey key: some CodingKey) -> any Encoder {
    if isDone { return NestingEncoder(error: SQLiteError.keptEncoder) }
    guard only == nil || isWanted(strategies.keys.column(for: key.stringValue)) else {
      return TreeEncoder(node: JSONNode(), codingPath: [key])
    }
    do {
      try add(key, StoredForm(type: strategies.nested.columnType, value: .null))
    } catch {
      failure = failure ?? error
    }
    let name = strategies.keys.column(for: key.stringValue)
    if let known = trees.first(where: { $0.name == name }) {
      return TreeEncoder(node: known.node, codingPath: [key])
    }
    trees.append((name, JSONNode()))
    return TreeEncoder(node: trees[trees.count - 1].node, codingPath: [key])
  }
}

/// Notes each property that is encoded.
struct ShapeContainer<Key: CodingKey>: ScalarKeyedEncoding, NestingKeyedEncoding {
  let shape: ShapeEncoder
  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) throws {
    guard try shape.isWanted(key) else { return }
    try shape.add(key, StoredForm(type: .blob, isOptional: true, value: .null))
  }

  func put<Scalar: ScalarValue>(_ scalar: Scalar, _ key: Key) throws {
    try encode(scalar, isOptional: false, key)
  }

  func putOptional<Scalar: ScalarValue>(_ scalar: Scalar?, _ key: Key) throws {
    try encode(scalar, isOptional: true, key)
  }

  private func encode<Scalar: ScalarValue>(
    _ scalar: Scalar?, isOptional: Bool, _ key: Key
  ) throws {
    guard try shape.isWanted(key) else { return }
    try note(key) {
      StoredForm(
        type: Scalar.columnType(shape.strategies.scalars), isOptional: isOptional,
        value: try scalar?.stored(shape.strategies.scalars) ?? .null)
    }
  }

  func encode<Source: Encodable>(_ value: Source, forKey key: Key) throws {
    guard try shape.isWanted(key) else { return }
    try refuseTwoNils(Source.self, key)
    try note(key) { try shape.strategies.form(of: value) }
  }

  func encodeIfPresent<Source: Encodable>(_ value: Source?, forKey key: Key) throws {
    guard try shape.isWanted(key) else { return }
    try refuseTwoNils(Source?.self, key)
    try note(key) {
      var form =
        try value.map { try shape.strategies.form(of: $0) }
        ?? StoredForm(type: Storage(of: Source.self, shape.strategies).columnType, value: .null)
      form.isOptional = true
      return form
    }
  }

  /// Notes a property's form; an error names the property.
  private func note(_ key: Key, _ form: () throws -> StoredForm) throws {
    let noted: StoredForm
    do {
      noted = try form()
    } catch let error as SQLiteError {
      throw SQLiteError(error.code, "“\(key.stringValue)”: \(error.message)")
    }
    try shape.add(key, noted)
  }

  private func refuseTwoNils(_ type: Any.Type, _ key: Key) throws {
    guard isOptionalOfOptional(type) else { return }
    throw SQLiteError(
      .mismatch,
      "“\(key.stringValue)” is an optional of an optional, and NULL is only one nil")
  }

  func encoder(forKey key: some CodingKey) -> any Encoder { shape.treeEncoder(forKey: key) }
}
