import Foundation
import SQLiteCluster

/// A cluster of nodes on the loopback interface, running the tests' node program. The nodes end
/// when the instance is deinitialized.
final class LocalCluster {
  let addresses: [String]
  private(set) var processes: [Process] = []
  private let folder: String
  private var inputs: [Pipe] = []

  init(count: Int = 3) throws {
    folder = FileManager.default.temporaryDirectory
      .appending(path: "magicdata-bench-\(UUID().uuidString)").path(percentEncoded: false)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let program = "\(folder)/node"
    try LocalCluster.compile(to: program)
    addresses = try (0..<count).map { _ in "127.0.0.1:\(try BareConnection.freePort())" }
    let ids = (0..<count).map { $0 == 0 ? 0x2dc1_7185_8c31_55be : UInt64($0 + 1) }
    for (id, address) in zip(ids, addresses) {
      let home = "\(folder)/\(id)"
      try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
      let process = Process()
      process.executableURL = URL(filePath: program)
      process.arguments = ["\(id)", address, home]
      let input = Pipe()
      let output = Pipe()
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      _ = output.fileHandleForReading.availableData
      processes.append(process)
      inputs.append(input)
    }
    let leader = try BareConnection(addresses[0])
    for (id, address) in zip(ids, addresses).dropFirst() {
      _ = try leader.call(12, BareConnection.words([id]) + BareConnection.text(address))
      _ = try leader.call(13, BareConnection.words([id, 0]))
    }
  }

  deinit {
    for process in processes { kill(process.processIdentifier, SIGKILL) }
    for process in processes { process.waitUntilExit() }
    try? FileManager.default.removeItem(atPath: folder)
  }

  private static func compile(to program: String) throws {
    var root = URL(filePath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let sources = ["Conformance", "SQLiteClusterTests"].map {
      root.appending(path: "Tests/\($0)/Fixture/node.c").path(percentEncoded: false)
    }
    guard let source = sources.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
      throw Failure("the tests' node.c is missing")
    }
    let compiler = Process()
    compiler.executableURL = URL(filePath: "/usr/bin/env")
    compiler.arguments = ["cc", "-O2", source, "-ldqlite", "-o", program]
    try compiler.run()
    compiler.waitUntilExit()
    guard compiler.terminationStatus == 0 else {
      throw Failure("node.c cannot be compiled; install libdqlite-dev and cc")
    }
  }
}
