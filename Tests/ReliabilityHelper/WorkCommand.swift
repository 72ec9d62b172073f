import Foundation
import MagicData
import Workload

/// Works on a store until the process is killed: `work <folder> <process> <milliseconds>`.
///
/// The process writes `? <number>` to its journal before each step and `! <number>` after the step
/// is acknowledged. The journal is append-only, so a kill can damage only its last line.
struct WorkCommand {
  private let folder: String
  private let process: Int
  private let journal: FileHandle
  private var number: Int

  init(folder: String, process: Int) throws {
    self.folder = folder
    self.process = process
    let file = "\(folder)/journal-\(process)"
    if !FileManager.default.fileExists(atPath: file) { try Data().write(to: URL(filePath: file)) }
    let lines = String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
      .split(separator: "\n")
    number = lines.compactMap { Int($0.dropFirst(2)) }.max() ?? 0
    journal = try FileHandle(forWritingTo: URL(filePath: file))
    try journal.seekToEnd()
  }

  mutating func run(milliseconds: Int) throws -> Never {
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: Double(milliseconds) / 1_000)
      kill(getpid(), SIGKILL)
    }
    let store = try Workload(path: "\(folder)/store")
    while true {
      number += 1
      try journal.write(contentsOf: Data("? \(number)\n".utf8))
      try store.run(.random(process: process, number: number))
      try journal.write(contentsOf: Data("! \(number)\n".utf8))
    }
  }
}
