import Foundation

/// A line on the terminal that says what is running; nothing where stderr is not a terminal.
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
