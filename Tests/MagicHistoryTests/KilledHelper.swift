import Foundation
import Testing
import TestSupport

/// Runs `UndoHelper` and kills it, wherever it is then.
///
/// - Parameters:
///   - arguments: The program's arguments.
///   - steps: The number of steps that it must have made.
func killHelper(_ arguments: [String], after steps: Int) throws {
  let (process, pipe) = try startHelper(arguments)
  let id = process.processIdentifier
  defer { kill(id, SIGKILL) }
  // It says a line when it begins, and one after each step: meanwhile it goes on.
  var lines = 0
  while lines <= steps {
    let said = pipe.fileHandleForReading.availableData
    try #require(!said.isEmpty, "the helper has ended")
    lines += said.count { $0 == UInt8(ascii: "\n") }
  }
  kill(id, SIGKILL)
  // `waitUntilExit()` may wait for ever where several processes are started and killed at once. Its end is left
  // for Foundation to collect.
  var end = unsafe siginfo_t()
  while unsafe waitid(P_PID, id_t(id), &end, WEXITED | WNOWAIT) != 0, errno == EINTR {}
}

/// Runs `UndoHelper` to its end, and returns its output.
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
