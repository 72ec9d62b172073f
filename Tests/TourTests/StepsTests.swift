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

  @Test func `nothing is shown where there is no terminal`() async throws {
    let shown = Shown()
    var steps = Steps(to: shown.output(isTerminal: false))
    try await steps.run("add") {}
    #expect(shown.text == "")
  }

  @Test func `a terminal shows a step while it runs and then forgets it`() async throws {
    let shown = Shown()
    var steps = Steps(to: shown.output(isTerminal: true))
    try await steps.run("a\rdd") { #expect(shown.text == "\r\u{1B}[Ka\\u{D}dd …") }
    #expect(shown.text == "\r\u{1B}[Ka\\u{D}dd …\r\u{1B}[K")
  }

  @Test func `a step that throws is forgotten and not reported`() async {
    let shown = Shown()
    var steps = Steps(to: shown.output(isTerminal: true))
    let error = await #expect(throws: LineProblem("it failed")) {
      try await steps.run("add") { throw LineProblem("it failed") }
    }
    #expect(error != nil)
    #expect(shown.text.hasSuffix("\r\u{1B}[K"))
    #expect(steps.report == Report())
  }
}

/// What an output was given.
final class Shown {
  private(set) var text = ""

  func output(isTerminal: Bool) -> Output {
    Output(isTerminal: isTerminal) { self.text += $0 }
  }
}
