package import Terminal

/// The steps of the tour: each is shown while it runs, on a terminal only, and then reported.
package struct Steps {
  package private(set) var report = Report()
  private let output: Output
  private let clock = ContinuousClock()

  package init(to output: Output) {
    self.output = output
  }

  /// Runs `body` as one step, and reports what `count` and `detail` make of its result.
  ///
  /// A step that throws is not reported.
  package mutating func run<Result>(
    _ name: String, _ body: () async throws -> Result,
    count: (Result) -> Int? = { _ in nil }, detail: (Result) -> String = { _ in "" }
  ) async throws -> Result {
    try show("\(name.visible) …")
    let start = clock.now
    let result: Result
    do {
      result = try await body()
    } catch {
      try show("")
      throw error
    }
    let duration = clock.now - start
    try show("")
    report.add(name, count: count(result), took: duration, detail: detail(result))
    return result
  }

  /// Replaces what the terminal's last line shows: carriage return, erase to the line's end.
  private func show(_ text: String) throws(OutputError) {
    guard output.isTerminal else { return }
    try output.write("\r\u{1B}[K\(text)")
  }
}

/// The report of the tour, a line for each step: its count, its time and its result.
package struct Report: Hashable, Sendable {
  private struct Line: Hashable {
    let cells: [String]
    let detail: String
  }

  private var lines: [Line] = []

  package init() {}

  /// Adds a line. Control characters in `step` and `detail` are shown as escapes.
  package mutating func add(
    _ step: String, count: Int? = nil, took duration: Duration? = nil, detail: String = ""
  ) {
    let milliseconds = duration.map { "\(Self.milliseconds($0)) ms" } ?? ""
    lines.append(
      Line(
        cells: [step.visible, count.map(String.init) ?? "", milliseconds], detail: detail.visible))
  }

  /// The lines, their columns aligned; each ends in a line feed, none in a space.
  package var text: String {
    let widths = (0..<3).map { column in lines.map(\.cells[column].count).max() ?? 0 }
    return lines.map { line in
      let cells = zip(line.cells, widths).enumerated().map { column, cell in
        let padding = String(repeating: " ", count: cell.1 - cell.0.count)
        return column == 0 ? cell.0 + padding : padding + cell.0
      }
      let text = (cells + [line.detail]).joined(separator: "  ")
      return String(text.reversed().drop(while: { $0 == " " }).reversed()) + "\n"
    }.joined()
  }

  /// Formats `duration` with one decimal, rounded half up.
  private static func milliseconds(_ duration: Duration) -> String {
    let tenths = (duration + .microseconds(50)) / Duration.microseconds(100)
    let whole = Int64(tenths)
    return "\(whole / 10).\(whole % 10)"
  }
}
