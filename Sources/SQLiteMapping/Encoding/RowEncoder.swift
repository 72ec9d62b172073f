import SQLiteCore

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

extension SQLiteError {
  /// What a value throws that encodes itself as something else than properties.
  static var notARow: SQLiteError {
    SQLiteError(
      .misuse, "a row is made of properties with names, not of a single value or an array")
  }
}
