import Testing
import Tour

@Suite struct CountryLineTests {
  @Test func `a line consists of a code and a name`() throws {
    let line = try CountryLine(columns: ["AX", "Åland Islands"])
    #expect(line.code == "AX")
    #expect(line.name == "Åland Islands")
  }

  @Test(arguments: [[], ["AD"], ["AD", "Andorra", ""]])
  func `another number of columns throws`(columns: [String]) {
    #expect(throws: LineProblem("\(columns.count) columns instead of 2 (code, name)")) {
      try CountryLine(columns: columns)
    }
  }

  @Test(arguments: ["", "A", "ad", "Ad", "ADX", "A1", "ÅX", "А", " A", "../"])
  func `a code that isn't two capital letters throws`(code: String) {
    #expect(throws: LineProblem("bad country code \"\(code)\", not two capital letters")) {
      try CountryLine(columns: [code, "Andorra"])
    }
  }

  @Test(arguments: ["", " ", "\u{A0}"])
  func `an empty name throws`(name: String) {
    #expect(throws: LineProblem("country AD has an empty name")) {
      try CountryLine(columns: ["AD", name])
    }
  }
}
