/// Reads one row of a statement, or those of its columns that belong to one property.
///
/// Two words, so that it needs no memory of its own as `any Decoder`. One that is kept throws when its
/// row has ended.
@usableFromInline package struct RowDecoder: Decoder {
  let content: DecodedRow
  /// The number of its row.
  let row: Int

  @usableFromInline package var codingPath: [any CodingKey] { content.codingPath }
  @usableFromInline package var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// Reads a value of a nested type.
  func value<Result: Decodable>(as type: Result.Type) throws -> Result {
    try check()
    do {
      if content.isSingle, content.hasOwnForm(type) { return try content.value(type, at: 0) }
      return try Result(from: self)
    } catch {
      throw content.named(error)
    }
  }

  /// Throws if the row has ended.
  @inline(__always)
  private func check() throws {
    if content.mark.row != row { throw DecodedRow.gone }
  }

  @usableFromInline package func container<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    try check()
    return content.container(keyedBy: type)
  }

  @usableFromInline package func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try only("an array").unkeyedContainer()
  }

  @usableFromInline package func singleValueContainer() throws -> any SingleValueDecodingContainer {
    try check()
    return self
  }

  /// A decoder for the only column.
  private func only(_ wanted: String) throws -> ColumnDecoder {
    try check()
    return try content.onlyColumn(for: wanted)
  }
}

/// The row as a single value: its only column, or a value that reads the row itself.
extension RowDecoder: SingleValueDecodingContainer {
  @usableFromInline package func decodeNil() -> Bool {
    // It cannot throw, but what is asked for next does.
    content.mark.row == row && content.isNull
  }
  @usableFromInline package func decode(_ type: Bool.Type) throws -> Bool {
    try only("\(type)").decode(type)
  }
  @usableFromInline package func decode(_ type: String.Type) throws -> String {
    try only("\(type)").decode(type)
  }
  @usableFromInline package func decode(_ type: Double.Type) throws -> Double {
    try only("\(type)").decode(type)
  }
  @usableFromInline package func decode(_ type: Float.Type) throws -> Float {
    try only("\(type)").decode(type)
  }
  @usableFromInline package func decode(_ type: Int.Type) throws -> Int {
    try only("\(type)").decode(type)
  }
  @usableFromInline package func decode(_ type: Int8.Type) throws -> Int8 {
    try only("\(type)").decode(type)
  }
  @usableFromInline package func decode(_ type: Int16.Type) throws -> Int16 {
    try only("\(type)").decode(type)
  }
  @usableFromInline package func decode(_ type: Int32.Type) throws -> Int32 {
    try only("\(type)").decode(type)
  }
  @usableFromInline package func decode(_ type: Int64.Type) throws -> Int64 {
    try only("\(type)").decode(type)
  }
  @usableFromInline package func decode(_ type: UInt.Type) throws -> UInt {
    try only("\(type)").decode(type)
  }
  @usableFromInline package func decode(_ type: UInt8.Type) throws -> UInt8 {
    try only("\(type)").decode(type)
  }
  @usableFromInline package func decode(_ type: UInt16.Type) throws -> UInt16 {
    try only("\(type)").decode(type)
  }
  @usableFromInline package func decode(_ type: UInt32.Type) throws -> UInt32 {
    try only("\(type)").decode(type)
  }
  @usableFromInline package func decode(_ type: UInt64.Type) throws -> UInt64 {
    try only("\(type)").decode(type)
  }
  @usableFromInline package func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
    try value(as: type)
  }
}
