/// Why the benchmarks stopped, in words for the terminal.
struct Failure: Error, CustomStringConvertible {
  let description: String
  /// 1 when a result was wrong or a case failed.
  let exitCode: Int32

  init(_ description: String) {
    self.init(description, exitCode: 1)
  }

  private init(_ description: String, exitCode: Int32) {
    self.description = description
    self.exitCode = exitCode
  }

  /// A mistake in the command line, with the exit code of sysexits.h for it.
  static func usage(_ description: String) -> Failure {
    Failure(description, exitCode: 64)
  }
}
