package import Terminal

/// A runner for the steps of the tour. It collects a report, and shows the running step on a
/// terminal.
package struct Steps {
  package private(set) var report = Report()
  private let output: Output
  private let clock = ContinuousClock()

  package init(to output: Output) {
    self.output = output
  }

  /// Runs `body` as one step, and adds its duration and result to the report.
  ///
  /// A step that throws isn't added.
  ///
  /// - Parameters:
  ///   - name: The description of the step.
  ///   - body: The operation.
  ///   - count: A closure that returns the number to report for the result, or nil for no number.
  ///   - detail: A closure that returns the text to report for the result.
  /// - Returns: The result of `body`.
  /// - Throws: Any error that `body` throws, or `OutputError` if the terminal can't be written.
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

  /// Replaces the last line of the terminal: returns to its start and erases it.
  private func show(_ text: String) throws(OutputError) {
    guard output.isTerminal else { return }
    try output.write("\r\u{1B}[K\(text)")
  }
}

/// The report of the tour: a line for each step with its count, duration and result.
package struct Report: Hashable, Sendable {
  private struct Line: Hashable {
    let cells: [String]
    let detail: String
  }

  private var lines: [Line] = []

  package init() {}

  /// Adds a line. Escapes control characters in `step` and `detail`.
  package mutating func add(
    _ step: String, count: Int? = nil, took duration: Duration? = nil, detail: String = ""
  ) {
    let milliseconds = duration.map { "\(Self.milliseconds($0)) ms" } ?? ""
    lines.append(
      Line(
        cells: [step.visible, count.map(String.init) ?? "", milliseconds], detail: detail.visible))
  }

  /// The report in aligned columns. Each line ends in a line feed, without trailing spaces.
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

  /// Returns `duration` in milliseconds with one decimal, rounded half up.
  private static func milliseconds(_ duration: Duration) -> String {
    let tenths = (duration + .microseconds(50)) / Duration.microseconds(100)
    let whole = Int64(tenths)
    return "\(whole / 10).\(whole % 10)"
  }
}
