import Conformance
import Foundation
import MagicData
import Testing

private struct Numbered: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var text: String

  init() {}
  init(_ text: String, id: Int? = nil) {
    self.text = text
    if let id { self.id = id }
  }
}

private struct Hidden: MagicObject {
  @MagicValue var text: String
  @OptionalMagicValue var date: Date?

  init() {}
  init(_ text: String) { self.text = text }
}

private struct Named: MagicObject {
  @PrimaryMagicValue var name: String
  @MagicValue var number: Int

  init() {}
  init(_ name: String, _ number: Int) {
    self.name = name
    self.number = number
  }
}

private struct Bare: MagicObject {
  @PrimaryMagicValue var id: Int

  init() {}
  init(id: Int) { self.id = id }
}

/// Saves of many new objects in one call.
@Suite(.everyEngine) struct BatchSavingTests {
  let magic: MagicData

  init() throws { magic = try MagicData.fresh() }

  @Test(arguments: [1, 15, 16, 17, 100])
  func `new objects get consecutive keys, however many are saved at once`(count: Int) throws {
    let objects = (0..<count).map { Numbered("\($0)") }
    #expect(try magic.update(objects) == Array(1...count))
    #expect(objects.map(\.id) == Array(1...count))
    let more = (0..<count).map { Numbered("\($0)") }
    try magic.remove(objects[count - 1])
    // Keys of removed objects aren't reused.
    #expect(try magic.update(more) == Array((count + 1)...(2 * count)))
    #expect(try magic.count(of: Numbered.self) == 2 * count - 1)
  }

  @Test func `assigned keys and generated keys don't collide`() throws {
    // Generated keys must skip this one.
    var objects = [Numbered("given", id: 5)]
    objects += (0..<40).map { Numbered("\($0)") }
    objects.append(Numbered("far", id: 60))
    objects += (0..<40).map { Numbered("more \($0)") }
    let keys = try magic.update(objects)
    #expect(Set(keys).count == objects.count)
    #expect(keys == objects.map(\.id))
    let found = try magic.object(of: Numbered.self)
    let expected = Dictionary(uniqueKeysWithValues: objects.map { ($0.id, $0.text) })
    #expect(Dictionary(uniqueKeysWithValues: found.map { ($0.id, $0.text) }) == expected)
  }

  @Test func `an object with an existing key replaces that object`() throws {
    try magic.update(Numbered("old", id: 3))
    var objects = (0..<20).map { Numbered("\($0)", id: $0 + 1) }
    objects.append(Numbered("twice", id: 7))
    try magic.update(objects)
    let found = try magic.object(of: Numbered.self)
    #expect(found.map(\.id) == Array(1...20))
    #expect(found[2].text == "2")
    #expect(found[6].text == "twice")
  }

  @Test func `objects without a primary value update their own rows`() throws {
    let objects = (0..<50).map { Hidden("\($0)") }
    objects[20].date = Date(timeIntervalSince1970: 1.5)
    let keys = try magic.update(objects)
    for object in objects { object.text += "!" }
    #expect(try magic.update(objects) == keys)
    #expect(try magic.object(of: Hidden.self).map(\.text) == (0..<50).map { "\($0)!" })
    #expect(try magic.object(of: Hidden.self)[20].date == objects[20].date)
  }

  @Test func `an object with an existing primary value keeps its row`() throws {
    let first = try magic.update([Named("a", 1), Named("b", 2), Named("c", 3)])
    let objects = ["x", "b", "y", "a", "b"].map { Named($0, 9) }
    let second = try magic.update(objects)
    #expect(second[1] == first[1] && second[3] == first[0] && second[4] == first[1])
    #expect(Set([second[0], second[2]]).isDisjoint(with: first))
    objects[1].number = 10
    #expect(try magic.update(objects[1]) == first[1])
    #expect(try magic.object(of: Named.self, primary: "b").number == 10)
    #expect(try magic.count(of: Named.self) == 5)
  }

  @Test func `objects that have only a primary value are saved once`() throws {
    try magic.update((1...20).map { Bare(id: $0) })
    #expect(try magic.update((10...40).map { Bare(id: $0) }) == Array(10...40))
    #expect(try magic.count(of: Bare.self) == 40)
  }

  @Test func `a trigger may add rows, but one that skips rows makes the save throw`() throws {
    try magic.update(Numbered("first"))
    try magic.database.executeChange(
      """
      CREATE TRIGGER twin AFTER INSERT ON Numbered WHEN NEW.text NOT LIKE 'twin%'
      BEGIN INSERT INTO Numbered (text) VALUES ('twin of ' || NEW.text); END
      """)
    let objects = (0..<40).map { Numbered("\($0)") }
    try magic.update(objects)
    for object in objects {
      #expect(try magic.object(of: Numbered.self, primary: object.id).text == object.text)
    }
    try magic.database.executeChange(
      """
      CREATE TRIGGER skip BEFORE INSERT ON Numbered WHEN NEW.text = '35'
      BEGIN SELECT RAISE(IGNORE); END
      """)
    let count = try magic.count(of: Numbered.self)
    #expect(throws: MagicError.notSaved(type: "Numbered")) {
      try magic.update((0..<40).map { Numbered("\($0)") })
    }
    #expect(try magic.count(of: Numbered.self) == count)
  }

  @Test func `a missing value in a batch is reported and nothing is saved`() throws {
    var objects = (0..<40).map { Numbered("\($0)") }
    objects.insert(Numbered(), at: 30)
    #expect(throws: MagicError.missingValue(type: "Numbered", property: "text")) {
      try magic.update(objects)
    }
    #expect(try magic.count(of: Numbered.self) == 0)
    objects[30].text = "now"
    #expect(try magic.update(objects) == Array(1...41))
  }

  @Test func `objects saved in a rolled-back transaction are new again`() throws {
    struct Stop: Error {}
    let objects = (0..<20).map { Numbered("\($0)") }
    #expect(throws: Stop.self) {
      try magic.transaction {
        try magic.update(objects)
        #expect(objects[0].id == 1)
        throw Stop()
      }
    }
    #expect(throws: MagicError.notSaved(type: "Numbered")) { try magic.remove(objects[0]) }
    #expect(try magic.update(objects) == Array(1...20))
  }

  @Test func `tasks that save the same new object insert one row`() async throws {
    let magic = magic
    for round in 1...20 {
      let object = Named("\(round)", 0)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 1...8 {
          group.addTask {
            object.number = number
            try await magic.update(object)
          }
        }
        try await group.waitForAll()
      }
      try await magic.update(object)
      let found = try await magic.object(of: Named.self, primary: "\(round)")
      #expect(found.number == object.number)
    }
    #expect(try await magic.count(of: Named.self) == 20)
  }
}
