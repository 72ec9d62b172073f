package import SQLiteCore

/// Binds `Encodable` values to the parameters of one statement, row after row.
///
/// It is made once per statement; which parameter a property is bound to is found out once. A
/// parameter that a value does not encode is NULL, whatever the row before had there.
package final class RowEncoder: Encoder {
  package var codingPath: [any CodingKey] { [] }
  package var userInfo: [CodingUserInfoKey: Any] { [:] }

  let content: EncodedRow
  /// Whether properties without a parameter are passed over.
  private let bindsKeysOnly: Bool
  // Nobody else has a part in these, and to check that costs as much as to bind a value.
  @exclusivity(unchecked) private var container: AnyObject?
  @exclusivity(unchecked) private var containerKey: ObjectIdentifier?

  /// Prepares to bind.
  ///
  /// - Parameters:
  ///   - statement: A statement with one parameter for each column; it must outlive the encoder.
  ///   - columns: The columns that parameters 1 and following stand for.
  ///   - strategies: How values are stored.
  ///   - bindsKeysOnly: Whether properties without a parameter are passed over.
  package init(
    _ statement: borrowing Statement, columns: [String], strategies: MappingStrategies,
    bindsKeysOnly: Bool = false
  ) {
    self.bindsKeysOnly = bindsKeysOnly
    content = EncodedRow(statement.handle, columns: columns, strategies: strategies)
  }

  /// Binds all properties of `value`; the statement must stand at its beginning.
  ///
  /// - Throws: ``UnknownColumn`` for a property without a parameter; an error that names the
  ///   property if its value cannot be stored.
  package func bind(_ value: some Encodable) throws {
    content.begin()
    try value.encode(to: self)
    try content.end()
  }

  /// Says whether the value bound last had something for a parameter that is not NULL.
  package func isBound(_ parameter: Int32) -> Bool { content.isBound(parameter) }

  /// Says whether the encoder binds to a statement.
  func binds(to statement: borrowing Statement) -> Bool { content.handle === statement.handle }

  package func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if unsafe containerKey == ObjectIdentifier(type), let container = unsafe container {
      // An object is stored together with the identity of the key type that it was made for.
      return unsafe unsafeDowncast(container, to: Boxed<KeyedEncodingContainer<Key>>.self).copy()
    }
    return newContainer(keyedBy: type)
  }

  @inline(never)
  private func newContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    let boxed = Boxed(
      bindsKeysOnly
        ? KeyedEncodingContainer(KeyEncodingContainer<Key>(content))
        : KeyedEncodingContainer(RowEncodingContainer<Key>(content)))
    unsafe container = boxed
    unsafe containerKey = ObjectIdentifier(type)
    return boxed.copy()
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

/// A property that the statement has no parameter for.
package struct UnknownColumn: Error, CustomStringConvertible {
  /// The column's name.
  package let name: String
  package var description: String { "the table has no column “\(name)”" }
}
