import Conformance
import MagicData
import Testing

struct Hub: MagicObject, Sendable {
  @PrimaryMagicValue var id: String
  @MagicValue var left: [LeftWing]
  @MagicValue var right: [RightWing]

  init() {}

  init(id: String) {
    self.id = id
    left = []
    right = []
  }
}

struct LeftWing: MagicObject, Sendable {
  @MagicValue var feathers: [Feather]

  init() {}

  init(_ feathers: [Feather]) { self.feathers = feathers }
}

struct RightWing: MagicObject, Sendable {
  @MagicValue var feathers: [Feather]

  init() {}

  init(_ feathers: [Feather]) { self.feathers = feathers }
}

struct Feather: MagicObject, Sendable {
  @MagicValue var text: String

  init() {}

  init(_ text: String) { self.text = text }
}

@Suite(.everyEngine) struct OverlappingGraphTests {
  let magic: MagicData

  init() throws { magic = try MagicData.fresh(.temporary) }

  private func bird(_ id: String) throws -> Hub {
    let hub = Hub(id: id)
    let shared = Feather("shared")
    hub.left = (0..<20).map { LeftWing([Feather("left \($0)"), shared]) }
    hub.right = (0..<20).map { RightWing([shared, Feather("right \($0)")]) }
    try magic.update(hub)
    return hub
  }

  @Test func `tasks that read the same fetched object concurrently see all objects`() async throws {
    _ = try bird("a")
    for _ in 0..<(Engine.current == .local ? 100 : 20) {
      let hub = try #require(try await magic.objects(of: Hub.self).first)
      async let left = Task { hub.left.map(\.feathers) }.value
      async let right = Task { hub.right.map(\.feathers) }.value
      let (lefts, rights) = await (left, right)
      #expect(lefts.map { $0.map(\.text) } == (0..<20).map { ["left \($0)", "shared"] })
      #expect(rights.map { $0.map(\.text) } == (0..<20).map { ["shared", "right \($0)"] })
      // One object per z_index, whichever task reads it first.
      lefts[0][1].text = "changed"
      #expect(rights[19][0].text == "changed")
      #expect(hub.left[7].feathers[1].text == "changed")
    }
  }

  @Test func `tasks that save overlapping graphs leave a consistent graph`() async throws {
    let hub = try bird("a")
    let rounds = Engine.current == .local ? 10 : 3
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask { [magic] in
          for round in 0..<rounds {
            let hub = try await magic.object(of: Hub.self, primary: "a")
            hub.left[number].feathers[0].text = "\(number).\(round)"
            hub.right[number].feathers.append(hub.left[number].feathers[0])
            hub.left.swapAt(number, number + 8)
            try await magic.update(hub)
          }
        }
      }
      try await group.waitForAll()
    }
    let saved = try await magic.object(of: Hub.self, primary: hub.id)
    // Each save is atomic, so no wing or feather is lost or duplicated.
    #expect(saved.left.count == 20)
    #expect(try await magic.count(of: Feather.self) == 41)
    #expect(try magic.violations() == 0)
  }

  @Test func `tasks that save the same new graph save it once`() async throws {
    let hub = Hub(id: "b")
    let feather = Feather("new")
    hub.left = [LeftWing([feather, feather])]
    hub.right = [RightWing([feather])]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { [magic] in try await magic.update(hub) } }
      try await group.waitForAll()
    }
    #expect(try await magic.count(of: Feather.self) == 1)
    #expect(try await magic.count(of: LeftWing.self) == 1)
    let saved = try await magic.object(of: Hub.self, primary: "b")
    #expect(saved.left[0].feathers.map(\.text) == ["new", "new"])
  }
}
