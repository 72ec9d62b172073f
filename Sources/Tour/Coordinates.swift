/// A place on the globe, in degrees: north and east are positive.
package struct Coordinates: Hashable, Sendable {
  package let latitude: Double
  package let longitude: Double

  package init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }

  /// Reads ISO 6709 text, `±DDMM±DDDMM` or `±DDMMSS±DDDMMSS`.
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
