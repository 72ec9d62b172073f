import Conformance
import Foundation
import SQLiteCore
import SQLiteMapping
import Synchronization
import Testing
import TestSupport

private enum One {
  struct Town: Record, Equatable {
    var id: Int
    var name: String
  }
}

private enum Other {
  struct Town: Record, Equatable {
    static let tableName = "TOWN"
    var id: Int
    var people: Int?
  }
}

private struct TownName: Record, Equatable {
  static let tableName = "town"
  static let isReadOnly = true
  var id: Int
  var name: String
}

@Suite(.everyEngine) struct TableClaimTests {
  let folder: TestFolder
  var path: String { folder.url.appending(path: "test.sqlite3").path }

  init() throws { folder = try TestFolder() }

  /// Runs 16 concurrent accesses, of two types in turn, and counts the rejected accesses of each
  /// type.
  private func rejections(
    _ access: @Sendable @escaping (Int) throws -> Void
  ) -> (even: Int, odd: Int) {
    let counts = Mutex((even: 0, odd: 0))
    DispatchQueue.concurrentPerform(iterations: 16) { turn in
      do {
        try access(turn)
      } catch let error as SQLiteError {
        guard error.code == .misuse, error.message.contains("both use the table") else { return }
        counts.withLock { if turn % 2 == 0 { $0.even += 1 } else { $0.odd += 1 } }
      } catch {}
    }
    return counts.withLock { $0 }
  }

  @Test(arguments: 0..<20)
  func `one of two types that read at the same time is always rejected`(round: Int) throws {
    let database = try Database.at(path)
    let rejections = rejections { turn in
      if turn % 2 == 0 {
        _ = try database.read { try $0.objects(of: One.Town.self) }
      } else {
        _ = try database.read { try $0.objects(of: Other.Town.self) }
      }
    }
    #expect([rejections.even, rejections.odd].sorted() == [0, 8])
  }

  @Test(.requires(.sharedClaims), arguments: 0..<20)
  func `one of two types that write at the same time is always rejected`(round: Int) throws {
    let one = try Database.at(path)
    let other = try Database.at(path)
    let rejections = rejections { turn in
      if turn % 2 == 0 {
        try one.write { try $0.update(One.Town(id: turn, name: "a")) }
      } else {
        try other.write { try $0.update(Other.Town(id: turn)) }
      }
    }
    #expect([rejections.even, rejections.odd].sorted() == [0, 8])
    #expect(
      try one.read { try $0.existingTables() }.filter { $0.lowercased() == "town" }.count == 1)
  }

  @Test func `the type that is used first claims the table, even by a read`() throws {
    let database = try Database.at(path)
    #expect(try database.read { try $0.count(of: One.Town.self) } == 0)
    let error = #expect(throws: SQLiteError.self) {
      try database.write { try $0.update(Other.Town(id: 1)) }
    }
    #expect(error?.code == .misuse)
    #expect(error?.message.contains("One.Town") == true)
    try database.write { try $0.update(One.Town(id: 1, name: "a")) }
  }

  @Test func `read-only types can share a table`() throws {
    let database = try Database.at(path)
    let error = #expect(throws: SQLiteError.self) {
      try database.read { try $0.objects(of: TownName.self) }
    }
    #expect(error?.message.contains("there is no table") == true)
    try database.write { try $0.update(One.Town(id: 1, name: "a")) }
    #expect(try database.read { try $0.objects(of: TownName.self) } == [TownName(id: 1, name: "a")])
    #expect(throws: SQLiteError.self) {
      try database.write { try $0.update(TownName(id: 1, name: "b")) }
    }
  }

  @Test(.requires(.sharedClaims))
  func `a file that all databases have closed can be opened with other types`() throws {
    let database = try Database.at(path)
    let second = try Database.at(path)
    try database.write { try $0.update(One.Town(id: 1, name: "a")) }
    try database.close()
    #expect(throws: SQLiteError.self) { try second.read { try $0.count(of: Other.Town.self) } }
    try second.close()
    let later = try Database.at(path)
    #expect(try later.read { try $0.count(of: Other.Town.self) } == 1)
  }

  @Test func `databases in memory don't share claims`() throws {
    let one = try Database.fresh()
    let other = try Database.fresh()
    try one.write { try $0.update(One.Town(id: 1, name: "a")) }
    try other.write { try $0.update(Other.Town(id: 1)) }
  }
}
