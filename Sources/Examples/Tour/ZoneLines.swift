import Terminal

/// A line of `zone1970.tab`: a time zone, its coordinates and the countries that use it.
package struct ZoneLine: Hashable, Sendable {
  /// The name of the zone, such as `Europe/Berlin`. Also the path of its file in the database's
  /// folder.
  package let name: String
  /// The codes of the countries that use the zone. The country with the zone's most populous city
  /// is the first.
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
      guard seen.insert(code).inserted else { throw LineProblem("country \(code) is listed twice") }
    }
    return codes
  }

  /// Throws `LineProblem` unless the name is a plain relative path that stays below its folder.
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

  /// Returns whether `text` has the form of an ISO 3166-1 alpha-2 code.
  package static func isCode(_ text: String) -> Bool {
    text.utf8.count == 2
      && text.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
  }

  package static func badCode(_ text: String) -> LineProblem {
    LineProblem("bad country code \(text.quoted), not two capital letters")
  }
}

/// A point on the globe in degrees. North and east are positive.
package struct Coordinates: Hashable, Sendable {
  package let latitude: Double
  package let longitude: Double

  package init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }

  /// Parses ISO 6709 coordinates in the form `±DDMM±DDDMM` or `±DDMMSS±DDDMMSS`.
  ///
  /// - Throws: `LineProblem` if the text has another form or is out of range.
  package init(_ text: String) throws(LineProblem) {
    let bytes = Array(text.utf8)
    guard bytes.count == 11 || bytes.count == 15 else { throw Self.wrongForm(text) }
    let middle = bytes.count == 11 ? 5 : 7
    latitude = try Self.degrees(bytes[..<middle], "latitude", limit: 90, in: text)
    longitude = try Self.degrees(bytes[middle...], "longitude", limit: 180, in: text)
  }

  private static func degrees(
    _ bytes: ArraySlice<UInt8>, _ axis: String, limit: Int, in text: String
  ) throws(LineProblem) -> Double {
    let sign = bytes.first
    guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { throw wrongForm(text) }
    let digits = try bytes.dropFirst().map { (byte) throws(LineProblem) in
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { throw wrongForm(text) }
      return Int(byte - UInt8(ascii: "0"))
    }
    let wholeDigits = limit == 90 ? 2 : 3
    let whole = digits[..<wholeDigits].reduce(0) { $0 * 10 + $1 }
    var sixtieths: [Int] = []
    for index in stride(from: wholeDigits, to: digits.count, by: 2) {
      sixtieths.append(digits[index] * 10 + digits[index + 1])
    }
    for (part, name) in zip(sixtieths, ["minutes", "seconds"]) where part > 59 {
      throw LineProblem("bad coordinates \(text.quoted): \(part) \(name) of \(axis), at most 59")
    }
    let seconds = whole * 3600 + sixtieths[0] * 60 + (sixtieths.count > 1 ? sixtieths[1] : 0)
    guard seconds <= limit * 3600 else {
      throw LineProblem("bad coordinates \(text.quoted): \(axis) beyond \(limit) degrees")
    }
    return Double(sign == UInt8(ascii: "-") ? -seconds : seconds) / 3600
  }

  private static func wrongForm(_ text: String) -> LineProblem {
    LineProblem("bad coordinates \(text.quoted): not ±DDMM±DDDMM or ±DDMMSS±DDDMMSS")
  }
}

/// A problem with a line of a file. Doesn't include the line number.
package struct LineProblem: Error, Hashable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}
