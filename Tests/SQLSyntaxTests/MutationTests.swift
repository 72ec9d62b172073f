import Foundation
import SyntaxOracle
import Testing

/// Texts that are nearly statements. `MAGICDATA_MUTATIONS` asks for more of them than a run has.
@Suite struct MutationTests {
  static let count =
    ProcessInfo.processInfo.environment["MAGICDATA_MUTATIONS"].flatMap { Int($0) } ?? 200_000

  @Test(arguments: 0..<4)
  func `each mutation is accepted or refused as SQLite does`(part: Int) throws {
    let judge = try Judge()
    let texts = (Texts.marked + Texts.bytes + Texts.meaningless.map(\.text)).map(\.sql)
    var mutations = Mutations(of: texts, keywords: Oracle.keywords, seed: UInt64(20 + part))
    var differences = Differences()
    for _ in 0..<Self.count / 4 {
      let text = mutations.next()
      if let difference = judge.difference(text) { differences.add(difference, text) }
    }
    #expect(differences.count == 0, "\(differences)")
  }
}
