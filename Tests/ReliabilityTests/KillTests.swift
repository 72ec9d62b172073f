import Foundation
import MagicData
import Testing
import TestSupport
import Workload

/// Tests that kill processes while they use all layers of one store. Afterwards, the tests compare
/// the store with the changes that it acknowledged.
///
/// `MAGICDATA_KILLS` sets the number of kills per test.
@Suite(.serialized) struct KillTests {
  static let kills = ProcessInfo.processInfo.environment["MAGICDATA_KILLS"].flatMap { Int($0) }

  @Test(arguments: [1, 3])
  func `killed processes leave all acknowledged changes`(processes: Int) throws {
    var history = try History(processes: processes)
    var random = SplitMix64(seed: UInt64(processes))
    for _ in 0..<max(1, (Self.kills ?? 36) / processes) {
      let helpers = try (0..<processes).map { process in
        // Some are killed while they open the store.
        let time = Int.random(in: 5...150, using: &random)
        return try Helper(["work", history.folder.path, "\(process)", "\(time)"])
      }
      for helper in helpers {
        let result = try helper.finish()
        #expect(result.wasKilled && result.status == SIGKILL, "\(result.output)")
      }
      try history.check()
    }
    #expect(history.acknowledged > 0)
    print("kills: \(history.kills), \(processes) concurrent, \(history.acknowledged) acknowledged")
  }

  /// The changes that the store acknowledged to the processes.
  private struct History {
    let folder: TestFolder
    private(set) var acknowledged = 0
    private(set) var kills = 0
    private var states: [Step.State]
    /// The number of bytes of each journal that were read so far.
    private var read: [Int]

    init(processes: Int) throws {
      folder = try TestFolder.inMemory()
      states = Array(repeating: [:], count: processes)
      read = Array(repeating: 0, count: processes)
      let store = try Workload(path: folder.file("store"))
      try store.run(.removeAll("a"))
      try store.magic.database.close()
    }

    /// Opens the store like the next process would, and compares everything.
    mutating func check() throws {
      kills += states.count
      let store = try Workload(path: folder.file("store"))
      try store.check()
      let all = try store.state()
      for process in states.indices {
        let found = all.filter { key, _ in
          key.contains(" p\(process)s") || key == "migrations" && process == 0
        }
        let pending = try advance(process)
        let possible = pending?.outcomes(from: states[process]) ?? [states[process]]
        #expect(possible.contains(found), "lost or wrong: \(process)")
        states[process] = found
      }
      #expect(all.count == states.reduce(0) { $0 + $1.count }, "the store has unexpected keys")
      try store.magic.database.close()
    }

    /// Applies the steps that were acknowledged since the last check, and returns the step that was
    /// cut off.
    private mutating func advance(_ process: Int) throws -> Step? {
      let name = "journal-\(process)"
      guard folder.contains(name) else { return nil }
      let bytes = try folder.bytes(of: name)
      let text = String(decoding: bytes[read[process]...], as: UTF8.self)
      read[process] = bytes.count
      var pending: Step?
      for line in text.split(separator: "\n", omittingEmptySubsequences: true) {
        guard let number = Int(line.dropFirst(2)) else { continue }
        let step = Step.random(process: process, number: number)
        if line.first == "!" {
          step.apply(to: &states[process])
          acknowledged += 1
          pending = nil
        } else {
          pending = step
        }
      }
      return pending
    }
  }
}
