import Foundation
import SQLSyntax
import SyntaxOracle
import Testing

/// Texts that are nearly statements. `MAGICDATA_MUTATIONS` asks for more of them than a run has.
@Suite struct MutationTests {
  static let count =
    ProcessInfo.processInfo.environment["MAGICDATA_MUTATIONS"].flatMap { Int($0) } ?? 200_000

  @Test(arguments: 0..<4)
  func `each mutation is accepted or refused as SQLite does`(part: Int) throws {
    let judge = try Judge()
    var texts = (Texts.marked + Texts.bytes + Texts.meaningless.map(\.text))
      .filter { $0.refusal == nil }.map(\.sql)
    for seed in 0..<400 {
      var source = TreeSource(seed: UInt64(part * 400 + seed))
      let text = source.statement().printed()
      if text.utf8.count < 200 { texts.append(text) }
    }
    var mutations = Mutations(of: texts, keywords: Oracle.keywords, seed: UInt64(20 + part))
    var differences = Differences()
    for _ in 0..<Self.count / 4 {
      let text = mutations.next()
      if let difference = judge.difference(text) ?? judge.unfaithfulness(text) {
        differences.add(difference, text)
      }
    }
    #expect(differences.count == 0, "\(differences)")
    // Enough of both kinds, and few that say nothing.
    let counts = judge.oracle.counts
    #expect(counts.accepted + counts.meaningless > Self.count / 4 / 10, "\(counts)")
    #expect(counts.undecided < Self.count / 4 / 10, "\(counts)")
  }
}
