import Foundation

/// A line on the terminal that shows the current run. Prints nothing if stderr isn't a terminal.
struct Progress {
  private let isTerminal = isatty(STDERR_FILENO) == 1

  func show(_ text: String) {
    write("\r\u{1B}[K\(text)")
  }

  func clear() {
    write("\r\u{1B}[K")
  }

  private func write(_ text: String) {
    guard isTerminal else { return }
    FileHandle.standardError.write(Data(text.utf8))
  }
}
