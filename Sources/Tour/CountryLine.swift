/// A line of `iso3166.tab`: a country's code and its usual English name.
package struct CountryLine: Hashable, Sendable {
  /// Two capital letters, such as `DE`.
  package let code: String
  package let name: String

  package init(columns: [String]) throws(LineProblem) {
    guard columns.count == 2 else {
      throw LineProblem("\(columns.count) columns instead of 2 (code, name)")
    }
    code = columns[0]
    name = columns[1]
    guard Self.isCode(code) else { throw Self.badCode(code) }
    guard !name.allSatisfy(\.isWhitespace) else {
      throw LineProblem("country \(code) has an empty name")
    }
  }

  /// Whether `text` has the form of an ISO 3166-1 alpha-2 code.
  package static func isCode(_ text: String) -> Bool {
    text.utf8.count == 2
      && text.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
  }

  package static func badCode(_ text: String) -> LineProblem {
    LineProblem("bad country code \(text.quoted), not two capital letters")
  }
}
