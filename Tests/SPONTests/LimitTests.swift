import Foundation
import SPON
import Testing

@Suite struct LimitTests {
  indirect enum Chain: Codable {
    case end
    case link([Chain])

    func encode(to encoder: any Encoder) throws {
      var array = encoder.unkeyedContainer()
      if case .link(let chains) = self { for chain in chains { try array.encode(chain) } }
    }

    init(from decoder: any Decoder) throws {
      var array = try decoder.unkeyedContainer()
      self = array.isAtEnd ? .end : .link([try array.decode(Chain.self)])
    }

    init(depth: Int) {
      self = .end
      for _ in 1..<depth { self = .link([self]) }
    }
  }

  private func nested(_ depth: Int) -> String {
    String(repeating: "@array[", count: depth) + String(repeating: "]", count: depth)
  }

  @Test func `containers can be 512 levels deep and no deeper`() throws {
    _ = try SPONDecoder().decode(Chain.self, from: SPONEncoder().encode(Chain(depth: 512)))
    #expect(throws: EncodingError.self) { try SPONEncoder().encode(Chain(depth: 513)) }
    let error = #expect(throws: SPONSyntaxError.self) {
      try SPONDecoder().decode(Chain.self, from: nested(513))
    }
    #expect(error?.offset == 513 * 7)
    var decoder = SPONDecoder()
    decoder.maximumDepth = 2
    _ = try decoder.decode(Chain.self, from: nested(2))
    #expect(throws: SPONSyntaxError.self) { try decoder.decode(Chain.self, from: nested(3)) }
  }

  @Test func `a million opening brackets throw and don't crash`() throws {
    for text in ["@array[", "@obj<a=", "`", "&", "<", "@obj:"] {
      #expect(throws: SPONSyntaxError.self) {
        try SPONDecoder().decode(Chain.self, from: String(repeating: text, count: 1_000_000))
      }
    }
  }

  @Test func `a text above the maximum size throws`() throws {
    var decoder = SPONDecoder()
    decoder.maximumSize = 10
    #expect(try decoder.decode(String.self, from: "`12345678`") == "12345678")
    let error = #expect(throws: SPONSyntaxError.self) {
      try decoder.decode(String.self, from: "`123456789`")
    }
    #expect(error?.offset == 10)
  }

  @Test(
    arguments: [
      [0x60, 0x61, 0xff, 0x60, 0x24], [0x60, 0xc3, 0x60, 0x24],
      [0x60, 0x61, 0xed, 0xa0, 0x80, 0x60, 0x24],
    ] as [[UInt8]])
  func `bytes that aren't UTF-8 throw an error with their offset`(bytes: [UInt8]) throws {
    let error = #expect(throws: SPONSyntaxError.self) {
      try SPONDecoder().decode(String.self, from: Data(bytes))
    }
    #expect(error?.reason == "the text is not valid UTF-8")
    #expect(error?.offset == bytes.firstIndex { $0 > 0x7f })
  }

  @Test func `many members with colliding hashes are distinguished`() throws {
    let keys = (0..<10_000).map { "k\($0 % 7)\($0)" }
    let text = "@obj<" + keys.map { "\($0)!=`1`" }.joined(separator: " ") + ">"
    #expect(try SPONDecoder().decode([String: Int].self, from: text).count == keys.count)
    #expect(throws: SPONSyntaxError.self) {
      try SPONDecoder().decode(
        [String: Int].self,
        from: "@obj<" + (keys + ["k00"]).map { "\($0)!=`1`" }.joined(separator: " ") + ">")
    }
  }
}
