import Foundation
import Synchronization
import TestSupport

/// A thread that copies files between folders, with the faults of such programs: it delays, doubles
/// and reorders files, and writes some of them in two parts. It also copies deletions.
final class FolderCopier: Sendable {
  private let folders: [String]
  private let state: Mutex<State>
  private let isStopped = Flag()
  private let end = DispatchSemaphore(value: 0)

  private struct State {
    var random: SplitMix64
    /// The files that each folder contained, and whether they were complete.
    var known: [[String: Bool]]
    /// The files that were deleted in one folder, and the folders that still contain them.
    var deleted: [String: Set<Int>] = [:]
  }

  init(_ folders: [String], seed: UInt64) {
    self.folders = folders
    state = Mutex(
      State(
        random: SplitMix64(seed: seed), known: Array(repeating: [:], count: folders.count)))
  }

  func start() {
    Thread.detachNewThread { [self] in
      while !isStopped.isSet {
        copy(isHostile: true)
        Thread.sleep(forTimeInterval: 0.002)
      }
      end.signal()
    }
  }

  func stop() {
    isStopped.set()
    end.wait()
  }

  /// Copies all files that can be copied; all that are missing if `isHostile` is false.
  func copy(isHostile: Bool) {
    state.withLock { state in
      let present = folders.map { folder in
        // A file that is being written has another name.
        Set(
          ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter {
            !$0.hasPrefix(".") && !$0.contains("tmp") && !$0.contains(" ")
          })
      }
      for (index, names) in present.enumerated() {
        for name in state.known[index].keys where !names.contains(name) {
          state.known[index][name] = nil
          if state.deleted[name] == nil {
            state.deleted[name] = Set(folders.indices.filter { state.known[$0][name] != nil })
          }
          state.deleted[name]?.remove(index)
        }
        for name in names where state.known[index][name] == nil {
          state.known[index][name] = true
        }
      }
      for name in state.deleted.keys.sorted() {
        for index in (state.deleted[name] ?? []).sorted()
        where !isHostile || chance(3, &state) {
          try? FileManager.default.removeItem(atPath: "\(folders[index])/\(name)")
          state.known[index][name] = nil
          state.deleted[name]?.remove(index)
        }
        if state.deleted[name]?.isEmpty ?? true { state.deleted[name] = nil }
      }
      var tasks: [(name: String, source: Int, target: Int)] = []
      for source in folders.indices {
        for (name, isComplete) in state.known[source] where isComplete && state.deleted[name] == nil
        {
          for target in folders.indices where state.known[target][name] != true {
            tasks.append((name, source, target))
          }
        }
      }
      tasks.sort { ($0.name, $0.source, $0.target) < ($1.name, $1.source, $1.target) }
      for (name, source, target) in tasks.shuffled(using: &state.random) {
        guard state.known[target][name] != true else { continue }
        if isHostile, chance(2, &state) { continue }
        guard let content = FileManager.default.contents(atPath: "\(folders[source])/\(name)")
        else { continue }
        let path = "\(folders[target])/\(name)"
        if isHostile, state.known[target][name] == nil, chance(6, &state), !content.isEmpty {
          let length = Int.random(in: 0..<content.count, using: &state.random)
          try? content.prefix(length).write(to: URL(filePath: path))
          state.known[target][name] = false
          continue
        }
        if isHostile, chance(12, &state) {
          try? content.write(to: URL(filePath: "\(path) (conflicted copy \(source))"))
        }
        try? content.write(to: URL(filePath: path))
        state.known[target][name] = true
      }
    }
  }

  private func chance(_ range: Int, _ state: inout State) -> Bool {
    Int.random(in: 0..<range, using: &state.random) == 0
  }
}
