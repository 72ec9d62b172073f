import SyntaxOracle
import Testing

@Suite struct KeywordMatrixTests {
  @Test func `each keyword is a keyword or a name in the same places as in SQLite`() throws {
    let judge = try Judge()
    let words = KeywordMatrix.words(Oracle.keywords).map { Array($0.utf8) }
    #expect(KeywordMatrix.places.count >= 65)
    var differences = Differences()
    for place in KeywordMatrix.places {
      let parts = place.split(separator: "%", omittingEmptySubsequences: false)
      let (before, behind) = (Array(parts[0].utf8), Array(parts[1].utf8))
      for word in words {
        let text = before + word + behind
        if let difference = judge.difference(text) { differences.add(difference, text) }
      }
    }
    #expect(differences.count == 0, "\(differences)")
  }
}
