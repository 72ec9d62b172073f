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
