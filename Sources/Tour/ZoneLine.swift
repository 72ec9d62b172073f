/// A line of `zone1970.tab`: a time zone, where it is, and the countries that keep it.
package struct ZoneLine: Hashable, Sendable {
  /// The zone's name and, below the database's folder, its file: `Europe/Berlin`.
  package let name: String
  /// Country codes; the country of the most populous city comes first.
  package let countries: [String]
  package let coordinates: Coordinates
  package let comments: String?

  package init(columns: [String]) throws(LineProblem) {
    guard columns.count == 3 || columns.count == 4 else {
      throw LineProblem(
        "\(columns.count) columns instead of 3 or 4 (countries, coordinates, zone, comments)")
    }
    countries = try Self.codes(in: columns[0])
    coordinates = try Coordinates(columns[1])
    name = columns[2]
    comments = columns.count == 4 && !columns[3].isEmpty ? columns[3] : nil
    try Self.check(name: name)
  }

  private static func codes(in text: String) throws(LineProblem) -> [String] {
    let codes = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    var seen: Set<String> = []
    for code in codes {
      guard CountryLine.isCode(code) else { throw CountryLine.badCode(code) }
      guard seen.insert(code).inserted else { throw LineProblem("country \(code) twice") }
    }
    return codes
  }

  /// Refuses every name that is not a plain path below a folder.
  private static func check(name: String) throws(LineProblem) {
    guard !name.isEmpty else { throw LineProblem("empty zone name") }
    guard name.utf8.allSatisfy(isNameByte) else {
      throw LineProblem("zone name \(name.quoted) has more than letters, digits and . _ + - /")
    }
    guard !name.hasPrefix("/") else {
      throw LineProblem("zone name \(name.quoted) is an absolute path")
    }
    for part in name.split(separator: "/", omittingEmptySubsequences: false) {
      guard part != "..", part != "." else {
        throw LineProblem("zone name \(name.quoted) leaves the folder of the database")
      }
      guard !part.isEmpty else { throw LineProblem("zone name \(name.quoted) has an empty part") }
    }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "/"):
      true
    default: false
    }
  }
}
