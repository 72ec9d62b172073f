import Foundation
import TestSupport

/// A process that runs `ReliabilityHelper`, which is built next to the tests.
struct Helper {
  private let process: Process
  private let pipe: Pipe

  struct Result {
    /// The exit code, or the number of the signal that ended the process.
    let status: Int32
    let wasKilled: Bool
    let output: String
  }

  init(_ arguments: [String]) throws {
    process = Process()
    process.executableURL = try helperProgram("ReliabilityHelper")
    process.arguments = arguments
    pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
  }

  /// Returns the path of the helper program.
  static func path() throws -> String { try helperProgram("ReliabilityHelper").path }

  /// Whether the helper can trace another program. This requires Linux and a permissive container.
  static var canTrace: Bool {
    #if os(Linux)
      (try? run("trace", "0", "/", "/bin/true").status) == 0
    #else
      false
    #endif
  }

  func finish() throws -> Result {
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Result(
      status: process.terminationStatus, wasKilled: process.terminationReason == .uncaughtSignal,
      output: String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines))
  }

  static func run(_ arguments: String...) throws -> Result { try Helper(arguments).finish() }
}
