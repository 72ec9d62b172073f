import CTerminal
import Platform

/// A destination of text, such as the standard output.
package struct Output {
  /// Whether the destination is a terminal, which supports escape sequences.
  package let isTerminal: Bool
  /// The width of the terminal in columns, or nil if it is unknown.
  package let columns: Int?
  private let send: (String) throws(OutputError) -> Void

  package init(
    isTerminal: Bool, columns: Int? = nil, _ send: @escaping (String) throws(OutputError) -> Void
  ) {
    self.isTerminal = isTerminal
    self.columns = columns
    self.send = send
  }

  /// Creates an output that writes to a file descriptor immediately, without a buffer. The
  /// descriptor must stay open.
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

/// The error of a failed write, for example because the disk is full.
package struct OutputError: Error, Hashable, CustomStringConvertible {
  /// The error number (`errno`).
  package let code: Int32

  /// Whether the reader has closed the pipe.
  package var isClosedPipe: Bool { code == EPIPE }

  package init(code: Int32) {
    self.code = code
  }

  package var description: String {
    "cannot write the output: \(systemMessage(for: code))"
  }
}

/// Returns the operating system's message for an error number (`strerror`).
package func systemMessage(for code: Int32) -> String {
  unsafe String(cString: strerror(code))
}
