import Conformance
import Foundation
import MagicCluster
import MagicData
import Synchronization
import TestSupport
import Testing

private struct Note: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var text: String

  init() {}
  init(_ id: Int, _ text: String) {
    self.id = id
    self.text = text
  }
}

/// Tests results that are observed while other clients write and nodes are lost.
@Suite(.serialized, .enabled(if: TestCluster.isAvailable, Comment(rawValue: TestCluster.reason)))
struct ClusterObservingTests {
  @Test func `an observer sees the writes of all clients although leaders are lost`() async throws {
    let cluster = try TestCluster()
    let one = try await MagicData(cluster: cluster.addresses, name: "notes")
    let two = try await MagicData(cluster: cluster.addresses, name: "notes")
    try await one.update(Note(1, "a"))
    let seen = Mutex<[Int]>([])
    let watching = Task {
      for try await count in one.observe(Note.all.count) {
        seen.withLock { $0.append(count) }
        if count == 5 { break }
      }
    }
    let listing = Task {
      var size = 0
      for try await change in one.observe(Note.ordered(by: .ascending(\.$id))).differences() {
        for step in change.difference {
          switch step {
          case .insert: size += 1
          case .remove: size -= 1
          }
        }
        #expect(size == change.objects.count)
        if size == 5 { return change.objects.map(\.text) }
      }
      return []
    }
    try await waitUntil { !seen.withLock(\.isEmpty) }
    for id in 2...5 {
      let leader = try cluster.leader()
      if id % 2 == 0 { cluster.signal(leader, SIGKILL) }
      try await (id % 2 == 0 ? two : one).update(Note(id, "\(id)"))
      if id % 2 == 0 { try cluster.start(leader) }
    }
    try await watching.value
    #expect(try await listing.value == ["a", "2", "3", "4", "5"])
    let counts = seen.withLock { $0 }
    #expect(counts == counts.sorted() && counts.first == 1 && counts.last == 5)
  }

  @Test func `an observer of a closed store throws, and a cancelled one ends`()
    async throws
  {
    let magic = try await MagicData(
      cluster: TestCluster.shared.get().addresses, name: "observed notes")
    let began = Flag()
    let cancelled = Task {
      for try await _ in magic.observe(Note.all.count) { began.set() }
      return true
    }
    try await waitUntil { began.isSet }
    cancelled.cancel()
    #expect(try await cancelled.value)
    let hasBegun = Flag()
    let closed = Task {
      for try await _ in magic.observe(Note.all.count) { hasBegun.set() }
    }
    try await waitUntil { hasBegun.isSet }
    try await magic.database.close()
    await #expect(throws: (any Error).self) { try await closed.value }
  }

  @Test(.timeLimit(.minutes(40)))
  func `an observer without a leader blocks no thread of the concurrency pool`() async throws {
    let cluster = try TestCluster()
    var options = ClusterOptions()
    options.leaderTimeout = .seconds(600)
    let magic = try await MagicData(
      cluster: cluster.addresses, name: "notes", options: options)
    try await magic.update(Note(1, "a"))
    for index in 0..<3 { cluster.signal(index, SIGKILL) }
    let watching = (0..<20).map { _ in
      Task { for try await _ in magic.observe(Note.all.count) {} }
    }
    // There are more observers than threads, but this task still runs.
    try await Task.sleep(for: .milliseconds(50))
    for task in watching { task.cancel() }
    for task in watching { _ = await task.result }
    for index in 0..<3 { try cluster.start(index) }
    #expect(try await magic.count(of: Note.self) == 1)
  }
}
