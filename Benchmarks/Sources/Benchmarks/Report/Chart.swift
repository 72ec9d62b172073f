import Foundation

/// The ratios to C of all engines in all cases as an SVG picture, for light and dark pages.
struct Chart {
  /// The picture's text.
  private(set) var text = ""

  private static let colors: KeyValuePairs<Engine, (String, String)> = [
    .statement: ("MagicData statement", "#1f6feb"), .rows: ("MagicData rows", "#1b9aaa"),
    .record: ("MagicData Record", "#2da44e"), .object: ("MagicData object", "#8957e5"),
    .grdbStatement: ("GRDB statement", "#d4a72c"), .grdbRecord: ("GRDB record", "#e8743b"),
    .grdbCodable: ("GRDB Codable", "#cf222e"),
  ]
  private static let (width, left, right, bar, gap) = (860.0, 150.0, 60.0, 11.0, 12.0)

  /// The exponents of ten at the ends of the axis.
  private let exponents: (least: Double, most: Double)

  init(of measurements: [Measurement]) {
    let shown = measurements.filter { $0.engine != .c }
    let ratios = shown.map(\.ratioToC)
    exponents = (
      min(0, log10(ratios.min() ?? 1) - 0.05), max(0.5, log10(ratios.max() ?? 10) + 0.02)
    )
    var parts: [String] = []
    var y = 74.0
    var label = ""
    for measurement in shown {
      let ownLabel = Self.label(of: measurement)
      if ownLabel != label {
        y += label.isEmpty ? 0 : Self.gap
        label = ownLabel
        parts.append(Self.text(label, x: Self.left - 10, y: y + 10, "name"))
      }
      parts.append(draw(measurement, y: y))
      y += Self.bar + 2
    }
    text = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(y + 24))" \
      font-family="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" \
      font-size="11" role="img">
      <title>Time relative to the same work in C calls, by case and engine</title>
      <style>
      text { fill: #6e7781 } .name { font-weight: 600; text-anchor: end } .tick { text-anchor: middle }
      line { stroke: #8c959f; stroke-opacity: .35 } .c { stroke: #6e7781; stroke-opacity: 1 }
      @media (prefers-color-scheme: light) { text { fill: #1f2328 } .c { stroke: #1f2328 } }
      @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .c { stroke: #e6edf3 } }
      </style>
      \(Self.text("Time relative to the same work in C calls (1 = C; logarithmic)", x: 8, y: 16, nil))
      \(legend.joined(separator: "\n"))
      \(axis(to: y).joined(separator: "\n"))
      \(parts.joined(separator: "\n"))
      </svg>

      """
  }

  private static func label(of measurement: Measurement) -> String {
    guard measurement.case == "growth" else { return measurement.case }
    return "growth \(measurement.operations)"
  }

  private func draw(_ measurement: Measurement, y: Double) -> String {
    let (one, end) = (position(1), position(measurement.ratioToC))
    let color = Self.colors.first { $0.key == measurement.engine }?.value.1 ?? "#8c959f"
    let digits = measurement.ratioToC < 0.1 ? 3 : measurement.ratioToC < 10 ? 2 : 1
    let number = Self.number(measurement.ratioToC, digits)
    return """
      <rect x="\(Self.number(min(one, end), 1))" y="\(Int(y))" \
      width="\(Self.number(max(1, abs(end - one)), 1))" height="\(Int(Self.bar))" rx="2" \
      fill="\(color)"/>
      \(Self.text(number, x: max(one, end) + 4, y: y + 9, nil))
      """
  }

  private var legend: [String] {
    Self.colors.enumerated().map { place, entry in
      let x = 8 + Double(place % 4) * 205
      let y = 26 + Double(place / 4) * 16
      return """
        <rect x="\(Int(x))" y="\(Int(y))" width="11" height="11" rx="2" fill="\(entry.value.1)"/>
        \(Self.text(entry.value.0, x: x + 16, y: y + 9, nil))
        """
    }
  }

  private func axis(to bottom: Double) -> [String] {
    let marks = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000]
    return marks.filter { exponents.least...exponents.most ~= log10($0) }.map { mark in
      let x = Self.number(position(mark), 1)
      return """
        <line x1="\(x)" x2="\(x)" y1="68" y2="\(Int(bottom))"\(mark == 1 ? " class=\"c\"" : "")/>
        \(Self.text(mark < 1 ? "\(mark)" : "\(Int(mark))", x: position(mark), y: bottom + 16, "tick"))
        """
    }
  }

  private func position(_ ratio: Double) -> Double {
    let share = (log10(ratio) - exponents.least) / (exponents.most - exponents.least)
    return Self.left + share * (Self.width - Self.left - Self.right)
  }

  private static func text(_ text: String, x: Double, y: Double, _ kind: String?) -> String {
    let kind = kind.map { " class=\"\($0)\"" } ?? ""
    return "<text x=\"\(number(x, 1))\" y=\"\(number(y, 1))\"\(kind)>\(text)</text>"
  }
}

extension Chart {
  private static func number(_ value: Double, _ digits: Int) -> String {
    value.formatted(
      .number.precision(.fractionLength(digits)).grouping(.never).locale(
        Locale(identifier: "en_US_POSIX")))
  }
}
