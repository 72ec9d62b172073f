import Foundation
import SQLSyntax
import SyntaxOracle
import Testing

/// Tests texts that are almost statements. `MAGICDATA_MUTATIONS` sets their number.
@Suite struct MutationTests {
  static let count =
    ProcessInfo.processInfo.environment["MAGICDATA_MUTATIONS"].flatMap { Int($0) } ?? 200_000

  @Test(arguments: 0..<4)
  func `each mutation is accepted or rejected like in SQLite`(part: Int) throws {
    let judge = try Judge()
    var texts = (Texts.marked + Texts.bytes + Texts.semanticError.map(\.text))
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
      if let difference = judge.difference(text) ?? judge.printingFault(text) {
        differences.add(difference, text)
      }
    }
    #expect(differences.count == 0, "\(differences)")
    // There must be enough accepted texts and few undecided ones.
    let counts = judge.oracle.counts
    #expect(counts.accepted + counts.semanticError > Self.count / 4 / 10, "\(counts)")
    #expect(counts.undecided < Self.count / 4 / 10, "\(counts)")
  }
}
