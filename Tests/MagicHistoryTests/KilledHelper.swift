import Foundation
import Synchronization
import Testing

/// Foundation's `Process` misses the end of processes that are started and killed at once.
private let gate = Mutex(())

/// Runs `UndoHelper` and kills it, wherever it is then.
///
/// - Parameters:
///   - arguments: The program's arguments.
///   - seconds: The time from its first word to its end.
func killHelper(_ arguments: [String], after seconds: Double) throws {
  let program = try helper()
  try gate.withLock { _ in
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    defer { kill(process.processIdentifier, SIGKILL) }
    _ = pipe.fileHandleForReading.availableData
    Thread.sleep(forTimeInterval: seconds)
    #expect(process.isRunning)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}

/// The program, which lies beside the tests.
private func helper() throws -> URL {
  let folders =
    [Bundle.main.bundlePath, CommandLine.arguments.first ?? ""]
    + Bundle.allBundles.map(\.bundlePath)
  let candidates = folders.flatMap { path in
    [URL(filePath: path), URL(filePath: path).deletingLastPathComponent()]
  }.map { $0.appending(path: "UndoHelper") }
  return try #require(
    candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) })
}
