import MagicData
import Synchronization
import TestSupport
import Testing

@testable import MagicObservation

/// The outcomes that a loop delivers to the main actor.
@Suite(.timeLimit(.minutes(40))) struct ResultsLoopTests {
  @Test func `equal results don't reach the main actor, unless they follow an error`() async throws
  {
    struct Failure: Error {}
    let magic = try await MagicData(type: .memory)
    try await magic.update(Ship("Fram"))
    let runs = Mutex(0)
    let fetch = LiveFetch<Int> { magic in
      runs.withLock { $0 += 1 }
      let ships = try magic.objects(of: Ship.self)
      if ships.contains(where: { $0.tons == 13 }) { throw Failure() }
      return ships.count
    }
    let delivered = Mutex<[String]>([])
    let loop = ResultsLoop(fetch.observe(in: magic), limit: nil, shown: nil) { outcome in
      let name =
        switch outcome {
        case .result: "result"
        case .unchanged: "unchanged"
        case .failure: "failure"
        case .waiting: "waiting"
        }
      delivered.withLock { $0.append(name) }
    }
    let task = Task.detached { await loop.run() }
    try await waitUntil { delivered.withLock { $0 } == ["result"] }
    func set(tons: Int) async throws {
      let before = runs.withLock { $0 }
      try await magic.updateAll(Ship.all, set: [.set(\.$tons, to: tons)])
      try await waitUntil { runs.withLock { $0 } > before }
    }
    for tons in 1...5 { try await set(tons: tons) }
    try await set(tons: 13)
    try await waitUntil { delivered.withLock { $0.last } == "failure" }
    try await set(tons: 14)
    try await waitUntil { delivered.withLock { $0.last } == "unchanged" }
    for tons in 15...20 { try await set(tons: tons) }
    try await magic.update(Ship("Vasa"))
    try await waitUntil { delivered.withLock { $0.last } == "result" }
    #expect(delivered.withLock { $0 } == ["result", "failure", "unchanged", "result"])
    task.cancel()
    await task.value
  }
}
