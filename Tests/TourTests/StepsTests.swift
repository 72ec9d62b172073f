import Terminal
import Testing
import Tour

@Suite struct StepsTests {
  @Test func `a step is reported with its count, time and detail`() async throws {
    var steps = Steps(to: Output(isTerminal: false) { _ in })
    let result = try await steps.run("add") {
      await Task.yield()
      return "abc"
    } count: {
      $0.count
    } detail: {
      "of \($0)"
    }
    #expect(result == "abc")
    #expect(steps.report.text.hasPrefix("add  3  "))
    #expect(steps.report.text.hasSuffix(" ms  of abc\n"))
  }

  @Test func `steps print nothing without a terminal`() async throws {
    let captured = CapturedOutput()
    var steps = Steps(to: captured.output(isTerminal: false))
    try await steps.run("add") {}
    #expect(captured.text == "")
  }

  @Test func `a terminal shows a step while it runs and then clears the line`() async throws {
    let captured = CapturedOutput()
    var steps = Steps(to: captured.output(isTerminal: true))
    try await steps.run("a\rdd") { #expect(captured.text == "\r\u{1B}[Ka\\u{D}dd …") }
    #expect(captured.text == "\r\u{1B}[Ka\\u{D}dd …\r\u{1B}[K")
  }

  @Test func `a step that throws is cleared and not reported`() async {
    let captured = CapturedOutput()
    var steps = Steps(to: captured.output(isTerminal: true))
    let error = await #expect(throws: LineProblem("it failed")) {
      try await steps.run("add") { throw LineProblem("it failed") }
    }
    #expect(error != nil)
    #expect(captured.text.hasSuffix("\r\u{1B}[K"))
    #expect(steps.report == Report())
  }
}

/// The text that was written to an output.
final class CapturedOutput {
  private(set) var text = ""

  func output(isTerminal: Bool) -> Output {
    Output(isTerminal: isTerminal) { self.text += $0 }
  }
}
