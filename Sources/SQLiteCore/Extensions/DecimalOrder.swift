import CSQLite

/// The numeric order of decimals and durations, which are stored as text in plain decimal notation,
/// such as `-12.5`. The order of texts would sort 10 before 9.
///
/// Each connection to a local database has it as the collation `magicdata_decimal`. It compares
/// numbers of any length exactly and ignores superfluous zeros. A text that isn't such a number
/// sorts after all numbers. Such texts are sorted in byte order.
package enum DecimalOrder {
  /// The collation's name in SQL.
  package static var collation: String { "magicdata_decimal" }

  /// Registers the collation on demand: SQLite requests it when a statement or an index first needs
  /// it (`sqlite3_collation_needed`). Until then, it costs nothing.
  static func registerOnDemand(on handle: ConnectionHandle) throws(SQLiteError) {
    try handle.check(
      unsafe sqlite3_collation_needed(handle.pointer, nil) { _, connection, _, name in
        guard let name = unsafe name, unsafe sqlite3_stricmp(name, DecimalOrder.collation) == 0
        else { return }
        // If this fails for lack of memory, the statement fails because the collation doesn't
        // exist.
        _ = unsafe sqlite3_create_collation_v2(
          connection, DecimalOrder.collation, SQLITE_UTF8, nil, compareDecimals, nil)
      })
  }

  /// Returns a negative number if the first text sorts before the second, zero if both are equal,
  /// and a positive number otherwise.
  package static func compare(_ first: Span<UInt8>, _ second: Span<UInt8>) -> Int {
    switch (DecimalDigits(first), DecimalDigits(second)) {
    case (nil, nil): compareBytes(first, first.indices, second, second.indices)
    case (nil, _): 1
    case (_, nil): -1
    case (let one?, let other?):
      if one.isNegative != other.isNegative {
        one.isNegative ? -1 : 1
      } else {
        compareMagnitudes(first, one, second, other) * (one.isNegative ? -1 : 1)
      }
    }
  }

  private static func compareMagnitudes(
    _ first: Span<UInt8>, _ one: DecimalDigits, _ second: Span<UInt8>, _ other: DecimalDigits
  ) -> Int {
    if one.whole.count != other.whole.count { return one.whole.count - other.whole.count }
    let order = compareBytes(first, one.whole, second, other.whole)
    return order != 0 ? order : compareBytes(first, one.fraction, second, other.fraction)
  }

  private static func compareBytes(
    _ first: Span<UInt8>, _ one: Range<Int>, _ second: Span<UInt8>, _ other: Range<Int>
  ) -> Int {
    for (index, otherIndex) in zip(one, other) where first[index] != second[otherIndex] {
      return Int(first[index]) - Int(second[otherIndex])
    }
    return one.count - other.count
  }
}

/// The positions of the digits in the text of a number.
private struct DecimalDigits {
  var isNegative: Bool
  /// The range of the digits before the point, without leading zeros.
  var whole: Range<Int>
  /// The range of the digits after the point, without trailing zeros.
  var fraction: Range<Int>

  /// Finds the digits of a text of the form `[-]digits[.digits]`. Returns nil for any other text.
  init?(_ text: Span<UInt8>) {
    isNegative = text.count > 0 && text[0] == UInt8(ascii: "-")
    let start = isNegative ? 1 : 0
    var point = text.count
    for index in start..<text.count {
      if text[index] == UInt8(ascii: "."), point == text.count {
        point = index
      } else if text[index] &- UInt8(ascii: "0") > 9 {
        return nil
      }
    }
    guard point > start, point != text.count - 1 else { return nil }
    var first = start
    while first < point, text[first] == UInt8(ascii: "0") { first += 1 }
    whole = first..<point
    let begin = min(point + 1, text.count)
    var end = text.count
    while end > begin, text[end - 1] == UInt8(ascii: "0") { end -= 1 }
    fraction = begin..<end
    // Zero has no sign.
    if whole.isEmpty, fraction.isEmpty { isNegative = false }
  }
}

private func compareDecimals(
  context: UnsafeMutableRawPointer?, firstCount: Int32, first: UnsafeRawPointer?,
  secondCount: Int32, second: UnsafeRawPointer?
) -> Int32 {
  let first = unsafe UnsafeRawBufferPointer(start: first, count: Int(firstCount))
  let second = unsafe UnsafeRawBufferPointer(start: second, count: Int(secondCount))
  let order = unsafe DecimalOrder.compare(
    first.bindMemory(to: UInt8.self).span, second.bindMemory(to: UInt8.self).span)
  return Int32(order.signum())
}
