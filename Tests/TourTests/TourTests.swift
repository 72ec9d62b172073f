import Conformance
import Foundation
import Terminal
import Testing
import TestSupport
import Tour

@Suite struct TourTests {
  let folder: TestFolder
  let output = CapturedOutput()
  let errors = CapturedOutput()

  init() throws {
    folder = try TestFolder()
  }

  @Test(arguments: [true, false])
  func `control characters are written only to a terminal`(isTerminal: Bool) async throws {
    try writeDatabase()
    let status = await run(["--zoneinfo", folder.path], isTerminal: isTerminal)
    #expect(status == 0)
    #expect(errors.text == "")
    #expect(output.text.contains("1 countries, 1 zones, 1 pairs"))
    let controls = output.text.unicodeScalars.filter { $0.isControl && $0 != "\n" }
    #expect(!controls.isEmpty == isTerminal)
  }

  @Test func `help is printed`() async {
    #expect(await run(["--help"]) == 0)
    #expect(output.text == Arguments.help)
  }

  @Test(arguments: [["--nonsense"], ["--store"], ["extra"]])
  func `an invalid command line prints an error and exits with status 2`(words: [String]) async {
    #expect(await run(words) == 2)
    #expect(output.text == "")
    #expect(errors.text.hasPrefix("Tour: "))
    #expect(errors.text.hasSuffix(" (see --help)\n"))
  }

  @Test func `a missing database prints the package name and exits with status 1`() async {
    #expect(await run(["--zoneinfo", folder.path + "/no\u{1B}"]) == 1)
    #expect(output.text == "")
    #expect(errors.text.hasPrefix("Tour: \(folder.path)/no\\u{1B}/iso3166.tab is missing"))
    #expect(errors.text.contains("apt-get install tzdata"))
  }

  @Test func `a damaged zone file prints an error and exits with status 1`() async throws {
    try writeDatabase()
    try folder.write("not TZif", to: "Europe/Andorra")
    #expect(await run(["--zoneinfo", folder.path]) == 1)
    #expect(output.text == "")
    #expect(errors.text.contains("/Europe/Andorra: not a TZif file"))
  }

  @Test func `a failed write prints an error and exits with status 1`() async {
    let full = Output(isTerminal: false) { _ throws(OutputError) in throw OutputError(code: 28) }
    let status = await Tour.run(
      ["--help"], output: full, errors: errors.output(isTerminal: false))
    #expect(status == 1)
    #expect(errors.text == "Tour: cannot write the output: \(systemMessage(for: 28))\n")
  }

  @Test(.enabled(if: TestCluster.isAvailable, Comment(rawValue: TestCluster.reason)))
  func `the tour prints the same on a cluster`() async throws {
    try writeDatabase()
    let addresses = try TestCluster.shared.get().addresses.joined(separator: ",")
    let status = await run(["--zoneinfo", folder.path, "--cluster", addresses])
    #expect(errors.text == "")
    #expect(status == 0)
    let onCluster = output.text
    #expect(await run(["--zoneinfo", folder.path]) == 0)
    let inFolder = String(output.text.dropFirst(onCluster.count))
    #expect(withoutTimes(onCluster) == withoutTimes(inFolder))
    // Runs twice more with the existing data.
    for _ in 0..<2 {
      let before = output.text.count
      let status = await run(["--zoneinfo", folder.path, "--cluster", addresses])
      #expect(errors.text == "")
      #expect(status == 0)
      #expect(withoutTimes(String(output.text.dropFirst(before))) == withoutTimes(onCluster))
    }
  }

  /// Returns the text of each step without times, and with single spaces.
  private func withoutTimes(_ text: String) -> [String] {
    text.split(separator: "\n").map { line in
      line.replacing(/[0-9.,]+ (?:ns|µs|us|ms|s)\b|[0-9,.]+\/s/, with: "").split(separator: " ")
        .joined(separator: " ")
    }
  }

  private func run(_ words: [String], isTerminal: Bool = false) async -> Int32 {
    await Tour.run(
      words, output: output.output(isTerminal: isTerminal),
      errors: errors.output(isTerminal: false))
  }

  private func writeDatabase() throws {
    try folder.write("AD\tAndorra\n", to: "iso3166.tab")
    try folder.write("AD\t+4230+00131\tEurope/Andorra\n", to: "zone1970.tab")
    try folder.write("TZif2", to: "Europe/Andorra")
  }
}
