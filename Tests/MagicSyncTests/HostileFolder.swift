import Foundation
import MagicSync
import Synchronization
import TestSupport

/// A copier that copies files to several readers. Its faults follow from a seed; time
/// is counted in calls of `list`.
final class HostileCopier: Sendable {
  struct Failure: Error {}

  private struct File {
    let author: Int
    let content: Data
    /// The time from which each reader sees the file, by the reader's own clock.
    var arrivals: [Int]
    /// The time from which each reader sees the whole content.
    var completions: [Int]
    /// The number of bytes, or the altered byte, that readers see before.
    let length: Int
    let isAltered: Bool
    /// The time from which a reader no longer sees the file.
    var removals: [Int?]
  }

  private struct State {
    var random: SplitMix64
    var files: [String: File] = [:]
    var foreign: [String: Data] = [:]
    var clocks: [Int]
    var damaged: [Set<String>]
    var isFriendly = true
    var kinds: Set<String> = []
  }

  let readerCount: Int
  private let state: Mutex<State>

  init(readers: Int, seed: UInt64) {
    readerCount = readers
    state = Mutex(
      State(
        random: SplitMix64(seed: seed), clocks: Array(repeating: 0, count: readers),
        damaged: Array(repeating: [], count: readers)))
  }

  func folder(of reader: Int) -> HostileFolder { HostileFolder(copier: self, reader: reader) }

  /// Begins with faults.
  func becomeHostile() { state.withLock { $0.isFriendly = false } }

  /// Ends all faults. Foreign files whose names can't be ours stay.
  func becomeFriendly() {
    state.withLock { state in
      state.isFriendly = true
      state.foreign = state.foreign.filter { !$0.key.hasPrefix("c-") && !$0.key.hasPrefix("a-") }
    }
  }

  /// Returns the names of the files that a reader has read with wrong content since the last call.
  func takeDamaged(by reader: Int) -> Set<String> {
    state.withLock { state in
      defer { state.damaged[reader] = [] }
      return state.damaged[reader]
    }
  }

  /// The names of the faults that have occurred.
  var kinds: Set<String> { state.withLock { $0.kinds } }

  // MARK: - Calls of folders

  fileprivate func list(_ reader: Int) throws -> [String] {
    try state.withLock { state in
      state.clocks[reader] += 1
      try fail(&state, "list", 40)
      var names = state.files.filter { isVisible($0.value, reader, state) }.map(\.key)
      names += state.foreign.keys
      guard !state.isFriendly else { return names.sorted() }
      // A list is not what can be read.
      if chance(&state, 6), let name = state.files.keys.sorted().randomElement(using: &state.random)
      {
        state.kinds.insert("wrong list")
        if let place = names.firstIndex(of: name) {
          names.remove(at: place)
        } else {
          names.append(name)
        }
      }
      return names.sorted().shuffled(using: &state.random)
    }
  }

  fileprivate func read(_ name: String, _ reader: Int) throws -> Data? {
    try state.withLock { state in
      try fail(&state, "read", 60)
      if let content = state.foreign[name] { return content }
      guard let file = state.files[name], isVisible(file, reader, state) else { return nil }
      if state.isFriendly || file.author == reader
        || state.clocks[reader] >= file.completions[reader]
      {
        return file.content
      }
      state.damaged[reader].insert(name)
      if file.isAltered, !file.content.isEmpty {
        state.kinds.insert("altered")
        var content = file.content
        content[content.startIndex + file.length % content.count] ^= 0x20
        return content
      }
      state.kinds.insert("truncated")
      return file.content.prefix(file.length)
    }
  }

  fileprivate func create(_ name: String, _ content: Data, _ reader: Int) throws -> Bool {
    try state.withLock { state in
      try fail(&state, "full", 25)
      if let file = state.files[name], isVisible(file, reader, state) { return false }
      var file = File(
        author: reader, content: content, arrivals: state.clocks, completions: state.clocks,
        length: content.isEmpty ? 0 : Int.random(in: 0..<content.count, using: &state.random),
        isAltered: chance(&state, 3), removals: Array(repeating: nil, count: readerCount))
      if !state.isFriendly {
        for other in 0..<readerCount where other != reader {
          switch Int.random(in: 0..<10, using: &state.random) {
          case 0..<4: break
          case 4..<8:
            state.kinds.insert("late")
            file.arrivals[other] += Int.random(in: 1...4, using: &state.random)
          case 8: file.arrivals[other] += 2
          default:
            state.kinds.insert("dropped")
            file.arrivals[other] = .max / 2
          }
          file.completions[other] =
            file.arrivals[other]
            + (chance(&state, 4) ? Int.random(in: 1...3, using: &state.random) : 0)
        }
        addForeignFiles(name, content, &state)
      }
      state.files[name] = file
      // The file exists, although the call fails.
      try fail(&state, "late failure", 40)
      return true
    }
  }

  fileprivate func remove(_ name: String, _ reader: Int) throws {
    try state.withLock { state in
      try fail(&state, "read-only", 10)
      guard var file = state.files[name] else { return }
      for other in 0..<readerCount {
        let delay =
          state.isFriendly || other == reader ? 0 : Int.random(in: 0...6, using: &state.random)
        file.removals[other] = state.clocks[other] + delay
      }
      state.files[name] = file
    }
  }

  // MARK: - Faults

  private func isVisible(_ file: File, _ reader: Int, _ state: borrowing State) -> Bool {
    if let removal = file.removals[reader], state.isFriendly || state.clocks[reader] >= removal {
      return false
    }
    return state.isFriendly || file.author == reader
      || state.clocks[reader] >= file.arrivals[reader]
  }

  private func addForeignFiles(_ name: String, _ content: Data, _ state: inout State) {
    guard chance(&state, 4) else { return }
    state.kinds.insert("foreign")
    let hexadecimal = (0..<32).map { _ in
      String(Int.random(in: 0..<16, using: &state.random), radix: 16)
    }.joined()
    switch Int.random(in: 0..<8, using: &state.random) {
    case 0: state.foreign["\(name) (conflicted copy 2026-11-26)"] = content
    case 1: state.foreign["\(name) 2"] = content
    case 2: state.foreign[".\(name).icloud"] = Data("bplist".utf8)
    case 3: state.foreign["c-\(hexadecimal)-1"] = Data("garbage".utf8)
    case 4: state.foreign["c-\(hexadecimal)-1"] = content
    case 5: state.foreign["a-\(hexadecimal)\(hexadecimal)-0"] = content
    case 6: state.foreign["c-\(hexadecimal)-01"] = content
    default: state.foreign["Ünïcode \u{202E}.txt"] = Data()
    }
  }

  private func chance(_ state: inout State, _ range: Int) -> Bool {
    Int.random(in: 0..<range, using: &state.random) == 0
  }

  private func fail(_ state: inout State, _ kind: String, _ range: Int) throws {
    guard !state.isFriendly, chance(&state, range) else { return }
    state.kinds.insert(kind)
    throw Failure()
  }
}

/// The folder of one reader of a ``HostileCopier``.
struct HostileFolder: SyncFolder {
  let copier: HostileCopier
  let reader: Int

  func list() async throws -> [String] { try copier.list(reader) }
  func read(_ name: String) async throws -> Data? { try copier.read(name, reader) }
  func create(_ name: String, _ content: Data) async throws -> Bool {
    try copier.create(name, content, reader)
  }
  func remove(_ name: String) async throws { try copier.remove(name, reader) }
}
