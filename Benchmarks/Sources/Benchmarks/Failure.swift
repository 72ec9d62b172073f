/// An error that ends the benchmarks, with a message for the terminal.
struct Failure: Error, CustomStringConvertible {
  let description: String
  /// The exit code: 1 if a result is wrong or a case fails, 64 for an invalid command line.
  let exitCode: Int32

  init(_ description: String) {
    self.init(description, exitCode: 1)
  }

  private init(_ description: String, exitCode: Int32) {
    self.description = description
    self.exitCode = exitCode
  }

  /// Returns a failure for an invalid command line, with exit code 64 (EX_USAGE in sysexits.h).
  static func usage(_ description: String) -> Failure {
    Failure(description, exitCode: 64)
  }
}
