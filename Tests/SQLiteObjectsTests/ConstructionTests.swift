import Conformance
import Foundation
import MagicData
import Testing

/// An object whose `init()` assigns values, some of them computed from others.
private struct Prepared: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var first: String = "a"
  @MagicValue var last: String = "b"
  @MagicValue var whole: String
  @MagicValue var list: [String]

  init() {
    whole = first + last
    list = [whole]
    list.append("c")
  }
}

/// An object whose `init()` creates other objects before it creates its own wrappers.
private struct Nested: MagicObject {
  @MagicValue var other: Plain = Plain("new")
  @MagicValue var text: String
  @OptionalMagicValue var next: Plain? = Plain("next")
}

private struct Plain: MagicObject {
  @MagicValue var text: String

  init() {}
  init(_ text: String) { self.text = text }
}

/// An object whose `init()` creates its wrappers a second time, in another order.
private struct Shuffled: MagicObject {
  @MagicValue var a: Int
  @MagicValue var b: Int
  @MagicValue var c: Int

  init() {
    _c = MagicValue()
    _b = MagicValue(wrappedValue: 7)
    _a = MagicValue()
  }
}

/// An object whose coding keys are in another order than its properties.
private struct Reversed: MagicObject {
  @MagicValue var a: Int
  @MagicValue var b: Int
  @MagicValue var c: Int

  private enum CodingKeys: String, CodingKey { case c, a, b }
}

/// An object whose `init()` creates different wrappers from call to call.
private struct Moody: MagicObject {
  @TaskLocal static var mood = 0

  @MagicValue var a: Int
  @MagicValue var b: Int

  init() {
    if Moody.mood > 0 { _a = MagicValue() }
    if Moody.mood > 1 { _ = Plain("x") }
  }
}

private final class Shape: MagicObject {
  @MagicValue var a: Int
  @MagicValue var b: String = "b"
  var own = [1]

  private enum CodingKeys: String, CodingKey { case a, b }

  init() {}
}

private struct Maybe: MagicObject {
  @MagicValue var text: String?
  @MagicValue var number: Int?
  @MagicValue var data: Data?
  @MagicValue var date: Date?
}

/// An object that fetches in its `init()`.
private struct Curious: MagicObject {
  @TaskLocal static var store: MagicData?

  @MagicValue var a: Int
  @MagicValue var b: Int

  init() {
    guard let store = Curious.store else { return }
    b = (try? store.object(of: Plain.self).count) ?? -1
  }
}

/// Tests that fetched objects get their stored values, whatever their `init()` does.
@Suite(.everyEngine) struct ConstructionTests {
  let magic: MagicData

  init() throws { magic = try MagicData.fresh() }

  @Test func `values set by init don't override fetched values`() throws {
    let object = Prepared()
    #expect(object.whole == "ab" && object.list == ["ab", "c"])
    object.first = "x"
    object.whole = "y"
    try magic.update([object, Prepared()])
    let found = try magic.object(of: Prepared.self)
    #expect(found.map(\.first) == ["x", "a"])
    #expect(found.map(\.last) == ["b", "b"])
    #expect(found.map(\.whole) == ["y", "ab"])
    #expect(found.map(\.list) == [["ab", "c"], ["ab", "c"]])
    // Values set by `init` don't count as changes, so the concurrent change survives.
    try magic.database.executeChange("UPDATE Prepared SET whole = 'z'")
    try magic.update(found)
    #expect(try magic.object(of: Prepared.self).map(\.whole) == ["z", "z"])
  }

  @Test func `an object whose init creates other objects gets its own values`() throws {
    let object = Nested()
    object.text = "t"
    object.other.text = "o"
    try magic.update(object)
    let found = try #require(try magic.object(of: Nested.self).first)
    #expect(found.text == "t")
    #expect(found.other.text == "o")
    #expect(found.next?.text == "next")
    #expect(try magic.object(of: Plain.self).map(\.text) == ["o", "next"])
  }

  @Test func `the order in which wrappers are created or encoded doesn't matter`() throws {
    let shuffled = Shuffled()
    (shuffled.a, shuffled.b, shuffled.c) = (1, 2, 3)
    let reversed = Reversed()
    (reversed.a, reversed.b, reversed.c) = (1, 2, 3)
    try magic.update(shuffled)
    try magic.update(reversed)
    for found in try magic.object(of: Shuffled.self) {
      #expect((found.a, found.b, found.c) == (1, 2, 3))
    }
    for found in try magic.object(of: Reversed.self) {
      #expect((found.a, found.b, found.c) == (1, 2, 3))
      found.b = 5
      try magic.update(found)
    }
    #expect(try magic.objects(of: Reversed.self, where: \.$b == 5).map(\.a) == [1])
  }

  @Test(arguments: [0, 1, 2])
  func `an init that creates varying wrappers still gets the stored values`(mood: Int) throws {
    let object = Moody()
    (object.a, object.b) = (1, 2)
    try magic.update(object)
    try Moody.$mood.withValue(mood) {
      let found = try #require(try magic.object(of: Moody.self).first)
      #expect((found.a, found.b) == (1, 2))
      found.a = 3
      #expect(found.b == 2)
      try magic.update(found)
      #expect(try magic.object(of: Moody.self).map(\.a) == [3])
    }
  }

  @Test func `class objects get their stored values and keep their plain properties`() throws {
    let shape = Shape()
    shape.a = 1
    shape.b = "x"
    try magic.update(shape)
    let found = try #require(try magic.object(of: Shape.self).first)
    #expect(found.a == 1 && found.b == "x" && found.own == [1])
  }

  @Test func `an init may fetch objects`() throws {
    try magic.update([Plain("a"), Plain("b")])
    let object = Curious()
    (object.a, object.b) = (1, 2)
    try magic.update(object)
    try Curious.$store.withValue(magic) {
      #expect(Curious().b == 2)
      let found = try #require(try magic.object(of: Curious.self).first)
      #expect((found.a, found.b) == (1, 2))
    }
  }

  @Test func `an optional value in a MagicValue can be nil`() throws {
    let object = Maybe()
    (object.text, object.number, object.data, object.date) = (nil, nil, nil, nil)
    let other = Maybe()
    let date = Date(timeIntervalSince1970: 1.5)
    (other.text, other.number, other.data, other.date) = ("a", 1, Data([1]), date)
    try magic.update([object, other])
    let found = try magic.object(of: Maybe.self)
    #expect(found.map(\.text) == [nil, "a"])
    #expect(found.map(\.number) == [nil, 1])
    #expect(found.map(\.data) == [nil, Data([1])])
    #expect(found.map(\.date) == [nil, date])
  }

  @Test func `many tasks can fetch objects at the same time`() async throws {
    let magic = magic
    try await magic.update((0..<200).map { Plain("\($0)") })
    try await withThrowingTaskGroup(of: [String].self) { group in
      for _ in 0..<8 {
        group.addTask {
          try await magic.object(of: Plain.self).map(\.text)
        }
      }
      for try await texts in group { #expect(texts == (0..<200).map { "\($0)" }) }
    }
  }
}
