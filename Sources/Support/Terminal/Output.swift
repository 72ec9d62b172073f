import CTerminal
import Platform

/// A destination of text.
package struct Output {
  /// Whether somebody watches, and escape sequences are understood.
  package let isTerminal: Bool
  /// The columns of the terminal, or nil if they are not known.
  package let columns: Int?
  private let send: (String) throws(OutputError) -> Void

  package init(
    isTerminal: Bool, columns: Int? = nil, _ send: @escaping (String) throws(OutputError) -> Void
  ) {
    self.isTerminal = isTerminal
    self.columns = columns
    self.send = send
  }

  /// Writes to an open file descriptor, at once and without a buffer.
  package init(descriptor: Int32) {
    let columns = Int(cterminal_columns(descriptor))
    self.init(isTerminal: isatty(descriptor) == 1, columns: columns > 0 ? columns : nil) {
      text throws(OutputError) in
      try Self.write(text, to: descriptor)
    }
  }

  package static var standard: Output { Output(descriptor: STDOUT_FILENO) }
  package static var standardError: Output { Output(descriptor: STDERR_FILENO) }

  package func write(_ text: String) throws(OutputError) {
    try send(text)
  }

  private static func write(_ text: String, to descriptor: Int32) throws(OutputError) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { bytes in
        unsafe systemWrite(descriptor, bytes.baseAddress, bytes.count)
      }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        throw OutputError(code: errno)
      }
    }
  }
}

private func systemWrite(
  _ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int
) -> Int {
  unsafe write(descriptor, bytes, count)
}

/// A failure to write, such as a full disk.
package struct OutputError: Error, Hashable, CustomStringConvertible {
  /// The system's `errno`.
  package let code: Int32

  /// Whether nobody reads the pipe any more.
  package var isClosedPipe: Bool { code == EPIPE }

  package init(code: Int32) {
    self.code = code
  }

  package var description: String {
    "cannot write the output: \(systemMessage(for: code))"
  }
}

/// Returns the system's words for an `errno`.
package func systemMessage(for code: Int32) -> String {
  unsafe String(cString: strerror(code))
}
