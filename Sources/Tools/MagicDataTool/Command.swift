/// A command of the tool, such as `query`.
struct Command: Sendable {
  let name: String
  /// The description in the list of commands.
  let summary: String
  /// The arguments, in the notation of the help.
  let usage: String
  let explanation: String
  var flags: Set<String> = []
  var options: Set<String> = []
  var operands: ClosedRange<Int> = 1...1
  var takesParameters = false
  let run: @Sendable (inout Session) throws -> Ending

  /// The output of `magicdata COMMAND --help`.
  var help: String { "Usage: magicdata \(name) \(usage)\n\n\(explanation)\n" }

  static let all: [Command] = [
    .info, .check, .repair, .backup, .dump, .restore, .import, .query, .schema, .sweep, .watch,
  ]

  /// The output of `magicdata --help`.
  static let help = """
    Usage: magicdata COMMAND [OPTIONS] PATH …

    PATH is a store of MagicData, which is a folder, or a database file of SQLite.

    \(all.map { "  \($0.name.padded(to: 8))  \($0.summary)" }.joined(separator: "\n"))

    magicdata COMMAND --help explains a command. Results go to the standard output: a table on a
    terminal, else CSV, or what --format says (table, csv, json). Control characters reach a terminal
    as escapes only.

    Exit status: 0 done, nothing wrong; 1 it failed; 2 wrong command line; 3 something was found
    (faults, differences, work to do); 4 a newer program has made or migrated the store; 5 others
    have it locked; 130 ended by Control-C; 141 nobody read the output any more.

    """
}

extension String {
  /// Returns the text, padded with trailing spaces to a number of characters.
  fileprivate func padded(to count: Int) -> String {
    self + String(repeating: " ", count: max(0, count - self.count))
  }
}

/// The outcome of a command. The raw value is the exit status.
enum Ending: Int32 {
  case done = 0
  case failed = 1
  case usage = 2
  /// The command found faults, differences or work to do.
  case found = 3
  /// A newer program created or migrated the store.
  case newer = 4
  /// Another connection has locked the database.
  case busy = 5
  case interrupted = 130
  case closedPipe = 141
}

/// A failure that the tool itself detects.
struct ToolError: Error {
  let ending: Ending
  let message: String

  static func usage(_ message: String) -> ToolError { ToolError(ending: .usage, message: message) }

  static func failed(_ message: String) -> ToolError {
    ToolError(ending: .failed, message: message)
  }
}
