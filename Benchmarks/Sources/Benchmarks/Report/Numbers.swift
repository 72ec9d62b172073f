import Foundation

/// A number with a fixed count of digits behind the point, whatever the language of the machine.
func fixed(_ value: Double, digits: Int) -> String {
  value.formatted(
    .number.precision(.fractionLength(digits)).grouping(.never).locale(
      Locale(identifier: "en_US_POSIX")))
}
