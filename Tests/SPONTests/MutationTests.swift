import Foundation
import Fuzzing
import SPON
import Testing
import TestSupport

@Suite struct MutationTests {
  private static let samples: [String] = [
    "@obj:Address<state$=`TX` city$=`Seabrook` addr1$=`25 Nasa Rd 1` zip$=`77586`>",
    "@array[1!, 2.5&, 0.5^, true%, `a,b`$, `2017-10-13T12:00:00.25Z`#, QUJD*, ~, @array[], @obj<>]",
    "@obj<`home addr`$=`&01;&00;&u1F600;` a=@obj<b~ c%=`true`> d=@array[@array[1!], @array[]]>",
    "@array[<null>?, 1!, `text`, 2017-10-13 12:00:00 +0000?, 255?]",
    "@obj<d?=`2017-10-13 12:00:00 +0000` e!=`-9223372036854775808` f*=`QQ==` g&=`1e-05`>",
    "@array[\n  12!\n]\n",
  ]

  @Test func `the samples are SPON`() throws {
    for sample in Self.samples { #expect(try SPONFuzz.check(Array(sample.utf8))) }
  }

  @Test(arguments: seeds(0..<8))
  func `mutated texts throw or have the same meaning after they are encoded again`(
    seed: UInt64
  ) throws {
    var source = SplitMix64(seed: seed)
    var read = 0
    for _ in 0..<4_000 {
      var bytes = Array((Self.samples.randomElement(using: &source) ?? "").utf8)
      for _ in 0..<Int.random(in: 1...4, using: &source) { mutate(&bytes, using: &source) }
      if try SPONFuzz.check(bytes) { read += 1 }
    }
    #expect(read > 100)
  }

  @Test func `every prefix of a text throws`() throws {
    for sample in Self.samples.prefix(5) {
      let bytes = Array(sample.utf8)
      for count in bytes.indices {
        #expect(try SPONFuzz.check(Array(bytes[..<count])) == false, "\(sample.prefix(count))")
      }
    }
  }

  private func mutate(_ bytes: inout [UInt8], using source: inout SplitMix64) {
    let place = Int.random(in: 0...bytes.count, using: &source)
    let marks = Array("@<>[]`&;=~!$%^*?#:, 0a\u{e9}\n".utf8)
    switch Int.random(in: 0...5, using: &source) {
    case 0: bytes.insert(marks.randomElement(using: &source) ?? 0, at: place)
    case 1: bytes.insert(.random(in: 0...255, using: &source), at: place)
    case 2: if place < bytes.count { bytes.remove(at: place) }
    case 3: if place < bytes.count { bytes[place] = marks.randomElement(using: &source) ?? 0 }
    case 4:
      let end = min(bytes.count, place + Int.random(in: 0...12, using: &source))
      bytes.insert(
        contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &source))
    default:
      bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 0...6, using: &source)))
    }
  }
}
