import Foundation
import SPON
import Testing
import TestSupport

@Suite struct RoundTripTests {
  @Test(arguments: seeds(0..<10))
  func `random values are unchanged after encoding and decoding`(seed: UInt64) throws {
    var source = SplitMix64(seed: seed)
    var encoder = SPONEncoder()
    let decoder = SPONDecoder()
    for round in 0..<1_000 {
      let tree = Tree.random(4, using: &source)
      encoder.outputFormatting =
        [[.sortedKeys], [.sortedKeys, .prettyPrinted], [.sortedKeys, .withoutTypeNames]][round % 3]
      let text = try encoder.encode(tree)
      let decoded = try decoder.decode(Tree.self, from: text)
      #expect(decoded == tree, "\(String(decoding: text, as: UTF8.self))")
      // String equality ignores the encoding, and number equality ignores the sign of zero.
      #expect(try encoder.encode(decoded) == text)
      // Without sorting, dictionaries may have another order but have the same content.
      encoder.outputFormatting = []
      #expect(try decoder.decode(Tree.self, from: encoder.encode(tree)) == tree)
    }
  }

  @Test(arguments: [
    Double.infinity, -.infinity, .nan, 0.0, -0.0, 0.1, 1e300, .leastNonzeroMagnitude, 1.0e15,
  ])
  func `every number keeps its bit pattern`(number: Double) throws {
    let text = try SPONEncoder().encodeText([number])
    #expect(try SPONDecoder().decode([Double].self, from: text)[0].bitPattern == number.bitPattern)
  }

  @Test func `a scalar alone is a valid text`() throws {
    #expect(try SPONEncoder().encodeText(5) == "5!")
    #expect(try SPONEncoder().encodeText("a`b") == "`a&01;b`$")
    #expect(try SPONEncoder().encodeText(Int?.none) == "~")
    #expect(try SPONEncoder().encodeText(true) == "true%")
    #expect(try SPONDecoder().decode(Int?.self, from: "~") == nil)
    #expect(try SPONDecoder().decode(Int?.self, from: " 5!\n") == 5)
    #expect(try SPONDecoder().decode(UInt128.self, from: "\(UInt128.max)!") == .max)
  }
}
