import Foundation
import SPON
import Testing

@Suite struct CoderTests {
  struct Event: Codable, Equatable {
    var eventName: String
    var startDate: Date
    var payload: Data
    var rawURL: URL?
    var price: Decimal
  }

  let event = Event(
    eventName: "x", startDate: Date(timeIntervalSince1970: 1_500_000_000.25),
    payload: Data([0, 255]), rawURL: URL(string: "https://example.org/?a=b&c"), price: 12.5)

  @Test func `Foundation values have their own markers`() throws {
    let text = try SPONEncoder().encodeText(event)
    #expect(
      text
        == "@obj:Event<eventName$=`x` startDate#=`2017-07-14T02:40:00.25Z` payload*=`AP8=` "
        + "rawURL$=`https://example.org/?a=b&00;c` price$=`12.5`>")
    #expect(try SPONDecoder().decode(Event.self, from: text) == event)
  }

  @Test(arguments: [
    (
      SPONEncoder.DateEncodingStrategy.deferredToDate,
      SPONDecoder.DateDecodingStrategy.deferredToDate
    ),
    (.secondsSince1970, .secondsSince1970), (.millisecondsSince1970, .millisecondsSince1970),
    (.iso8601, .iso8601),
    (
      .custom { date, encoder in
        var container = encoder.singleValueContainer()
        try container.encode(["at": date.timeIntervalSince1970])
      },
      .custom { decoder in
        let seconds = try decoder.singleValueContainer().decode([String: Double].self)["at"]
        return Date(timeIntervalSince1970: try #require(seconds))
      }
    ),
  ])
  func `each date strategy decodes what it encodes`(
    encoding: SPONEncoder.DateEncodingStrategy, decoding: SPONDecoder.DateDecodingStrategy
  ) throws {
    var encoder = SPONEncoder()
    var decoder = SPONDecoder()
    encoder.dateEncodingStrategy = encoding
    decoder.dateDecodingStrategy = decoding
    let date = Date(timeIntervalSince1970: 1_500_000_000)
    let dates = ["a": [date, date]]
    #expect(try decoder.decode([String: [Date]].self, from: encoder.encode(dates)) == dates)
    #expect(try decoder.decode(Date.self, from: encoder.encode(date)) == date)
  }

  @Test func `data can be encoded as an array of bytes or by a custom strategy`() throws {
    var encoder = SPONEncoder()
    var decoder = SPONDecoder()
    encoder.dataEncodingStrategy = .deferredToData
    decoder.dataDecodingStrategy = .deferredToData
    let text = try encoder.encodeText([Data([1, 2])])
    #expect(text == "@array[@array[1!, 2!]]")
    #expect(try decoder.decode([Data].self, from: text) == [Data([1, 2])])
    encoder.dataEncodingStrategy = .custom { data, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(data.count)
    }
    #expect(try encoder.encodeText([Data([1, 2])]) == "@array[2!]")
  }

  @Test func `non-finite numbers can be encoded as strings or throw`() throws {
    var encoder = SPONEncoder()
    var decoder = SPONDecoder()
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "+", negativeInfinity: "-", nan: "?")
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "+", negativeInfinity: "-", nan: "?")
    let text = try encoder.encodeText([1, .infinity, -.infinity] as [Double])
    #expect(text == "@array[1.0&, `+`$, `-`$]")
    #expect(try decoder.decode([Double].self, from: text) == [1, .infinity, -.infinity])
    encoder.nonConformingFloatEncodingStrategy = .throw
    decoder.nonConformingFloatDecodingStrategy = .throw
    #expect(throws: EncodingError.self) { try encoder.encode(["a": Float.nan]) }
    #expect(throws: DecodingError.self) { try decoder.decode([Double].self, from: "@array[inf&]") }
  }

  @Test func `keys can be converted to and from snake case`() throws {
    var encoder = SPONEncoder()
    var decoder = SPONDecoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let value = ["someURLValue": 1]
    #expect(try encoder.encodeText(value) == "@obj:Dictionary<some_url_value!=`1`>")
    var plain = event
    plain.rawURL = nil
    #expect(try decoder.decode(Event.self, from: encoder.encode(plain)) == plain)
    #expect(try decoder.decode([String: Int].self, from: "@obj<_a_b_!=`1`>") == ["_aB_": 1])
    #expect(throws: EncodingError.self) { try encoder.encode(["aB": 1, "a_b": 2]) }
  }

  @Test func `a number can be decoded as each type that represents it exactly`() throws {
    let decoder = SPONDecoder()
    #expect(try decoder.decode(Double.self, from: "3!") == 3)
    #expect(try decoder.decode(Int.self, from: "3.0&") == 3)
    #expect(try decoder.decode(Double.self, from: "0.1^") == Double(Float(0.1)))
    #expect(try decoder.decode(Float.self, from: "0.5&") == 0.5)
    #expect(try decoder.decode(Decimal.self, from: "0.1&") == Decimal(string: "0.1"))
    for (text, type) in [
      ("2.5&", Int.self as any Decodable.Type), ("300!", Int8.self), ("-1!", UInt.self),
      ("0.1&", Float.self), ("9007199254740993!", Double.self), ("x!", Int.self), ("+5!", Int.self),
      ("0x10&", Double.self), ("yes%", Bool.self), ("5!", String.self), ("`5`$", Int.self),
      ("A*", Data.self), ("`2017-02-30T00:00:00Z`#", Date.self), ("`1x`$", Decimal.self),
    ] {
      #expect(throws: DecodingError.self, "\(text)") { try decoder.decode(type, from: text) }
    }
  }

  @Test(arguments: [
    "1e99999999999", "1e127", "1e-999999", "-", "e", "+-1", "1.2.3", "NaN", "",
    String(repeating: "9", count: 100_000),
  ])
  func `extreme decimal numbers are decoded or throw`(text: String) throws {
    _ = try? SPONDecoder().decode(Decimal.self, from: "`\(text)`$")
    _ = try? SPONDecoder().decode(Double.self, from: "`\(text)`&")
    _ = try? SPONDecoder().decode(Int128.self, from: "`\(text)`!")
    #expect(throws: DecodingError.self) {
      try SPONDecoder().decode(Bool.self, from: "`\(text)`%")
    }
  }

  @Test func `an error contains the offset and the coding path`() throws {
    let error = #expect(throws: DecodingError.self) {
      try SPONDecoder().decode(
        [String: [Int]].self, from: "@obj<a=@array[1!] b=@array[1!, `x`$]>")
    }
    guard case .typeMismatch(_, let context) = error else { throw error ?? CancellationError() }
    #expect(context.codingPath.map(\.stringValue) == ["b", "Index 1"])
    #expect(context.codingPath.last?.intValue == 1)
    #expect(context.debugDescription == "byte 32: expected an integer (!), found text ($)")
  }

  @Test func `two thousand members are found in any order`() throws {
    let map = Dictionary(uniqueKeysWithValues: (0..<2_000).map { ("key \($0)", $0) })
    let text = try SPONEncoder().encode(map)
    #expect(try SPONDecoder().decode([String: Int].self, from: text) == map)
    struct Some: Decodable {
      var values: [Int]
      init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Name.self)
        values = try (0..<2_000).reversed().map {
          try object.decode(Int.self, forKey: Name("key \($0)"))
        }
      }
    }
    #expect(try SPONDecoder().decode(Some.self, from: text).values == (0..<2_000).reversed())
  }
}

/// A coding key with any name.
struct Name: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }
  init(_ text: String) { stringValue = text }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { return nil }
}
