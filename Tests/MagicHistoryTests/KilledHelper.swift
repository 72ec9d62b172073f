import Foundation
import Testing

/// Runs `UndoHelper` and kills it, wherever it is then.
///
/// - Parameters:
///   - arguments: The program's arguments.
///   - steps: The number of steps that it must have made.
func killHelper(_ arguments: [String], after steps: Int) throws {
  let process = Process()
  process.executableURL = try helper("UndoHelper")
  process.arguments = arguments
  let pipe = Pipe()
  process.standardOutput = pipe
  try process.run()
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
  let process = Process()
  process.executableURL = try helper("UndoHelper")
  process.arguments = arguments
  let pipe = Pipe()
  process.standardOutput = pipe
  try process.run()
  let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
  process.waitUntilExit()
  try #require(process.terminationStatus == 0)
  return String(decoding: output, as: UTF8.self)
}

/// The path of a program that lies beside the tests.
func helper(_ name: String) throws -> URL {
  let folders =
    [Bundle.main.bundlePath, CommandLine.arguments.first ?? ""]
    + Bundle.allBundles.map(\.bundlePath)
  let candidates = folders.flatMap { path in
    [URL(filePath: path), URL(filePath: path).deletingLastPathComponent()]
  }.map { $0.appending(path: name) }
  return try #require(
    candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) })
}
