import Essentials
import SQLiteCore
import SQLiteMapping

/// The SQL functions that queries of objects use where SQLite has no function with Swift's
/// semantics: for exact decimals, for texts as Swift strings, for dates, and for conversions.
///
/// A connection of a store adds them when a statement first needs one. They are pure, so they are
/// safe in the schema of a hostile file: a value of the wrong kind is an error, and no result is
/// longer than SQLite allows.
enum QueryFunctions {
  /// Adds the functions to a connection. Does nothing for a connection to a server.
  static func add(to connection: Connection) throws {
    // A server can't run these functions. Its error for a statement that uses one names the
    // function.
    if connection.isRemote { return }
    try addDecimals(to: connection)
    try addTexts(to: connection)
    try addDates(to: connection)
    try addConversions(to: connection)
    try addAggregates(to: connection)
  }

  private static func addDecimals(to connection: Connection) throws {
    func add(
      _ name: String, _ body: @escaping @Sendable (Decimal, Decimal) -> Decimal
    ) throws {
      try connection.addPureFunction("magicdata_decimal_\(name)", argumentCount: 2) { values in
        let result = body(
          try DecimalText.decimal(from: values[0]), try DecimalText.decimal(from: values[1]))
        guard !result.isNaN else {
          throw SQLiteError(.range, "the result of a calculation does not fit Decimal")
        }
        return try DecimalText.value(for: result)
      }
    }
    try add("add") { $0 + $1 }
    try add("subtract") { $0 - $1 }
    try add("multiply") { $0 * $1 }
    try connection.addPureFunction("magicdata_decimal_divide", argumentCount: 2) { values in
      let divisor = try DecimalText.decimal(from: values[1])
      return try quotient(try DecimalText.decimal(from: values[0]), divisor)
    }
  }

  /// Returns the quotient, rounded to the precision of `Decimal`, or NULL for a division by zero.
  fileprivate static func quotient(_ dividend: Decimal, _ divisor: Decimal) throws -> Value {
    if divisor.isZero { return .null }
    return try DecimalText.value(for: dividend / divisor)
  }

  private static func addTexts(to connection: Connection) throws {
    func add(_ name: String, _ body: @escaping @Sendable (String) -> Value) throws {
      try connection.addPureFunction("magicdata_text_\(name)", argumentCount: 1) { values in
        body(try String(databaseValue: values[0]))
      }
    }
    try add("lowercased") { .text($0.lowercased()) }
    try add("uppercased") { .text($0.uppercased()) }
    try add("count") { .integer(Int64($0.count)) }
    try add("trimmed") { .text(trimmed($0)) }
    try connection.addPureFunction("magicdata_text_prefix", argumentCount: 2) { values in
      .text(String(try String(databaseValue: values[0]).prefix(try count(values[1]))))
    }
    try connection.addPureFunction("magicdata_text_suffix", argumentCount: 2) { values in
      .text(String(try String(databaseValue: values[0]).suffix(try count(values[1]))))
    }
    try connection.addPureFunction("magicdata_text_replacing", argumentCount: 3) { values in
      .text(
        try replacing(
          String(databaseValue: values[0]), String(databaseValue: values[1]),
          String(databaseValue: values[2])))
    }
  }

  private static func count(_ value: Value) throws -> Int {
    guard case .integer(let integer) = value, let count = Int(exactly: integer), count >= 0 else {
      throw SQLiteError(.range, "a number of characters must not be negative")
    }
    return count
  }

  private static func trimmed(_ text: String) -> String {
    let scalars = text.unicodeScalars
    guard
      let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
      let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
    else { return "" }
    return String(scalars[first...last])
  }

  /// Returns the text with every occurrence of a part replaced, from left to right. Compares bytes,
  /// not characters.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/tooBig`` if the result is longer than SQLite
  ///   allows.
  private static func replacing(
    _ text: String, _ part: String, _ replacement: String
  ) throws -> String {
    let (text, part, replacement) = (Array(text.utf8), Array(part.utf8), Array(replacement.utf8))
    guard let first = part.first, text.count >= part.count else {
      return String(decoding: text, as: UTF8.self)
    }
    var result: [UInt8] = []
    var index = 0
    while index < text.count {
      let end = index + part.count
      if text[index] == first, end <= text.count, text[index..<end].elementsEqual(part) {
        result += replacement
        index = end
      } else {
        result.append(text[index])
        index += 1
      }
      guard result.count <= greatestLength else {
        throw SQLiteError(.tooBig, "the text with replacements is longer than SQLite allows")
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// The maximum size of a text in bytes, which is SQLite's default limit.
  private static let greatestLength = 1_000_000_000

  private static func addDates(to connection: Connection) throws {
    // Seconds since the reference date of `Date`, 2001. The conversion is exact in both directions.
    try connection.addPureFunction("magicdata_date_seconds", argumentCount: 1) { values in
      .real(try DateStrategy.text.date(from: values[0]).timeIntervalSinceReferenceDate)
    }
    try connection.addPureFunction("magicdata_date", argumentCount: 1) { values in
      let seconds = try Double(databaseValue: values[0])
      return try DateStrategy.text.value(for: Date(timeIntervalSinceReferenceDate: seconds))
    }
  }

  private static func addConversions(to connection: Connection) throws {
    func add(_ name: String, _ body: @escaping @Sendable (Value) throws -> Value) throws {
      try connection.addPureFunction("magicdata_\(name)", argumentCount: 1) { try body($0[0]) }
    }
    try add("integer_of_text") { value in
      Int64(try String(databaseValue: value)).map { .integer($0) } ?? .null
    }
    try add("real_of_text") { value in
      Double(try String(databaseValue: value)).flatMap { $0.isNaN ? nil : .real($0) } ?? .null
    }
    try add("text_of_real") { .text("\(try Double(databaseValue: $0))") }
    try add("text_of_float") { .text("\(Float(try Double(databaseValue: $0)))") }
    try add("float") { .real(Double(Float(try Double(databaseValue: $0)))) }
    try add("decimal_of_text") { value in
      guard case .text = value, let decimal = try? DecimalText.decimal(from: value) else {
        return .null
      }
      return try DecimalText.value(for: decimal)
    }
    try add("decimal_of_real") { value in
      let real = try Double(databaseValue: value)
      guard real.isFinite, let decimal = Decimal(string: "\(real)"), !decimal.isNaN else {
        return .null
      }
      return try DecimalText.value(for: decimal)
    }
    try add("real_of_decimal") { value in
      // `Decimal` itself converts with an error of several units in the last place, but its
      // description is exact.
      let decimal = try DecimalText.decimal(from: value)
      return Double(decimal.description).map { .real($0) } ?? .null
    }
    try add("integer_of_decimal") { value in
      let number = try PlainDecimal(DecimalText.decimal(from: value).description)
      return Int64("\(number.isNegative ? "-" : "")\(number.whole.isEmpty ? "0" : number.whole)")
        .map { .integer($0) } ?? .null
    }
  }

  private static func addAggregates(to connection: Connection) throws {
    try connection.addPureAggregate("magicdata_decimal_sum", argumentCount: 1) {
      DecimalSum()
    } step: { sum, values in
      try sum.add(values[0])
    } result: { sum in
      try sum.value
    }
    try connection.addPureAggregate("magicdata_decimal_average", argumentCount: 1) {
      DecimalSum()
    } step: { sum, values in
      try sum.add(values[0])
    } result: { sum in
      try quotient(DecimalText.decimal(from: sum.value), Decimal(sum.count))
    }
    try connection.addPureAggregate("magicdata_percentile", argumentCount: 2) {
      Percentile()
    } step: { percentile, values in
      try percentile.add(values[0], fraction: values[1])
    } result: { percentile in
      try percentile.value
    }
  }
}

/// An exact sum of decimals that are stored as text.
private struct DecimalSum {
  /// The number of values in the sum, without those that were NULL.
  private(set) var count = 0
  /// The sum of the numbers that have at most 18 digits on each side of the point, in units of
  /// 10^-18.
  private var units: Int128 = 0
  /// The sum of all other numbers, and of the units that were moved here before they would
  /// overflow.
  private var rest = Decimal.zero

  /// Adds a number to the sum. NULL is ignored.
  ///
  /// - Throws: ``SQLiteError`` if the value isn't a decimal, or if `Decimal` can't hold the sum
  ///   exactly.
  mutating func add(_ value: Value) throws {
    if value.isNull { return }
    count += 1
    guard case .text(let text) = value, let units = DecimalSum.units(of: text) else {
      rest = try DecimalSum.exactSum(rest, DecimalText.decimal(from: value))
      return
    }
    let (sum, overflow) = self.units.addingReportingOverflow(units)
    if overflow {
      rest = try DecimalSum.exactSum(rest, DecimalSum.decimal(self.units))
      self.units = units
    } else {
      self.units = sum
    }
  }

  /// The stored form of the sum, which is zero if no number was added.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if `Decimal` cannot hold it exactly.
  var value: Value {
    get throws {
      if rest.isZero { return .text(DecimalSum.text(units)) }
      return try DecimalText.value(for: DecimalSum.exactSum(rest, DecimalSum.decimal(units)))
    }
  }

  private static func exactSum(_ one: Decimal, _ other: Decimal) throws -> Decimal {
    let sum = one + other
    // If the sum was rounded, subtracting one number doesn't yield the other.
    guard !sum.isNaN, sum - one == other, sum - other == one else {
      throw SQLiteError(.range, "the sum does not fit Decimal exactly")
    }
    return sum
  }

  private static let perOne: Int128 = 1_000_000_000_000_000_000

  /// Parses `[-]digits[.digits]` with at most 18 digits on either side of the point; returns nil
  /// for any other text.
  private static func units(of text: String) -> Int128? {
    var bytes = text.utf8[...]
    let isNegative = bytes.first == UInt8(ascii: "-")
    if isNegative { bytes.removeFirst() }
    var digits: (whole: UInt64, fraction: UInt64) = (0, 0)
    var counts = (whole: 0, fraction: 0)
    var isAfterPoint = false
    for byte in bytes {
      let digit = UInt64(byte &- UInt8(ascii: "0"))
      if byte == UInt8(ascii: "."), !isAfterPoint {
        isAfterPoint = true
      } else if digit > 9 {
        return nil
      } else if isAfterPoint {
        digits.fraction = digits.fraction * 10 + digit
        counts.fraction += 1
      } else {
        digits.whole = digits.whole * 10 + digit
        counts.whole += 1
      }
      guard counts.whole <= 18, counts.fraction <= 18 else { return nil }
    }
    guard counts.whole > 0, isAfterPoint == (counts.fraction > 0) else { return nil }
    for _ in counts.fraction..<18 { digits.fraction *= 10 }
    let units = Int128(digits.whole) * perOne + Int128(digits.fraction)
    return isNegative ? -units : units
  }

  private static func text(_ units: Int128) -> String {
    let (whole, fraction) = units.magnitude.quotientAndRemainder(dividingBy: perOne.magnitude)
    let sign = units < 0 ? "-" : ""
    guard fraction > 0 else { return "\(sign)\(whole)" }
    var digits = String(fraction + perOne.magnitude).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "\(sign)\(whole).\(digits)"
  }

  private static func decimal(_ units: Int128) throws -> Decimal {
    try DecimalText.decimal(from: .text(text(units)))
  }
}

/// The value below which a fraction of a group's values lies, interpolated linearly between the two
/// nearest values.
private struct Percentile {
  private var numbers: [Double] = []
  private var decimals: [Decimal] = []
  private var fraction: Double?

  /// Adds a number: an integer, a real, or the text of a decimal. NULL is ignored.
  ///
  /// - Throws: ``SQLiteError`` if the value isn't a number, or if the fraction isn't from 0 to 1 or
  ///   differs from that of the previous values.
  mutating func add(_ value: Value, fraction: Value) throws {
    let fraction = try Double(databaseValue: fraction)
    guard 0...1 ~= fraction, self.fraction ?? fraction == fraction else {
      throw SQLiteError(.range, "the fraction of a percentile must be one number from 0 to 1")
    }
    self.fraction = fraction
    switch value {
    case .null: break
    case .integer(let integer): numbers.append(Double(integer))
    case .real(let real): numbers.append(real)
    case .text: decimals.append(try DecimalText.decimal(from: value))
    case .blob: throw value.mismatch(expected: Double.self)
    }
  }

  /// The percentile. It is NULL if no number was added, or if the result isn't a number, such as
  /// between infinities of both signs.
  ///
  /// - Throws: ``SQLiteError`` if numbers and decimals are mixed.
  var value: Value {
    get throws {
      guard let fraction else { return .null }
      guard numbers.isEmpty || decimals.isEmpty else {
        throw SQLiteError(.mismatch, "a percentile cannot mix numbers and decimals")
      }
      if !decimals.isEmpty {
        let (low, high, share) = Percentile.neighbors(decimals.sorted(), fraction)
        guard low != high else { return try DecimalText.value(for: low) }
        return try DecimalText.value(for: low + (high - low) * Decimal(share))
      }
      if numbers.isEmpty { return .null }
      let (low, high, share) = Percentile.neighbors(numbers.sorted(), fraction)
      // The guard excludes infinity times zero, which is NaN. Unlike `high - low`, the weighted sum
      // doesn't overflow.
      guard low != high, share > 0 else { return .real(low) }
      let between = low * (1 - share) + high * share
      return between.isNaN ? .null : .real(between)
    }
  }

  /// Returns the two sorted values around the position that a fraction determines, and the distance
  /// of the position from the lower one, from 0 to 1.
  private static func neighbors<Number>(
    _ sorted: [Number], _ fraction: Double
  ) -> (low: Number, high: Number, share: Double) {
    let place = fraction * Double(sorted.count - 1)
    let index = min(Int(place), sorted.count - 1)
    return (sorted[index], sorted[min(index + 1, sorted.count - 1)], place - Double(index))
  }
}
