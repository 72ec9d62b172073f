import Dispatch
import MagicData
import Platform
import Synchronization
import Terminal

/// One run of a command.
struct Session {
  let words: Words
  let output: Output
  let errors: Output
  let interruption: Interruption
  private let clock = ContinuousClock()
  private var lastProgress: ContinuousClock.Instant?

  init(words: Words, output: Output, errors: Output, interruption: Interruption) {
    self.words = words
    self.output = output
    self.errors = errors
    self.interruption = interruption
  }

  /// A writer of results in the form that the user wants.
  func results(_ columns: [String]) throws -> ResultWriter {
    var format = output.isTerminal ? ResultWriter.Format.table : .csv
    if let name = words.values["--format"] {
      guard let named = ResultWriter.Format(rawValue: name) else {
        throw ToolError.usage("--format must be table, csv or json, not \(name.quoted)")
      }
      format = named
    }
    return ResultWriter(columns: columns, format: format, to: output)
  }

  /// Shows how far a long work is, ten times a second at most, and only to somebody who watches.
  ///
  /// - Throws: If the user has asked to end.
  mutating func progress(_ text: @autoclosure () -> String) throws {
    try interruption.check()
    guard errors.isTerminal else { return }
    let now = clock.now
    if let lastProgress, now - lastProgress < .milliseconds(100) { return }
    lastProgress = now
    // Whoever watches no more does not need it.
    try? errors.write("\r\u{1B}[K\(text().visible)")
  }

  /// Removes what shows how far a work is.
  mutating func endProgress() {
    guard lastProgress != nil else { return }
    lastProgress = nil
    try? errors.write("\r\u{1B}[K")
  }

  /// Says something that is no result.
  mutating func note(_ text: String) throws {
    endProgress()
    try errors.write(text.visible + "\n")
  }
}

/// The user's wish to end the work.
package final class Interruption: Sendable {
  private struct State {
    var isRaised = false
    var databases: [Database] = []
  }

  private let state = Mutex(State())

  package init() {}

  package var isRaised: Bool { state.withLock { $0.isRaised } }

  /// Ends what runs now and what is begun later.
  package func raise() {
    state.withLock { $0.isRaised = true }
    DispatchQueue.global().async {
      // More than once, since a statement that was about to begin has not heard of it.
      for _ in 0..<100 {
        for database in self.state.withLock({ $0.databases }) { database.interrupt() }
        usleep(50_000)
      }
    }
  }

  /// Stops the statements of a database, too, from now on.
  func include(_ database: Database) {
    state.withLock { $0.databases.append(database) }
  }

  func check() throws {
    if isRaised { throw Interrupted() }
  }
}

/// The end of a work that the user has asked for.
struct Interrupted: Error {}
