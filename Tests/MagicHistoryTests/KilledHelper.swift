import Foundation
import Testing
import TestSupport

/// Runs `UndoHelper` and kills it at an arbitrary moment.
///
/// - Parameters:
///   - arguments: The program's arguments.
///   - steps: The number of steps that it must have made before.
func killHelper(_ arguments: [String], after steps: Int) throws {
  let (process, pipe) = try startHelper(arguments)
  let id = process.processIdentifier
  defer { kill(id, SIGKILL) }
  // The helper prints a line when it begins and after each step, and continues without waiting.
  var lines = 0
  while lines <= steps {
    let output = pipe.fileHandleForReading.availableData
    try #require(!output.isEmpty, "the helper has ended")
    lines += output.count { $0 == UInt8(ascii: "\n") }
  }
  kill(id, SIGKILL)
  // `waitUntilExit()` can hang if several processes are started and killed concurrently. This waits
  // without reaping the process, which Foundation does later.
  var end = unsafe siginfo_t()
  while unsafe waitid(P_PID, id_t(id), &end, WEXITED | WNOWAIT) != 0, errno == EINTR {}
}

/// Runs `UndoHelper` until it exits and returns its output.
func runHelper(_ arguments: [String]) throws -> String {
  let (process, pipe) = try startHelper(arguments)
  let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
  process.waitUntilExit()
  try #require(process.terminationStatus == 0)
  return String(decoding: output, as: UTF8.self)
}

private func startHelper(_ arguments: [String]) throws -> (Process, Pipe) {
  let process = Process()
  process.executableURL = try helperProgram("UndoHelper")
  process.arguments = arguments
  let pipe = Pipe()
  process.standardOutput = pipe
  try process.run()
  return (process, pipe)
}
