import SQLiteCore

/// Reads one column: as a single value what is stored, as a container the JSON in it.
///
/// Three words, so that it needs no memory of its own as `any Decoder`. One that is kept throws when
/// its row has ended.
struct ColumnDecoder: Decoder {
  private let content: DecodedRow
  /// The number of its row.
  private let number: Int
  private let column: Int32

  init(_ row: DecodedRow, column: Int32) {
    content = row
    number = row.mark.row
    self.column = column
  }

  var codingPath: [any CodingKey] { (try? row)?.path(to: column) ?? [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// What the column is in; throws if the row has ended.
  private var row: DecodedRow {
    @inline(__always) get throws {
      if content.mark.row != number { throw DecodedRow.gone }
      return content
    }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try nested().container(keyedBy: type)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try nested().unkeyedContainer()
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    _ = try row
    return self
  }

  /// A decoder for the nested value in the column.
  private func nested() throws -> any Decoder {
    let row = try self.row
    do {
      switch row.strategies.nested {
      case .text: return try json(row, ofText: true)
      case .blob: return try json(row, ofText: false)
      case .coder(let coder):
        return try coder.decode(Passthrough.self, from: row.handle.value(at: column)).decoder
      }
    } catch let error as DecodingError {
      throw row.error(error, at: column)
    } catch let error as SQLiteError {
      throw row.error(error.message, at: column)
    }
  }

  private func json(_ row: DecodedRow, ofText isText: Bool) throws -> any Decoder {
    guard let json = row.handle.data(at: column, ofText: isText) else {
      throw row.error("expected JSON as \(isText ? "TEXT" : "BLOB")", at: column)
    }
    return try NestedJSON.decoder(of: json)
  }
}

extension ColumnDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool {
    // It cannot throw, but what is asked for next does.
    (try? row)?.handle.isNull(at: column) ?? false
  }
  func decode(_ type: Bool.Type) throws -> Bool { try row.boolean(at: column) }
  func decode(_ type: String.Type) throws -> String { try row.text(at: column) }
  func decode(_ type: Double.Type) throws -> Double { try row.double(at: column) }
  func decode(_ type: Float.Type) throws -> Float { try row.float(at: column) }
  func decode(_ type: Int.Type) throws -> Int { try row.integer(type, at: column) }
  func decode(_ type: Int8.Type) throws -> Int8 { try row.integer(type, at: column) }
  func decode(_ type: Int16.Type) throws -> Int16 { try row.integer(type, at: column) }
  func decode(_ type: Int32.Type) throws -> Int32 { try row.integer(type, at: column) }
  func decode(_ type: Int64.Type) throws -> Int64 { try row.integer(type, at: column) }
  func decode(_ type: UInt.Type) throws -> UInt { try row.integer(type, at: column) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try row.integer(type, at: column) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try row.integer(type, at: column) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try row.integer(type, at: column) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try row.integer(type, at: column) }
  func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
    try row.value(type, at: column)
  }
}
