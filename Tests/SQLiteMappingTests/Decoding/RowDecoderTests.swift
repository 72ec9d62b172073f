import Conformance
import Foundation
import SQLiteCore
import SQLiteMapping
import Testing

@Suite(.everyEngine) struct RowDecoderTests {
  struct Row: Codable {
    var number: Int
    var name: String?
  }

  /// A type that stores its decoding container, which is valid only while its row is decoded.
  struct EscapingRow: Decodable {
    enum CodingKeys: CodingKey { case number, other }

    let container: KeyedDecodingContainer<CodingKeys>
    let number: Int

    init(from decoder: any Decoder) throws {
      container = try decoder.container(keyedBy: CodingKeys.self)
      number = try container.decode(Int.self, forKey: .number)
    }
  }

  /// A type that runs a query while its row is decoded.
  struct QueryingRow: Decodable {
    enum CodingKeys: CodingKey { case number, name }
    static let other = Result { try Database.memory() }

    let number: Int
    let others: [Row]
    let name: String

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      number = try container.decode(Int.self, forKey: .number)
      others = try Self.other.get().read {
        try $0.fetch(.sql("SELECT 7 AS number, 'x' AS name UNION ALL SELECT 8, NULL", as: Row.self))
      }
      name = try container.decode(String.self, forKey: .name)
    }
  }

  @Test func `an escaped container is empty after its row was decoded`() throws {
    let database = try Database.fresh()
    let values = try database.read {
      try $0.fetch(.sql("SELECT 1 AS number UNION ALL SELECT 2", as: EscapingRow.self))
    }
    #expect(values.map(\.number) == [1, 2])
    for value in values {
      #expect(throws: DecodingError.self) {
        try value.container.decode(Int.self, forKey: .number)
      }
      #expect(throws: DecodingError.self) { try value.container.decodeNil(forKey: .number) }
      #expect(!value.container.contains(.number))
      #expect(value.container.allKeys.isEmpty)
    }
    // The new decoder may be allocated at the address of the old one.
    let later = try database.read { try $0.fetch(.sql("SELECT 3 AS number", as: EscapingRow.self)) }
    #expect(later.map(\.number) == [3])
    #expect(throws: DecodingError.self) {
      try values[0].container.decode(Int.self, forKey: .number)
    }
  }

  @Test func `a type can run a query while it is decoded`() throws {
    let values = try Database.fresh().read {
      try $0.fetch(
        .sql("SELECT 1 AS number, 'one' AS name UNION ALL SELECT 2, 'two'", as: QueryingRow.self))
    }
    #expect(values.map(\.name) == ["one", "two"])
    #expect(values.map(\.others.count) == [2, 2])
  }

  @Test func `a row reader is freed with its statement`() throws {
    weak var reader: RowReader?
    try Database.fresh().read { connection in
      var statement = try connection.statement("SELECT 1 AS number, NULL AS name")
      _ = try statement.step()
      let strong = RowReader(statement, as: Row.self, strategies: MappingStrategies())
      #expect(try strong.row(as: Row.self).number == 1)
      reader = strong
    }
    #expect(reader == nil)
  }

  @Test func `a row binder is freed with its statement`() throws {
    weak var binder: RowBinder?
    try Database.fresh().read { connection in
      let statement = try connection.statement("SELECT ?1, ?2")
      let strong = RowBinder(
        statement, columns: ["number", "name"], strategies: MappingStrategies())
      try strong.bind(Row(number: 1))
      binder = strong
    }
    #expect(binder == nil)
  }
}
