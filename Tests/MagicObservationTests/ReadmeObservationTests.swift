import MagicData
import MagicObservation
import Observation
import TestSupport
import Testing

@MainActor func printFleet(of magic: MagicData) async throws {
  let ships = LiveResults(Ship.ordered(by: .ascending(\.$name)), in: magic)
  let count = LiveResults(Ship.all.count, initially: 0, in: magic)
  try await ships.load()
  try await count.load()
  print("\(count.value) ships:", ships.value.map(\.name))
}

@MainActor func printCount(_ count: LiveResults<Request<Int>>) {
  withObservationTracking {
    print(count.value, "ships")
  } onChange: {
    Task { @MainActor in printCount(count) }
  }
}

@MainActor final class ShipList {
  let ships: LiveResults<Query<Ship>>
  /// The row IDs and the texts of the rows on the screen.
  private(set) var shown: [Int] = []
  private(set) var texts: [String] = []

  init(_ magic: MagicData) {
    ships = LiveResults(Ship.ordered(by: .descending(\.$name)), in: magic)
  }

  func show() {
    let change = withObservationTracking {
      ships.change
    } onChange: { [weak self] in
      Task { @MainActor [weak self] in self?.show() }
    }
    guard let change else { return }
    let list = ships.value
    for step in change.difference(from: shown) {
      switch step {
      case .remove(let place, _, _):
        shown.remove(at: place)
        texts.remove(at: place)
      case .insert(let place, let row, _):
        shown.insert(row, at: place)
        texts.insert(list[place].name, at: place)
      }
    }
    for (place, ship) in list.enumerated() where texts[place] != ship.name {
      texts[place] = ship.name
    }
  }
}

/// The examples of the article “Results in views”. `.ci/checks/swiftui` compiles those for SwiftUI.
@MainActor @Suite(.timeLimit(.minutes(40))) struct ReadmeObservationTests {
  let magic: MagicData

  init() throws {
    magic = try MagicData(type: .memory)
    try magic.update((10..<80).map { Ship("s\($0)", in: "p\($0 % 3)") })
  }

  @Test func `a program prints results`() async throws {
    try await printFleet(of: magic)
    let count = LiveResults(Ship.all.count, initially: 0, in: magic)
    printCount(count)
    try await magic.update(Ship("s80"))
    try await wait { count.value == 71 }
  }

  @Test func `a search field changes the request`() async throws {
    let ships = LiveResults(Ship.all, in: magic)
    try await ships.load()
    for text in ["s", "s1", "s12"] {
      ships.request = Ship.where((\Ship.$name).hasPrefix(text))
    }
    try await ships.load()
    #expect(ships.value.map(\.name) == ["s12"])
  }

  @Test func `a list is shown in pages and sections`() async throws {
    let ships = LiveResults(Ship.ordered(by: .ascending(\.$name)), pageSize: 50, in: magic)
    try await ships.load()
    if ships.hasMore { ships.loadMore() }
    try await ships.load()
    #expect(ships.value.count == 70)
    for section in ships.sections(by: \.port) {
      print(section.key, section.elements.map(\.name))
    }
    let byPort = Ship.ordered(by: .ascending(\.$port)).objects.map { $0.sections(by: \.port) }
    let sections = LiveResults(byPort, in: magic)
    try await sections.load()
    #expect(sections.value.map(\.key) == ["p0", "p1", "p2"])
  }

  @Test func `a list shows the rows of the result`() async throws {
    let list = ShipList(magic)
    list.show()
    try await wait { list.ships.value.count == 70 }
    while list.texts.count < 70 { await Task.yield() }
    #expect(list.texts == list.ships.value.map(\.name))
    let first = list.ships.value[0]
    first.name = "a"
    try await magic.transaction { [magic] in
      try magic.update(first)
      try magic.update(Ship("s99"))
    }
    try await wait { list.ships.value.last?.name == "a" && list.ships.value.count == 71 }
    while list.texts.last != "a" || list.texts.count < 71 { await Task.yield() }
    #expect(list.texts == list.ships.value.map(\.name))
    #expect(list.shown == list.ships.value.map(\.id))
  }

  @Test func `a list follows changes`() async throws {
    let ships = LiveResults(Ship.ordered(by: .descending(\.$name)), in: magic)
    var shown: [Int] = []
    for round in 0..<3 {
      try await wait { ships.value.count == 70 + round }
      if let change = ships.change {
        for step in change.difference(from: shown) {
          switch step {
          case .insert(let place, let row, _): shown.insert(row, at: place)
          case .remove(let place, _, _): shown.remove(at: place)
          }
        }
      }
      #expect(shown == ships.value.map(\.id))
      try await magic.update(Ship("s\(80 + round)"))
    }
  }
}
