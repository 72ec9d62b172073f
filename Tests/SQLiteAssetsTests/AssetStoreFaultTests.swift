import Foundation
import SQLiteAssets
import SQLiteCore
import Testing
import TestSupport

/// Tests file system calls that fail one after the other: once, or persistently from a call on.
@Suite struct AssetStoreFaultTests {
  /// An operation and the contents after its success. `"old"` exists before it.
  enum Work: String, CaseIterable, Sendable {
    case put, putFile, putClone, putCopy, replace, growFromRow, shrinkIntoRow, delete, several
    case putRenamed, rename, batch, rollback, savepoint, sweep, open

    var contents: [String] {
      switch self {
      case .put, .putFile, .putClone, .putRenamed: ["new", "old"]
      case .putCopy: ["old", "old"]
      case .replace, .growFromRow, .shrinkIntoRow: ["new"]
      case .delete: []
      case .several: ["1", "2", "new"]
      case .batch: (0..<20).map { "\($0)" }.sorted() + ["old"]
      case .rollback, .sweep, .open, .rename: ["old"]
      case .savepoint: ["old", "outer"]
      }
    }

    func run(_ fixture: StoreFixture, _ old: AssetRecord) throws {
      let store = fixture.store
      switch self {
      case .put: try store.put("new".utf8)
      case .putFile: try store.put(contentsOf: "\(fixture.temporary.path)/new")
      case .putClone:
        fixture.operations.simulateClones()
        try store.put(contentsOf: "\(fixture.temporary.path)/new")
      case .putCopy:
        let reader = try store.open(old.id)
        try fixture.database.write { try store.put(copyOf: reader, in: $0) }
      case .putRenamed:
        let staged = try store.stage("new".utf8, extension: "a")
        try fixture.database.write { try store.put(staged, extension: "b", in: $0) }
      case .rename:
        let reader = try store.open(old.id)
        try fixture.database.write { connection in
          try store.replace(old.id, withCopyOf: reader, extension: "b", in: connection)
        }
      case .replace: try store.replace(old.id, with: "new".utf8)
      case .growFromRow:
        store.minimumFileSize = 4
        try fixture.database.write { connection in
          try store.replace(old.id, with: "new".utf8, in: connection)
          store.minimumFileSize = 0
          try store.replace(old.id, with: "new".utf8, in: connection)
        }
      case .shrinkIntoRow:
        store.minimumFileSize = 4
        try store.replace(old.id, with: "new".utf8)
      case .delete: try store.delete(old.id)
      case .several:
        try fixture.database.write { connection in
          try store.put("1".utf8, in: connection)
          let gone = try store.put("gone".utf8, in: connection)
          try store.replace(old.id, with: "between".utf8, in: connection)
          try store.delete(gone.id, in: connection)
          try store.put("2".utf8, in: connection)
          try store.replace(old.id, with: "new".utf8, in: connection)
        }
      case .batch:
        try fixture.database.write { connection in
          for number in 0..<20 { try store.put("\(number)".utf8, in: connection) }
        }
      case .rollback:
        _ = try fixture.database.write { connection in
          try store.put("new".utf8, in: connection)
          try store.delete(old.id, in: connection)
          return TransactionOutcome.rollback
        }
      case .savepoint:
        try fixture.database.write { connection in
          try store.put("outer".utf8, in: connection)
          _ = try connection.savepoint {
            try store.put("inner".utf8, in: connection)
            try store.delete(old.id, in: connection)
            return TransactionOutcome.rollback
          }
        }
      case .sweep: _ = try store.sweep()
      case .open:
        try fixture.makePending(old.name)
        _ = try fixture.another(fixture.operations)
      }
    }
  }

  @Test(arguments: Work.allCases, [false, true])
  func `a failed call leaves the old or the new state and no orphaned file`(
    work: Work, isPersistent: Bool
  ) throws {
    var failures = 0
    for number in 0..<500 {
      let calls = try attempt(work, .init(failing: number, isPersistent: isPersistent))
      if calls.failed { failures += 1 }
      if calls.count <= number { break }
    }
    // A deletion removes its files after the commit, so a failure there isn't reported.
    #expect((failures == 0) == (work == .delete || work == .shrinkIntoRow))
    #expect(failures < 500)
  }

  /// Tests EMFILE (no file descriptors), ENOSPC (no space) and ENOSYS (call not supported).
  @Test(arguments: Work.allCases, [24, 28, 38] as [Int32])
  func `the outcome is the same for every error number`(work: Work, error: Int32) throws {
    for call in FaultyFileOperations.changing {
      _ = try attempt(
        work, .init(failing: 0, isPersistent: true, number: error, calls: [call]))
    }
  }

  /// Runs the work with a fault and checks the outcome before and after the store is opened again.
  private func attempt(
    _ work: Work, _ plan: FaultyFileOperations.Plan
  ) throws -> (count: Int, failed: Bool) {
    let temporary = try TestFolder()
    // The store is closed when `run` returns. The next opening finishes its pending work.
    let outcome = try run(work, plan, in: temporary)
    let expected = outcome.failed ? ["old"] : work.contents
    let store = try AssetStore(
      Database(path: "\(temporary.path)/data.sqlite3"), folder: "\(temporary.path)/assets")
    #expect(try contents(store) == expected)
    #expect(try store.verify() == [])
    let named = try store.records().filter { !$0.isInRow }.map(\.name).sorted()
    #expect(temporary.files(in: "assets/files") == named)
    #expect(temporary.files(in: "assets/pending") == [])
    return outcome
  }

  private func run(
    _ work: Work, _ plan: FaultyFileOperations.Plan, in temporary: TestFolder
  ) throws -> (count: Int, failed: Bool) {
    let fixture = try StoreFixture(temporary)
    try fixture.temporary.write("new", to: "new")
    let old = try fixture.store.put("old".utf8)
    fixture.operations.follow(plan)
    var failed = false
    do {
      try work.run(fixture, old)
    } catch is AssetError {
      failed = true
    }
    let count = fixture.operations.count
    fixture.operations.follow(.init())
    let expected = failed ? ["old"] : work.contents
    #expect(try contents(fixture.store) == expected, "\(plan)")
    return (count, failed)
  }

  private func contents(_ store: AssetStore) throws -> [String] {
    try store.records().map { String(decoding: try store.bytes(of: $0.id), as: UTF8.self) }
      .sorted()
  }
}
