/// Dates as text: `YYYY-MM-DD HH:MM:SS[.fraction]` in UTC.
///
/// A date is a `Double` of seconds since 2001-01-01 00:00:00; the fraction has as few digits as reading
/// that very double back needs, none for a whole second and seldom more than seven nowadays. The
/// texts sort as the dates do.
package enum DateText {
  /// The longest text in bytes, for seconds of a magnitude of 1e-280 at least.
  package static let maximumLength = 320

  /// Appends the text of `seconds`, ``maximumLength`` bytes at most, to `output`.
  ///
  /// - Precondition: `seconds` lies in ``DateRange``, and is 0 or of a magnitude of 1e-280 at least.
  package static func append(
    seconds: Double, separator: UInt8 = UInt8(ascii: " "), to output: inout OutputSpan<UInt8>
  ) {
    let floor = seconds.rounded(.down)
    // Counted from the start of the range, so that everything is unsigned.
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

  /// Returns the text of `seconds`, followed by `zone` if there is one.
  ///
  /// - Precondition: As for ``append(seconds:separator:to:)``.
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

  /// The greatest length in bytes that the text of `seconds` may have, without a zone.
  package static func length(ofSeconds seconds: Double) -> Int {
    // Point and digits of a magnitude from 1 on take at most 17 bytes after the second.
    seconds.magnitude >= 1 ? 39 : maximumLength
  }

  private static func append(pair number: UInt32, to output: inout OutputSpan<UInt8>) {
    output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10))
    output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
  }
}

/// The dates that can be written as text: the years 0000 to 9999, in UTC.
package enum DateRange {
  /// 0000-01-01 00:00:00, in seconds since 2001-01-01 00:00:00.
  package static let start = -63_145_526_400.0
  /// 10000-01-01 00:00:00, the first moment beyond.
  package static let end = 252_423_993_600.0

  /// Returns whether the range contains that date; false for NaN.
  package static func contains(_ seconds: Double) -> Bool {
    seconds >= start && seconds < end
  }
}
