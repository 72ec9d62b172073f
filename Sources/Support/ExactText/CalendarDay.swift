/// A day of the proleptic Gregorian calendar, which SQLite's date functions also use.
package struct CalendarDay: Hashable, Sendable {
  package let year: Int
  package let month: Int
  package let day: Int

  package init(year: Int, month: Int, day: Int) {
    self.year = year
    self.month = month
    self.day = day
  }

  /// Creates the day that is `days` days after 2001-01-01.
  ///
  /// The calculation uses years that start in March, so that the leap day is the last day of a
  /// year, and cycles of 400 years. It counts from one cycle before 0000-03-01, so that no number
  /// is negative from year 0 on.
  package init(daysSinceReference days: Int) {
    let shifted = UInt64(days + Self.referenceDay + Self.daysPerCycle)
    let cycle = shifted / 146_097
    let dayOfCycle = shifted % 146_097
    let yearOfCycle =
      (dayOfCycle - dayOfCycle / 1_460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
    let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = Int(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
    year = Int(yearOfCycle + cycle * 400) - 400 + (month <= 2 ? 1 : 0)
  }

  /// The number of days from 2001-01-01 to this day. The day must exist in the calendar.
  package var daysSinceReference: Int {
    let yearFromMarch = year + 400 - (month <= 2 ? 1 : 0)
    let cycle = yearFromMarch / 400
    let yearOfCycle = yearFromMarch % 400
    let monthFromMarch = month > 2 ? month - 3 : month + 9
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    let dayOfCycle = yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear
    return cycle * Self.daysPerCycle + dayOfCycle - Self.daysPerCycle - Self.referenceDay
  }

  /// Returns the number of days in a month. `month` must be in 1...12.
  package static func days(inMonth month: Int, of year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  private static let daysPerCycle = 146_097
  /// The number of days from 0000-03-01 to 2001-01-01.
  private static let referenceDay = 730_791
}
