import Foundation
import MagicSync
import Synchronization

/// A folder in memory whose calls fail as a test wishes.
final class FaultyFolder: SyncFolder {
  enum Call: Hashable { case list, read, create, remove }

  /// An error that isn't a `SyncFolderError`.
  struct Failure: Error, Equatable {}

  private struct State {
    var files: [String: Data] = [:]
    var failing: Set<Call> = []
    var unreadable: Set<String> = []
    var counts: [Call: Int] = [:]
    var isStuck = false
  }

  private let state = Mutex(State())

  var files: [String: Data] {
    get { state.withLock { $0.files } }
    set { state.withLock { $0.files = newValue } }
  }
  /// The calls that fail.
  var failing: Set<Call> {
    get { state.withLock { $0.failing } }
    set { state.withLock { $0.failing = newValue } }
  }
  /// The names of the files whose content can't be read.
  var unreadable: Set<String> {
    get { state.withLock { $0.unreadable } }
    set { state.withLock { $0.unreadable = newValue } }
  }
  /// Whether each call waits until its task is cancelled.
  var isStuck: Bool {
    get { state.withLock { $0.isStuck } }
    set { state.withLock { $0.isStuck = newValue } }
  }

  func count(_ call: Call) -> Int { state.withLock { $0.counts[call, default: 0] } }

  private func called(_ call: Call) async throws {
    if isStuck { try await Task.sleep(for: .seconds(3_600)) }
    try state.withLock { state in
      state.counts[call, default: 0] += 1
      if state.failing.contains(call) { throw Failure() }
    }
  }

  func list() async throws -> [String] {
    try await called(.list)
    return files.keys.sorted()
  }

  func read(_ name: String) async throws -> Data? {
    try await called(.read)
    if unreadable.contains(name) { throw Failure() }
    return files[name]
  }

  func create(_ name: String, _ content: Data) async throws -> Bool {
    try await called(.create)
    return state.withLock { state in
      guard state.files[name] == nil else { return false }
      state.files[name] = content
      return true
    }
  }

  func remove(_ name: String) async throws {
    try await called(.remove)
    state.withLock { $0.files[name] = nil }
  }
}
