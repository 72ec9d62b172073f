/// Dates as text in the form `YYYY-MM-DD HH:MM:SS[.fraction]`, in UTC.
///
/// A date is a `Double` that counts the seconds since 2001-01-01 00:00:00. Its text has the fewest
/// fraction digits that are parsed as exactly the same double: none for whole seconds, and rarely
/// more than seven for current dates. The texts sort in the order of the dates.
package enum DateText {
  /// The maximum length of a text in bytes, for seconds that are 0 or have a magnitude of at least
  /// 1e-280.
  package static let maximumLength = 320

  /// Appends the text of `seconds` to `output`, which must have capacity for ``length(ofSeconds:)``
  /// bytes. `separator` is the character between the date and the time.
  ///
  /// - Precondition: `seconds` is in ``DateRange``, and is 0 or has a magnitude of at least 1e-280.
  package static func append(
    seconds: Double, separator: UInt8 = UInt8(ascii: " "), to output: inout OutputSpan<UInt8>
  ) {
    let floor = seconds.rounded(.down)
    // Counted from the start of the range, so that the numbers are unsigned.
    let sinceStart = UInt64(floor - DateRange.start)
    let startDay = Int(DateRange.start) / 86_400
    let day = CalendarDay(daysSinceReference: Int(sinceStart / 86_400) + startDay)
    let second = UInt32(truncatingIfNeeded: sinceStart % 86_400)
    append(pair: UInt32(truncatingIfNeeded: day.year / 100), to: &output)
    append(pair: UInt32(truncatingIfNeeded: day.year % 100), to: &output)
    output.append(UInt8(ascii: "-"))
    append(pair: UInt32(truncatingIfNeeded: day.month), to: &output)
    output.append(UInt8(ascii: "-"))
    append(pair: UInt32(truncatingIfNeeded: day.day), to: &output)
    output.append(separator)
    append(pair: second / 3_600, to: &output)
    output.append(UInt8(ascii: ":"))
    append(pair: second / 60 % 60, to: &output)
    output.append(UInt8(ascii: ":"))
    append(pair: second % 60, to: &output)
    if floor != seconds {
      output.append(UInt8(ascii: "."))
      ExactSeconds.appendFraction(of: seconds, to: &output)
    }
  }

  /// Returns the text of `seconds`, followed by `zone` unless that is nil. `separator` is the
  /// character between the date and the time.
  ///
  /// - Precondition: `seconds` is in ``DateRange``, and is 0 or has a magnitude of at least 1e-280.
  package static func text(
    ofSeconds seconds: Double, separator: UInt8 = UInt8(ascii: " "), zone: UInt8? = nil
  ) -> String {
    unsafe String(unsafeUninitializedCapacity: length(ofSeconds: seconds) + 1) { buffer in
      var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
      append(seconds: seconds, separator: separator, to: &output)
      if let zone { output.append(zone) }
      return unsafe output.finalize(for: buffer)
    }
  }

  /// Returns an upper bound of the length in bytes of the text of `seconds`, without a zone.
  package static func length(ofSeconds seconds: Double) -> Int {
    // From a magnitude of 1 on, the decimal point and the fraction need at most 17 bytes.
    seconds.magnitude >= 1 ? 39 : maximumLength
  }

  private static func append(pair number: UInt32, to output: inout OutputSpan<UInt8>) {
    output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10))
    output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
  }
}

/// The range of dates that have a text: the years 0000 to 9999 in UTC.
package enum DateRange {
  /// The lower bound, 0000-01-01 00:00:00, in seconds since 2001-01-01 00:00:00.
  package static let start = -63_145_526_400.0
  /// The exclusive upper bound, 10000-01-01 00:00:00, in seconds since 2001-01-01 00:00:00.
  package static let end = 252_423_993_600.0

  /// Returns whether the range contains a date, in seconds since 2001-01-01 00:00:00. Returns false
  /// for NaN.
  package static func contains(_ seconds: Double) -> Bool {
    seconds >= start && seconds < end
  }
}
