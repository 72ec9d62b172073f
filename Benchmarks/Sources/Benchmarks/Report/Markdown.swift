/// A Markdown table of the ratios to C, with a row for each case and a column for each engine.
struct Markdown {
  /// The table, followed by the remarks of the cases.
  private(set) var text = ""

  init(of measurements: [Measurement]) {
    let engines = Engine.allCases.filter { engine in
      engine != .c && measurements.contains { $0.engine == engine }
    }
    let titles = ["case", "C, ns"] + engines.map(\.rawValue)
    var lines = [line(titles), line(titles.indices.map { $0 == 0 ? "---" : "--:" })]
    var places: [String] = []
    for measurement in measurements where !places.contains(measurement.label) {
      places.append(measurement.label)
    }
    for place in places {
      let own = measurements.filter { $0.label == place }
      guard let baseline = own.first(where: { $0.engine == .c }) else { continue }
      lines.append(
        line(
          [place, grouped(baseline.nanoseconds)]
            + engines.map { engine in
              own.first { $0.engine == engine }.map { ratio($0.ratioToC) } ?? ""
            }))
    }
    let remarks = allCases.compactMap { $0.remark(on: measurements) }
    text = (lines + (remarks.isEmpty ? [] : [""]) + remarks).joined(separator: "\n") + "\n"
  }

  private func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }

  private func ratio(_ ratio: Double) -> String {
    fixed(ratio, digits: ratio < 0.1 ? 3 : ratio < 10 ? 2 : 1)
  }

  private func grouped(_ nanoseconds: Double) -> String {
    let digits = Array(fixed(nanoseconds, digits: 0))
    return digits.indices.map { index in
      let left = digits.count - index
      return (index > 0 && left % 3 == 0 ? "," : "") + String(digits[index])
    }
    .joined()
  }
}
