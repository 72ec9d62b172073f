import Testing
import Tour

@Suite struct ArgumentsTests {
  @Test func `without arguments, the defaults apply`() throws {
    let arguments = try Arguments([])
    #expect(arguments.store == nil)
    #expect(arguments.zoneinfo == "/usr/share/zoneinfo")
    #expect(!arguments.wantsHelp)
  }

  @Test(arguments: [
    ["--store", "a b", "--zoneinfo", "-z", "--help"],
    ["--help", "--zoneinfo", "-z", "--store", "a b"],
  ])
  func `options can be in any order`(words: [String]) throws {
    let arguments = try Arguments(words)
    #expect(arguments.store == "a b")
    #expect(arguments.zoneinfo == "-z")
    #expect(arguments.wantsHelp)
  }

  @Test func `cluster nodes are separated by commas`() throws {
    #expect(
      try Arguments(["--cluster", "a:1,[::1]:2,/tmp/c"]).cluster == ["a:1", "[::1]:2", "/tmp/c"])
  }

  @Test(arguments: [
    (["--stor", "x"], "unknown option \"--stor\""),
    (["-h"], "unknown option \"-h\""),
    (["--help", "--"], "unknown option \"--\""),
    (["--store=x"], "unknown option \"--store=x\""),
    (["--\u{1B}[31m"], "unknown option \"--\\u{1B}[31m\""),
    (["x"], "unexpected argument \"x\""),
    ([""], "unexpected argument \"\""),
    (["--store"], "--store needs a folder"),
    (["--zoneinfo"], "--zoneinfo needs a folder"),
    (["--store", ""], "--store needs a folder"),
    (["--store", "--zoneinfo", "x"], "--store needs a folder"),
    (["--store", "x", "--store", "y"], "--store is used twice"),
    (["--cluster"], "--cluster needs addresses"),
    (["--cluster", ","], "--cluster needs addresses"),
    (["--cluster", "a:1", "--store", "x"], "use --store or --cluster, not both"),
  ])
  func `an invalid command line throws`(words: [String], problem: String) {
    #expect(throws: UsageError(problem)) { try Arguments(words) }
  }

  @Test(arguments: [
    "--store FOLDER", "--cluster ADDRESSES", "--zoneinfo FOLDER", "--help", "/usr/share/zoneinfo",
  ])
  func `the help contains every option`(text: String) {
    #expect(Arguments.help.contains(text))
  }

  @Test func `the help fits a terminal of 100 columns`() {
    #expect(Arguments.help.split(separator: "\n").allSatisfy { $0.count <= 100 })
  }
}
