import Foundation

/// Formats a number with a fixed number of decimals, independent of the locale.
func fixed(_ value: Double, digits: Int) -> String {
  value.formatted(
    .number.precision(.fractionLength(digits)).grouping(.never).locale(
      Locale(identifier: "en_US_POSIX")))
}
