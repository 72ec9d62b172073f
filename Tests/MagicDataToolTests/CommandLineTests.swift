import Testing
import TestSupport

@Suite struct CommandLineTests {
  let fixture: ToolFixture

  init() throws { fixture = try ToolFixture() }

  @Test func `each command prints its help`() {
    let help = fixture.run("--help")
    #expect(help.status == 0)
    for command in [
      "info", "check", "repair", "backup", "dump", "restore", "import", "query", "schema", "sweep",
      "sync", "watch",
    ] {
      #expect(help.output.contains("\n  \(command) "))
      let own = fixture.run(command, "--help")
      #expect(own.status == 0)
      #expect(own.output.hasPrefix("Usage: magicdata \(command) "))
      #expect(own.output.split(separator: "\n").allSatisfy { $0.count <= 110 })
    }
  }

  @Test(arguments: [
    [], ["nothing"], ["info"], ["info", "a", "b"], ["info", "--no", "a"], ["info", "--format"],
    ["info", "--format", "xml", "STORE"], ["check", "--quick=1", "STORE"], ["backup", "STORE"],
    ["watch", "--for", "long", "STORE"], ["watch", "--for", "-1", "STORE"],
    ["query", "STORE", "SELECT 1", "--a"],
    ["query", "STORE", "SELECT 1", "--a", "--b"],
    ["query", "STORE", "SELECT :a", "--a", "1", "--a", "2"],
    ["info", ""], ["info", "a\0b"], ["query", "STORE", "DELETE FROM Person"],
    ["dump", "STORE", "file"],
  ])
  func `an invalid command line prints an error and exits with status 2`(words: [String]) {
    let words = words.map { $0 == "STORE" ? fixture.store : $0 }
    let result = fixture.run(words: words)
    #expect(result.status == 2)
    #expect(result.output == "")
    #expect(result.errors.hasPrefix("magicdata"))
    #expect(result.errors.hasSuffix("(see --help)\n"))
  }

  @Test func `a missing path or a file that isn't a database exits with status 1`() throws {
    let missing = fixture.folder.path + "/no\u{1B}thing"
    for command in ["info", "check", "repair", "schema", "sweep", "watch"] {
      let result = fixture.run(command, missing)
      #expect(result.status == 1)
      #expect(result.errors.contains("no\\u{1B}thing is missing"))
      #expect(
        fixture.run(command, fixture.folder.path).errors.contains(
          "does not contain default.sqlite3"))
      #expect(fixture.run(command, "/etc/passwd").status == 1)
    }
    #expect(try fixture.names(in: fixture.folder.path) == ["store"])
  }

  @Test func `arguments after two dashes aren't options`() {
    #expect(fixture.run("info", "--", "--help").errors.contains("--help is missing"))
    #expect(fixture.run("query", fixture.store, "--", "SELECT 1 AS one").output == "one\n1\n")
  }
}
