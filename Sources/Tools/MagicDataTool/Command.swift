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
  let run: @Sendable (inout Session) throws -> ExitStatus

  /// The output of `magicdata COMMAND --help`.
  var help: String { "Usage: magicdata \(name) \(usage)\n\n\(explanation)\n" }

  static let all: [Command] = [
    .info, .check, .repair, .backup, .dump, .restore, .import, .query, .schema, .sweep, .sync,
    .watch,
  ]

  /// The output of `magicdata --help`.
  static let help = """
    Usage: magicdata COMMAND [OPTIONS] PATH …

    PATH is the folder of a MagicData store, or an SQLite database file.

    \(all.map { "  \($0.name.padded(to: 8))  \($0.summary)" }.joined(separator: "\n"))

    `magicdata COMMAND --help` explains a command. Results are written to standard output: as a table
    on a terminal, otherwise as CSV, or in the format of --format (table, csv or json). A terminal
    shows control characters as escapes.

    The key of an encrypted database is the value of the environment variable MAGICDATA_KEY. With
    --ask-key, the tool asks for it on the terminal.

    Exit status: 0 success; 1 failure; 2 wrong command line; 3 faults, differences or work to do were
    found; 4 a newer program has created or migrated the store; 5 another program has locked the
    database; 130 stopped by Control-C; 141 the reader closed the pipe.

    """
}

extension String {
  /// Returns the text, padded with trailing spaces to a number of characters.
  fileprivate func padded(to count: Int) -> String {
    self + String(repeating: " ", count: max(0, count - self.count))
  }
}

/// The outcome of a command. The raw value is the exit status.
enum ExitStatus: Int32 {
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
  let status: ExitStatus
  let message: String

  static func usage(_ message: String) -> ToolError { ToolError(status: .usage, message: message) }

  static func failed(_ message: String) -> ToolError {
    ToolError(status: .failed, message: message)
  }
}
