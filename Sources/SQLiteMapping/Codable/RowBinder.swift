package import SQLiteCore

/// Binds `Encodable` values to the parameters of one statement, row after row.
///
/// It is made once per statement; which parameter a property is bound to is found out once. A
/// parameter that a value does not encode is NULL, whatever the row before had there. Types are handed
/// a ``RowEncoder``, and never this, which owns the statement.
package final class RowBinder {
  let content: EncodedRow
  let handle: StatementHandle

  /// Prepares to bind.
  ///
  /// - Parameters:
  ///   - statement: A statement with one parameter for each column.
  ///   - columns: The columns that parameters 1 and following stand for.
  ///   - strategies: How values are stored.
  ///   - bindsKeysOnly: Whether properties without a parameter are passed over.
  package init(
    _ statement: borrowing Statement, columns: [String], strategies: MappingStrategies,
    bindsKeysOnly: Bool = false
  ) {
    handle = statement.handle
    content = EncodedRow(
      statement.handle, columns: columns, strategies: strategies, bindsKeysOnly: bindsKeysOnly)
  }

  deinit {
    content.close()
    content.mark.giveBack()
  }

  /// Binds all properties of `value`; the statement must stand at its beginning. What is handed to the
  /// value ends with this call.
  ///
  /// - Throws: ``UnknownColumn`` for a property without a parameter; an error that names the
  ///   property if its value cannot be stored.
  package func bind(_ value: some Encodable) throws {
    let encoder = content.begin()
    defer { content.end() }
    try value.encode(to: encoder)
    try content.bindRest()
  }

  /// Says whether the value bound last had something for a parameter that is not NULL.
  package func isBound(_ parameter: Int32) -> Bool { content.isBound(parameter) }

  /// Says whether this binds to a statement.
  func binds(to statement: borrowing Statement) -> Bool { handle === statement.handle }
}

/// A property that the statement has no parameter for.
package struct UnknownColumn: Error, CustomStringConvertible {
  /// The column's name.
  package let name: String
  package var description: String { "the table has no column “\(name)”" }
}

/// Binds the properties of one value.
///
/// Two words, so that it needs no memory of its own as `any Encoder`. Of one that is kept, everything
/// throws when its row has ended.
struct RowEncoder: Encoder {
  let content: EncodedRow
  /// The number of its row.
  let row: Int

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// Throws if the row has ended.
  func check() throws {
    if content.mark.row != row { throw EncodedRow.gone }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    guard content.mark.row == row else {
      return NestingEncoder(error: EncodedRow.gone).container(keyedBy: type)
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

/// The whole row as a single value: one that encodes the properties.
struct WholeRowContainer: SingleValueEncodingContainer {
  let encoder: any Encoder
  let error: any Error

  var codingPath: [any CodingKey] { encoder.codingPath }
  func encodeNil() throws { throw error }
  func encode(_ value: some Encodable) throws {
    try (encoder as? RowEncoder)?.check()
    try (encoder as? ShapeEncoder)?.check()
    if value is any LosslessStringConvertible { throw error }
    try value.encode(to: encoder)
  }
}

extension SQLiteError {
  /// What a value throws that encodes itself as something else than properties.
  static var notARow: SQLiteError {
    SQLiteError(
      .misuse, "a row is made of properties with names, not of a single value or an array")
  }
}
