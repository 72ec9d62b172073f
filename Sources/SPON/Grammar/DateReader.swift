/// Reads the text of a date.
struct DateReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The seconds since 2001, or nil if the text is not a date.
  mutating func seconds() -> Double? {
    guard let year = number(4), take("-"), let month = number(2), take("-"),
      let day = number(2), take("T") || take(" "), let hour = number(2), take(":"),
      let minute = number(2), take(":"), let second = number(2),
      (1...12).contains(month), day >= 1, day <= Self.days(inMonth: month, of: year),
      hour < 24, minute < 60, second < 60
    else { return nil }
    let fraction = take(".") ? digits() : []
    if let last = bytes[..<position].last, last == UInt8(ascii: ".") { return nil }
    guard let zone = zone(), position == bytes.count else { return nil }
    let days = Self.days(year: year, month: month, day: day)
    return Self.join(days * 86_400 + hour * 3_600 + minute * 60 + second - zone, fraction)
  }

  /// The number that is `whole` and a fraction above it, rounded once.
  private static func join(_ whole: Int, _ fraction: [UInt8]) -> Double? {
    guard fraction.contains(where: { $0 != UInt8(ascii: "0") }) else { return Double(whole) }
    var fraction = fraction
    if whole < 0 { DateText.complement(&fraction) }
    let sign = whole < 0 ? "-" : ""
    return Double(
      "\(sign)\(whole < 0 ? -whole - 1 : whole).\(String(decoding: fraction, as: UTF8.self))")
  }

  private static func days(inMonth month: Int, of year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The days from 2001-01-01.
  private static func days(year: Int, month: Int, day: Int) -> Int {
    let year = year + 400 - (month <= 2 ? 1 : 0)
    let month = month > 2 ? month - 3 : month + 9
    let ofYear = (153 * month + 2) / 5 + day - 1
    let ofCycle = year % 400 * 365 + year % 400 / 4 - year % 400 / 100 + ofYear
    return year / 400 * 146_097 + ofCycle - 146_097 - 730_791
  }

  /// Reads nothing, `Z`, or a distance from UTC such as `+01:00`, perhaps after a blank.
  private mutating func zone() -> Int? {
    _ = take(" ")
    if position == bytes.count || take("Z") { return 0 }
    let isBehind = take("-")
    guard isBehind || take("+"), let hours = number(2) else { return nil }
    _ = take(":")
    guard let minutes = number(2), hours < 24, minutes < 60 else { return nil }
    return (hours * 3_600 + minutes * 60) * (isBehind ? -1 : 1)
  }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard position < bytes.count, bytes[position] == UInt8(ascii: scalar) else { return false }
    position += 1
    return true
  }

  private mutating func digits() -> [UInt8] {
    let start = position
    while position < bytes.count, (48...57).contains(bytes[position]) { position += 1 }
    return Array(bytes[start..<position])
  }

  private mutating func number(_ count: Int) -> Int? {
    guard bytes.count - position >= count else { return nil }
    var number = 0
    for _ in 0..<count {
      guard (48...57).contains(bytes[position]) else { return nil }
      number = number * 10 + Int(bytes[position] - 48)
      position += 1
    }
    return number
  }
}
