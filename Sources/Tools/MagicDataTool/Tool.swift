import Dispatch
import MagicData
import Platform
package import Terminal

/// The program that `swift run magicdata` runs.
@main package struct Tool {
  static func main() {
    // A closed pipe is an error of `write`, and the end of the program by its own means.
    signal(SIGPIPE, SIG_IGN)
    let interruption = Interruption()
    let sources = [SIGINT, SIGTERM].map { number in
      // The second one ends the program as usual.
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      // Else it would belong to the main thread, and trap on another one.
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

  /// Returns the words of the command line, nil for one that is not UTF-8: `CommandLine.arguments` would repair it, and
  /// a path would be that of another file.
  private static func words() -> [String?] {
    (1..<max(Int(CommandLine.argc), 1)).map { index in
      unsafe CommandLine.unsafeArgv[index].flatMap { unsafe String(validatingCString: $0) }
    }
  }

  /// Runs a command and returns the exit status.
  ///
  /// - Parameters:
  ///   - words: The command line without the program's name. A word that is not UTF-8 is nil.
  ///   - output: Where results go.
  ///   - errors: Where messages and progress go.
  ///   - interruption: Ends the command early.
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
        return Ending.done.rawValue
      }
      guard let command = Command.all.first(where: { $0.name == first }) else {
        throw ToolError.usage("unknown command \(first.quoted)")
      }
      name += " \(command.name)"
      var session = Session(
        words: try Words(words, of: command), output: output, errors: errors,
        interruption: interruption)
      if session.words.flags.contains("--help") {
        try output.write(command.help)
        return Ending.done.rawValue
      }
      defer { session.endProgress() }
      return try command.run(&session).rawValue
    } catch {
      let (ending, message) = explanation(of: error, interruption)
      // When even this cannot be written, the exit status is all that is left to say.
      if let message { try? errors.write(message.lines(behind: name)) }
      return ending.rawValue
    }
  }

  /// The exit status and the words for an error; no words where the user knows why.
  private static func explanation(
    of error: any Error, _ interruption: Interruption
  ) -> (Ending, [String]?) {
    switch error {
    case let error as ToolError:
      let hint = error.ending == .usage ? " (see --help)" : ""
      return (error.ending, [error.message + hint])
    case let error as OutputError where error.isClosedPipe:
      return (.closedPipe, nil)
    case is Interrupted:
      return (.interrupted, nil)
    case let error as SQLiteError where error.code.primary == .interrupt && interruption.isRaised:
      return (.interrupted, nil)
    case let error as SQLiteError:
      let ending: Ending = [.busy, .locked].contains(error.code.primary) ? .busy : .failed
      return (ending, error.lines)
    case AssetError.unknownFormat:
      return (.newer, ["\(error)"])
    default:
      return (.failed, ["\(error)"])
    }
  }
}

extension SQLiteError {
  /// The message, and below it the line of the SQL with a mark where the mistake is.
  fileprivate var lines: [String] {
    var lines = ["SQLite error \(code.rawValue): \(message)"]
    // Of a file that is no database, the statement that met it says nothing.
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
    // A line of a megabyte is no help: what is around the mistake is.
    let head = String(sql[(start ?? sql.startIndex)..<place].suffix(60)).visible
    let tail = String(sql[place..<line.endIndex].prefix(60)).visible
    lines.append("  \(label)\(head)\(tail)")
    lines.append("  " + String(repeating: " ", count: label.count + head.terminalWidth) + "^")
    return lines
  }
}

extension [String] {
  /// The lines as a message of a program, control characters as escapes.
  fileprivate func lines(behind name: String) -> String {
    enumerated().map { ($0 == 0 ? "\(name): " : "") + $1.visible + "\n" }.joined()
  }
}
