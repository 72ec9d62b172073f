import Conformance
import MagicData
import SQLiteCore
import Testing
import TestSupport

private struct Numbered: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String

  init() {}

  init(_ name: String, id: Int? = nil) {
    self.name = name
    if let id { self.id = id }
  }
}

/// The state of objects after saves and removals in one batch, one transaction or concurrently.
@Suite(.everyEngine) struct SettlingTests {
  @Test(arguments: [1, 3, 15, 20, 40]) func `generated keys skip explicit keys of the same save`(
    count: Int
  ) throws {
    let magic = try MagicData.fresh()
    let objects = (0..<count).map { Numbered("\($0)") }
    let own = [Numbered("two", id: 2), Numbered("seven", id: 7)]
    let keys = try magic.update(objects + own)
    #expect(Set(keys).count == count + 2)
    #expect(own.map(\.id) == [2, 7])
    let stored = try magic.objects(of: Numbered.self)
    #expect(stored.map(\.name).sorted() == (objects + own).map(\.name).sorted())
    // The same is true for inserts, which never overwrite.
    let other = try MagicData.fresh()
    try other.insert((0..<count).map { Numbered("\($0)") } + [Numbered("two", id: 2)])
    #expect(try other.count(of: Numbered.self) == count + 1)
  }

  @Test func `an object has one row after a concurrent removal and save`() async throws {
    var options = Database.Options()
    options.groupCommit.includesAsyncWrites = true
    let folder = try TestFolder()
    let magic = try await MagicData.at(folder.path, options: options)
    for round in 0..<40 {
      let object = Numbered("\(round)")
      try await magic.update(object)
      async let removed: Void? = try? magic.remove(object)
      async let saved: Int? = try? magic.update(object)
      _ = await (removed, saved)
      object.name = "last \(round)"
      try await magic.update(object)
      let count = try await magic.count(of: Numbered.self, where: \.$id == object.id)
      #expect(count == 1)
      let all = try await magic.count(of: Numbered.self)
      #expect(all == round + 1)
    }
  }

  @Test func `an object removed in a transaction can be saved again in it`() throws {
    let magic = try MagicData.fresh()
    let object = Numbered("a")
    try magic.update(object)
    try magic.transaction {
      try magic.remove(object)
      try magic.update(object)
    }
    #expect(try magic.count(of: Numbered.self) == 1)
    try? magic.transaction {
      try magic.remove(contentsOf: [object])
      throw CancellationError()
    }
    object.name = "b"
    try magic.update(object)
    #expect(try magic.objects(of: Numbered.self).map(\.name) == ["b"])
  }

  @Test func `a rolled-back save causes no conflict`() throws {
    let magic = try MagicData.fresh()
    try magic.update(Numbered("a", id: 1))
    let object = try magic.object(of: Numbered.self, primary: 1)
    try? magic.transaction {
      try magic.update(object)
      object.name = "b"
      throw CancellationError()
    }
    try magic.update(object, ifUnchanged: true)
    #expect(try magic.objects(of: Numbered.self).map(\.name) == ["b"])
  }
}
