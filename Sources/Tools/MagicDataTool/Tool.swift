import Dispatch
import MagicData
import Platform
package import Terminal

/// The `magicdata` command-line tool.
@main package struct Tool {
  static func main() {
    // If the reader closes the pipe, `write` fails and the tool exits with its own status.
    signal(SIGPIPE, SIG_IGN)
    let interruption = Interruption()
    let sources = [SIGINT, SIGTERM].map { number in
      // The handler below restores the default action, so a second signal ends the program
      // immediately.
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      // Without `@Sendable`, the closure would be isolated to the main actor and trap on the
      // dispatch queue's thread.
      source.setEventHandler { @Sendable in
        signal(number, SIG_DFL)
        interruption.raise()
      }
      source.resume()
      return source
    }
    let status = run(
      words(), output: .standard, errors: .standardError, interruption: interruption)
    withExtendedLifetime(sources) { exit(status) }
  }

  /// Returns the arguments of the process, with nil for each one that isn't valid UTF-8.
  /// `CommandLine.arguments` would repair these, and a repaired path could name a different file.
  private static func words() -> [String?] {
    (1..<max(Int(CommandLine.argc), 1)).map { index in
      unsafe CommandLine.unsafeArgv[index].flatMap { unsafe String(validatingCString: $0) }
    }
  }

  /// Runs a command and returns the exit status.
  ///
  /// - Parameters:
  ///   - words: The arguments without the program name. An argument that isn't valid UTF-8 is nil.
  ///   - output: The destination of the results.
  ///   - errors: The destination of error messages, notes and progress.
  ///   - interruption: The interruption that another thread raises to end the command early.
  package static func run(
    _ words: [String?], output: Output, errors: Output,
    interruption: Interruption = Interruption()
  ) -> Int32 {
    let known = words.compactMap(\.self)
    var name = "magicdata"
    do {
      guard known.count == words.count else {
        throw ToolError.usage("an argument is not valid UTF-8")
      }
      var words = known[...]
      guard let first = words.popFirst() else {
        throw ToolError.usage("a command is missing")
      }
      if first == "--help" || first == "help" && words.isEmpty {
        try output.write(Command.help)
        return ExitStatus.done.rawValue
      }
      guard let command = Command.all.first(where: { $0.name == first }) else {
        throw ToolError.usage("unknown command \(first.quoted)")
      }
      name += " \(command.name)"
      var session = try Session(
        arguments: try Arguments(words, of: command), output: output, errors: errors,
        interruption: interruption)
      if session.arguments.flags.contains("--help") {
        try output.write(command.help)
        return ExitStatus.done.rawValue
      }
      defer { session.endProgress() }
      return try command.run(&session).rawValue
    } catch {
      let (status, message) = explanation(of: error, interruption)
      // If this write fails too, the exit status is the only report.
      if let message { try? errors.write(message.lines(prefix: name)) }
      return status.rawValue
    }
  }

  /// Returns the exit status and the message for an error. The message is nil if the user
  /// interrupted the command or the reader closed the pipe.
  private static func explanation(
    of error: any Error, _ interruption: Interruption
  ) -> (ExitStatus, [String]?) {
    switch error {
    case let error as ToolError:
      let hint = error.status == .usage ? " (see --help)" : ""
      return (error.status, [error.message + hint])
    case let error as OutputError where error.isClosedPipe:
      return (.closedPipe, nil)
    case is Interrupted:
      return (.interrupted, nil)
    case let error as SQLiteError where error.code.primary == .interrupt && interruption.isRaised:
      return (.interrupted, nil)
    case let error as SQLiteError:
      let status: ExitStatus = [.busy, .locked].contains(error.code.primary) ? .busy : .failed
      return (status, error.lines)
    case AssetError.unknownFormat:
      return (.newer, ["\(error)"])
    default:
      return (.failed, ["\(error)"])
    }
  }
}

extension SQLiteError {
  /// The message, followed by the line of SQL that contains the error and a caret below its
  /// position.
  fileprivate var lines: [String] {
    var lines = ["SQLite error \(code.rawValue): \(message)"]
    // If the file isn't a database, the statement is irrelevant.
    guard let sql, code.primary != .notADatabase else { return lines }
    guard let offset, offset >= 0, offset <= sql.utf8.count else {
      return lines + sql.split(separator: "\n").prefix(20).map { "  \(String($0).visible)" }
    }
    let place = sql.utf8.index(sql.startIndex, offsetBy: offset)
    let before = sql.utf8[..<place]
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { sql.utf8.index(after: $0) }
    let end = sql.utf8[place...].firstIndex(of: UInt8(ascii: "\n"))
    let line = sql[(start ?? sql.startIndex)..<(end ?? sql.endIndex)]
    let number = before.count { $0 == UInt8(ascii: "\n") } + 1
    let label = sql.utf8.contains(UInt8(ascii: "\n")) ? "line \(number): " : ""
    // Long lines are cut to the 60 characters on each side of the error.
    let head = String(sql[(start ?? sql.startIndex)..<place].suffix(60)).visible
    let tail = String(sql[place..<line.endIndex].prefix(60)).visible
    lines.append("  \(label)\(head)\(tail)")
    lines.append("  " + String(repeating: " ", count: label.count + head.terminalWidth) + "^")
    return lines
  }
}

extension [String] {
  /// Joins the lines of a message, prefixed with the program name. Escapes control characters.
  fileprivate func lines(prefix name: String) -> String {
    enumerated().map { ($0 == 0 ? "\(name): " : "") + $1.visible + "\n" }.joined()
  }
}
