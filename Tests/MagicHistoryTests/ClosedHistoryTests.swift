import MagicData
import MagicHistory
import SQLiteHistory
import Testing
import TestSupport
import UndoWorkload

@Suite struct ClosedHistoryTests {
  @Test func `every call after the store is closed throws the same error`() async throws {
    let magic = try await MagicData(type: .temporary)
    let history = try await magic.history()
    let ann = Author("ann")
    let patch = try await magic.patch { try magic.update(ann) }
    try await magic.close()

    func expectClosed(_ call: () throws -> Void) {
      #expect(throws: MagicError.closed) { try call() }
    }
    expectClosed { _ = try history.undo() }
    expectClosed { _ = try history.redo() }
    expectClosed { try history.clear() }
    expectClosed { try magic.undoable("x") {} }
    expectClosed { _ = try magic.patch {} }
    expectClosed { try magic.apply(patch) }
    expectClosed { try magic.copyAssets(of: patch, to: "unused") }
    expectClosed { try magic.keepTrail() }
    expectClosed { _ = try magic.trail(of: Author.self, zIndex: 1) }
    await #expect(throws: MagicError.closed) { try await history.undo() }
    await #expect(throws: MagicError.closed) { try await history.redo() }
    await #expect(throws: MagicError.closed) { try await history.clear() }
    await #expect(throws: MagicError.closed) { try await magic.undoable("x") {} }
    await #expect(throws: MagicError.closed) { try await magic.patch {} }
    await #expect(throws: MagicError.closed) { try await magic.apply(patch) }
    await #expect(throws: MagicError.closed) {
      try await magic.copyAssets(of: patch, to: "unused")
    }
    await #expect(throws: MagicError.closed) { try await magic.keepTrail() }
    await #expect(throws: MagicError.closed) {
      try await magic.trail(of: Author.self, zIndex: 1)
    }
  }

  @Test(arguments: [MagicData.StoreType.temporary, .memory], [DeltaStart.changes, .current])
  func `deltas of a closed store throw the same error in each iteration`(
    type: MagicData.StoreType, start: DeltaStart
  ) async throws {
    let magic = try await MagicData(type: type)
    var deltas = magic.deltas(of: Author.self, including: start).makeAsyncIterator()
    try await magic.update(Author("ann"))
    try await magic.close()
    await #expect(throws: MagicError.closed) { try await deltas.next() }
    await #expect(throws: MagicError.closed) { try await deltas.next() }
  }
}
