import Foundation

/// An SVG chart of the ratios to C, with a line for each case. Supports light and dark pages.
struct Chart {
  /// The SVG document.
  private(set) var text = ""

  private static let names: KeyValuePairs<Engine, (name: String, color: String)> = [
    .statement: ("MagicData statement", "#388bfd"), .rows: ("MagicData rows", "#1b9aaa"),
    .record: ("MagicData Record", "#2da44e"), .object: ("MagicData object", "#a371f7"),
    .grdbStatement: ("GRDB statement", "#d4a017"), .grdbRecord: ("GRDB record", "#e8743b"),
    .grdbCodable: ("GRDB Codable", "#e5484d"),
  ]
  private static let (width, left, right, top, lineHeight) = (860.0, 130.0, 24.0, 92.0, 27.0)
  private static let ticks = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000,
  ]

  /// The decimal logarithms of the ratios at both ends of the axis.
  private let ends: (least: Double, most: Double)

  init(of measurements: [Measurement]) {
    let shown = measurements.filter { $0.engine != .c }
    let ratios = shown.map { log10($0.ratioToC) }
    ends = (min(-0.1, (ratios.min() ?? 0) - 0.08), max(0.5, (ratios.max() ?? 1) + 0.08))
    var labels: [String] = []
    for measurement in shown where labels.last != measurement.label {
      labels.append(measurement.label)
    }
    let bottom = Self.top + Double(labels.count) * Self.lineHeight
    let lines = labels.enumerated().flatMap { place, label in
      line(
        label, shown.filter { $0.label == label },
        y: Self.top + (Double(place) + 0.5) * Self.lineHeight)
    }
    text = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(bottom + 26))" \
      font-family="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" \
      font-size="12" role="img">
      <title>Time relative to the same work in C calls, by case and engine</title>
      <style>
      text { fill: #6e7781 } .name { text-anchor: end } .tick { text-anchor: middle }
      line { stroke: #8c959f; stroke-opacity: .3 } .c { stroke: #6e7781; stroke-opacity: 1 }
      @media (prefers-color-scheme: light) { text { fill: #1f2328 } .c { stroke: #1f2328 } }
      @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .c { stroke: #e6edf3 } }
      </style>
      \(Self.text("Time relative to the same work in C calls, which is 1; left is faster (logarithmic)", x: 8, y: 16))
      \(legend.joined(separator: "\n"))
      \(axis(to: bottom).joined(separator: "\n"))
      \(lines.joined(separator: "\n"))
      </svg>

      """
  }

  /// Returns the line of a case: its name, and a mark for each engine. Marks that would overlap are
  /// placed on three levels.
  private func line(_ label: String, _ measurements: [Measurement], y: Double) -> [String] {
    var ends = [-Double.infinity, -.infinity, -.infinity]
    let marks = measurements.sorted { $0.ratioToC < $1.ratioToC }.map { measurement in
      let x = position(measurement.ratioToC)
      let level = ends.firstIndex { $0 + 11 < x } ?? ends.indices.min { ends[$0] < ends[$1] } ?? 0
      ends[level] = x
      return Self.mark(measurement.engine, x: x, y: y + [0, -8, 8][level])
    }
    let (start, end) = (fixed(Self.left, digits: 0), fixed(Self.width - Self.right, digits: 0))
    let height = fixed(y, digits: 1)
    return [
      "<line x1=\"\(start)\" x2=\"\(end)\" y1=\"\(height)\" y2=\"\(height)\"/>",
      Self.text(label, x: Self.left - 10, y: y + 4, "name"),
    ] + marks
  }

  private var legend: [String] {
    Self.names.enumerated().flatMap { place, entry in
      let (x, y) = (14 + Double(place % 4) * 205, 35 + Double(place / 4) * 18)
      return [
        Self.mark(entry.key, x: x, y: y), Self.text(entry.value.name, x: x + 10, y: y + 4),
      ]
    }
  }

  private func axis(to bottom: Double) -> [String] {
    Self.ticks.filter { ends.least...ends.most ~= log10($0) }.flatMap { tick in
      let x = position(tick)
      let name = tick < 1 ? "\(tick)" : "\(Int(tick))"
      let place = fixed(x, digits: 1)
      return [
        "<line x1=\"\(place)\" x2=\"\(place)\" y1=\"\(Int(Self.top - 6))\" y2=\"\(Int(bottom + 6))\""
          + "\(tick == 1 ? " class=\"c\"" : "")/>",
        Self.text(name, x: x, y: Self.top - 12, "tick"),
        Self.text(name, x: x, y: bottom + 20, "tick"),
      ]
    }
  }

  private func position(_ ratio: Double) -> Double {
    let share = (log10(ratio) - ends.least) / (ends.most - ends.least)
    return Self.left + share * (Self.width - Self.left - Self.right)
  }

  /// Returns the mark of an engine: a circle for MagicData, a square for GRDB, so that the chart
  /// doesn't depend on color alone.
  private static func mark(_ engine: Engine, x: Double, y: Double) -> String {
    let color = names.first { $0.key == engine }?.value.color ?? "#8c959f"
    guard engine.rawValue.hasPrefix("grdb") else {
      return "<circle cx=\"\(fixed(x, digits: 1))\" cy=\"\(fixed(y, digits: 1))\" r=\"4.5\""
        + " fill=\"\(color)\"/>"
    }
    return "<rect x=\"\(fixed(x - 4, digits: 1))\" y=\"\(fixed(y - 4, digits: 1))\" width=\"8\""
      + " height=\"8\" fill=\"\(color)\"/>"
  }

  private static func text(_ text: String, x: Double, y: Double, _ kind: String? = nil) -> String {
    let kind = kind.map { " class=\"\($0)\"" } ?? ""
    return "<text x=\"\(fixed(x, digits: 1))\" y=\"\(fixed(y, digits: 1))\"\(kind)>\(text)</text>"
  }
}
