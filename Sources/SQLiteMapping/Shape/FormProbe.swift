/// Asks a `Decodable` type what it would read from a column, without a value: its `init(from:)` runs
/// until it asks for the first thing.
struct FormProbe: Decoder, SingleValueDecodingContainer {
  private struct Answer: Error {
    let type: ColumnType
  }

  private let strategies: MappingStrategies
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// What a column of `type` prefers to store; a blob, which takes anything, if it does not say.
  static func columnType(
    of type: any Decodable.Type, strategies: MappingStrategies
  ) -> ColumnType {
    do {
      _ = try type.init(from: FormProbe(strategies: strategies))
      return .blob
    } catch let answer as Answer {
      return answer.type
    } catch {
      return .blob
    }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw Answer(type: strategies.nested.columnType)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw Answer(type: strategies.nested.columnType)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { false }

  func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
    throw Answer(type: ColumnForm(of: type, strategies: strategies).type)
  }
}
