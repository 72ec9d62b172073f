import Dispatch
import MagicData
import Platform
import Synchronization
import Terminal

/// A single run of a command: its arguments, outputs and interruption.
struct Session {
  let arguments: Arguments
  let output: Output
  let errors: Output
  let interruption: Interruption
  /// The key of the database, or nil if it isn't encrypted.
  let key: Database.Key?
  private let clock = ContinuousClock()
  private var lastProgress: ContinuousClock.Instant?

  /// Creates the session of a command. If the arguments contain `--ask-key`, asks for the key of
  /// the database on the terminal, otherwise takes it from the environment variable
  /// `MAGICDATA_KEY`.
  ///
  /// - Throws: `ToolError` if the key can't be read or isn't valid UTF-8.
  init(
    arguments: Arguments, output: Output, errors: Output, interruption: Interruption
  ) throws(ToolError) {
    key = try Self.key(isAsking: arguments.flags.contains("--ask-key"))
    self.arguments = arguments
    self.output = output
    self.errors = errors
    self.interruption = interruption
  }

  private static func key(isAsking: Bool) throws(ToolError) -> Database.Key? {
    let bytes = unsafe isAsking ? getpass("Key: ") : getenv("MAGICDATA_KEY")
    guard let bytes = unsafe bytes else {
      guard isAsking else { return nil }
      throw .failed("the key cannot be read from a terminal")
    }
    guard let text = unsafe String(validatingCString: bytes) else {
      throw .failed("the key is not valid UTF-8")
    }
    if isAsking { unsafe memset(bytes, 0, strlen(bytes)) }
    return text.isEmpty && !isAsking ? nil : Database.Key(passphrase: text)
  }

  /// The SQLite extension of `--extension`, or an empty array if the option is missing.
  var extensions: [Database.Extension] {
    arguments.values["--extension"].map { [.library($0)] } ?? []
  }

  /// Creates a writer for results in the format of `--format`. Without this option, the format is a
  /// table on a terminal, otherwise CSV. Throws `ToolError` if the format is unknown.
  func results(_ columns: [String]) throws -> ResultWriter {
    var format = output.isTerminal ? ResultWriter.Format.table : .csv
    if let name = arguments.values["--format"] {
      guard let named = ResultWriter.Format(rawValue: name) else {
        throw ToolError.usage("--format must be table, csv or json, not \(name.quoted)")
      }
      format = named
    }
    return ResultWriter(columns: columns, format: format, to: output)
  }

  /// Shows the progress of a long operation, at most ten times per second and only if the error
  /// output is a terminal.
  ///
  /// - Throws: `Interrupted` if the user has interrupted the command.
  mutating func progress(_ text: @autoclosure () -> String) throws {
    try interruption.check()
    guard errors.isTerminal else { return }
    let now = clock.now
    if let lastProgress, now - lastProgress < .milliseconds(100) { return }
    lastProgress = now
    // Progress is optional, so a failed write doesn't end the command.
    try? errors.write("\r\u{1B}[K\(text().visible)")
  }

  /// Clears the progress line.
  mutating func endProgress() {
    guard lastProgress != nil else { return }
    lastProgress = nil
    try? errors.write("\r\u{1B}[K")
  }

  /// Prints a message that isn't part of the results to the error output.
  mutating func note(_ text: String) throws {
    endProgress()
    try errors.write(text.visible + "\n")
  }
}

/// A thread-safe flag that ends a command early, for example on Control-C.
package final class Interruption: Sendable {
  private struct State {
    var isRaised = false
    var databases: [Database] = []
  }

  private let state = Mutex(State())

  package init() {}

  package var isRaised: Bool { state.withLock { $0.isRaised } }

  /// Ends the command: interrupts running statements, and `check()` throws from now on.
  package func raise() {
    state.withLock { $0.isRaised = true }
    DispatchQueue.global().async {
      // Repeated, because an interrupt doesn't affect a statement that is just about to start.
      for _ in 0..<100 {
        for database in self.state.withLock({ $0.databases }) { database.interrupt() }
        usleep(50_000)
      }
    }
  }

  /// Adds a database, so that an interruption also ends its running statements.
  func include(_ database: Database) {
    state.withLock { $0.databases.append(database) }
  }

  func check() throws {
    if isRaised { throw Interrupted() }
  }
}

/// The error that ends a command after an interruption by the user.
struct Interrupted: Error {}
