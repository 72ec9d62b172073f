/// Why the benchmarks stopped, in words for the terminal.
struct Failure: Error, CustomStringConvertible {
  let description: String
  /// 1 when a result was wrong, 2 when the command line was.
  let exitCode: Int32

  init(_ description: String, exitCode: Int32 = 1) {
    self.description = description
    self.exitCode = exitCode
  }
}
