import Conformance
import Foundation
import MagicData
import Testing

private enum One {
  struct Town: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var name: String
    init() { name = "" }
  }
}

private enum Other {
  struct Town: MagicObject {
    @MagicValue var people: Int
    init() { people = 0 }
  }
}

private struct TownRow: Record, Sendable {
  static let tableName = "town"
  var id: Int
  var name: String
}

private struct TownName: Record, Sendable, Equatable {
  static let tableName = "Town"
  static let isReadOnly = true
  var id: Int
  var name: String
}

@Suite(.everyEngine) struct TableClaimTests {
  let folder: String

  init() {
    folder =
      FileManager.default.temporaryDirectory.appending(path: "claims-\(UUID().uuidString)")
      .path
  }

  private func remove() { try? FileManager.default.removeItem(atPath: folder) }

  @Test(.requires(.sharedClaims))
  func `two object types on one table throw, also from another store`() throws {
    defer { remove() }
    let magic = try MagicData.at(folder)
    let second = try MagicData.at(folder)
    try magic.update(One.Town())
    for store in [magic, second] {
      let error = #expect(throws: MagicError.self) { try store.count(of: Other.Town.self) }
      guard case .conflictingTypes("Town", let types)? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(types.count == 2)
      #expect(types[0].contains("One.Town") && types[1].contains("Other.Town"))
    }
    #expect(try second.count(of: One.Town.self) == 1)
  }

  @Test func `an object type and a record type can't share a table, in either order`() throws {
    defer { remove() }
    let magic = try MagicData.at(folder)
    try magic.update(One.Town())
    #expect(throws: SQLiteError.self) {
      try magic.database.write { try $0.update(TownRow(id: 2, name: "b")) }
    }
    #expect(throws: SQLiteError.self) {
      try magic.database.read { try $0.objects(of: TownRow.self) }
    }
    #expect(
      try magic.database.read { try $0.objects(of: TownName.self) } == [TownName(id: 1, name: "")])

    let memory = try MagicData.fresh()
    try memory.database.write { try $0.update(TownRow(id: 2, name: "b")) }
    #expect(throws: MagicError.self) { try memory.update(One.Town()) }
    #expect(try memory.database.read { try $0.count(of: TownRow.self) } == 1)
  }

  @Test func `when two types claim a table concurrently, one of them always throws`() async throws {
    for _ in 0..<20 {
      let magic = try await MagicData.fresh()
      let refusals = await withTaskGroup(of: (Bool, Bool).self) { group in
        for turn in 0..<16 {
          group.addTask {
            do {
              if turn % 2 == 0 {
                _ = try await magic.update(One.Town())
              } else {
                _ = try await magic.objects(of: Other.Town.self)
              }
              return (turn % 2 == 0, false)
            } catch MagicError.conflictingTypes {
              return (turn % 2 == 0, true)
            } catch {
              return (turn % 2 == 0, false)
            }
          }
        }
        return await group.reduce(into: [(Bool, Bool)]()) { $0.append($1) }
      }
      let even = refusals.filter { $0.0 && $0.1 }.count
      let odd = refusals.filter { !$0.0 && $0.1 }.count
      #expect([even, odd].sorted() == [0, 8])
    }
  }
}
