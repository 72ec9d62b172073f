import Foundation
import MagicData
@testable import SQLiteObjects
import TestSupport
import Testing

private struct Knot: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @OptionalMagicValue var one: Knot?
  @MagicValue var list: [Knot] = []
  @MagicValue var set: MagicalSet<Knot> = []
  @MagicValue var map: [String: Knot] = [:]
  @MagicValue var lazy: AsyncMagical<[Knot]> = AsyncMagical(value: [])
  static var traits: [PropertyTrait] { [.unique(\Self.$name)] }
  init() {}
  init(_ name: String) { self.name = name }
}

private struct Spool: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var lazy: AsyncMagical<[Spool]> = AsyncMagical(value: [])
  init() {}
  init(_ name: String) { self.name = name }
}

private final class Bead: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @OptionalMagicValue var next: Bead?
  init() {}
  convenience init(_ name: String) {
    self.init()
    self.name = name
  }
}

private enum Tie: CaseIterable {
  case one, list, set, map, lazy

  func connect(_ from: Knot, to other: Knot) {
    switch self {
    case .one: from.one = other
    case .list: from.list = [other, other]
    case .set: from.set = [other]
    case .map: from.map = ["key": other]
    case .lazy: from.lazy.set([other])
    }
  }

  func target(of knot: Knot) throws -> Knot? {
    switch self {
    case .one: knot.one
    case .list: knot.list.last
    case .set: knot.set.first { _ in true }
    case .map: knot.map["key"]
    case .lazy: try knot.lazy.get().first
    }
  }
}

/// Weak references to objects, which count those that haven't been released.
private struct WeakReferences {
  private struct Weak { weak var object: AnyObject? }
  private var objects: [Weak] = []

  /// Adds the storage of objects that were saved or fetched.
  mutating func add(_ knots: [Knot]) {
    for knot in knots { add(knot.$name.cell.address?.storage) }
  }

  mutating func add(_ object: AnyObject?) {
    #expect(object != nil)
    objects.append(Weak(object: object))
  }

  var count: Int { objects.count { $0.object != nil } }
}

@Suite struct ReferenceCycleTests {
  @Test(arguments: Tie.allCases)
  fileprivate func `a saved cycle is released, and its store is closed`(tie: Tie) throws {
    var references = WeakReferences()
    var folder = ""
    func work() throws {
      let magic = try MagicData(type: .temporary)
      let knots = (0..<5).map { Knot("\($0)") }
      for index in 0..<5 { tie.connect(knots[index], to: knots[(index + 1) % 5]) }
      try magic.update(knots[0])
      references.add(knots)
      references.add(magic)
      folder = (magic.assets.path as NSString).deletingLastPathComponent
      #expect(references.count == 6)
      var knot = knots[0]
      for index in 1...7 {
        knot = try #require(try tie.target(of: knot))
        #expect(knot.name == "\(index % 5)")
      }
    }
    try work()
    #expect(references.count == 0)
    #expect(openFiles(in: folder).isEmpty)
    #expect(!FileManager.default.fileExists(atPath: folder))
  }

  @Test(arguments: Tie.allCases.filter { $0 != .lazy })
  fileprivate func `a variable retains its object's targets in a cycle`(tie: Tie) throws {
    let magic = try MagicData(type: .memory)
    var references = WeakReferences()
    func makeCycle() throws -> Knot {
      let (a, b) = (Knot("a"), Knot("b"))
      tie.connect(a, to: b)
      tie.connect(b, to: a)
      try magic.update(a)
      // Copies of an object share its values.
      b.name = "B"
      #expect(try tie.target(of: a)?.name == "B")
      references.add([a, b])
      return a
    }
    func check() throws {
      let a = try makeCycle()
      #expect(references.count == 2)
      let b = try #require(try tie.target(of: a))
      #expect(b.name == "B")
      #expect(try tie.target(of: b)?.name == "a")
      try tie.target(of: b)?.name = "A"
      #expect(a.name == "A")
      // The save finds changes through the cycle.
      try magic.update(a)
      #expect(try magic.objects(of: Knot.self).map(\.name) == ["A", "B"])
    }
    try check()
    #expect(references.count == 0)
  }

  @Test func `an object that references itself is released`() throws {
    let magic = try MagicData(type: .memory)
    var references = WeakReferences()
    func work() throws {
      let a = Knot("a")
      (a.one, a.list) = (a, [a, a])
      try magic.update(a)
      references.add([a])
      #expect(a.one?.list[1].one?.name == "a")
    }
    try work()
    #expect(references.count == 0)
  }

  @Test func `a class instance in a cycle keeps its identity and is released`() throws {
    let magic = try MagicData(type: .memory)
    var references = WeakReferences()
    func work() throws {
      let (a, b) = (Bead("a"), Bead("b"))
      (a.next, b.next) = (b, a)
      try magic.update(a)
      #expect(a.next === b)
      #expect(b.next === a)
      references.add(a)
      references.add(b)
    }
    try work()
    #expect(references.count == 0)
  }

  @Test func `a cycle through lazy values alone is released`() throws {
    let magic = try MagicData(type: .memory)
    var references = WeakReferences()
    func work() throws {
      let (a, b) = (Spool("a"), Spool("b"))
      a.lazy.set([b])
      b.lazy.set([a])
      try magic.update(a)
      #expect(try a.lazy.get().first?.lazy.get().map(\.name) == ["a"])
      for spool in [a, b] { references.add(spool.$name.cell.address?.storage) }
      let fetched = try magic.object(of: Spool.self, primary: a.id)
      let c = Spool("c")
      fetched.lazy.set([c])
      c.lazy.set([fetched])
      try magic.update(fetched)
      #expect(try fetched.lazy.get().map(\.name) == ["c"])
      for spool in [fetched, c] { references.add(spool.$name.cell.address?.storage) }
    }
    try work()
    #expect(references.count == 0)
  }

  @Test func `a lazy value that later references its own cycle is released`() throws {
    let magic = try MagicData(type: .memory)
    var references = WeakReferences()
    func work() throws {
      let (a, b, c) = (Knot("a"), Knot("b"), Knot("c"))
      (a.one, b.one) = (b, a)
      a.lazy.set([c])
      try magic.update(a)
      references.add([a, b, c])
      c.name = "C"
      #expect(try a.lazy.get().map(\.name) == ["C"])
      c.list = [b]
      try magic.update(c)
      #expect(try a.lazy.get().first?.list.first?.one?.name == "a")
    }
    try work()
    #expect(references.count == 0)
  }

  @Test func `cycles of fetched and new objects are released`() throws {
    let magic = try MagicData(type: .memory)
    try magic.update([Knot("a"), Knot("b")])
    var references = WeakReferences()
    func work() throws {
      let a = try magic.objects(of: Knot.self, where: \.$name == "a")[0]
      let b = try magic.objects(of: Knot.self, where: \.$name == "b")[0]
      let c = Knot("c")
      (a.one, b.list, c.map) = (b, [c], ["a": a])
      try magic.update(a)
      references.add([a, b, c])
      #expect(a.one?.list.first?.map["a"]?.name == "a")
      try magic.update(a, ifUnchanged: true)
    }
    try work()
    #expect(references.count == 0)
  }

  @Test func `objects of two fetches that two saves exchange are released`() throws {
    let magic = try MagicData(type: .memory)
    for name in ["x", "y"] {
      let knot = Knot(name)
      knot.one = Knot("\(name)'s")
      try magic.update(knot)
    }
    var references = WeakReferences()
    func work() throws {
      let x = try magic.objects(of: Knot.self, where: \.$name == "x")[0]
      let y = try magic.objects(of: Knot.self, where: \.$name == "y")[0]
      let (first, second) = (try #require(x.one), try #require(y.one))
      x.one = second
      try magic.update(x)
      y.one = first
      try magic.update(y)
      references.add([x, y, first, second])
      #expect(x.one?.name == "y's")
      #expect(y.one?.name == "x's")
    }
    try work()
    #expect(references.count == 0)
  }

  @Test func `objects of a failed and of a rolled-back save are released`() throws {
    var references = WeakReferences()
    func work() throws {
      let magic = try MagicData(type: .temporary)
      references.add(magic)
      try magic.update(Knot("taken"))
      let (a, b) = (Knot("a"), Knot("taken"))
      (a.one, b.one) = (b, a)
      #expect(throws: SQLiteError.self) { try magic.update(a) }
      #expect(a.one?.one?.name == "a")
      references.add([a, b])
      let (c, d) = (Knot("c"), Knot("d"))
      (c.list, d.list) = ([d], [c])
      let fetched = try magic.objects(of: Knot.self)[0]
      try magic.transaction {
        fetched.one = c
        c.one = fetched
        try magic.update([c, fetched])
        try magic.transaction {
          d.name = "e"
          try magic.update(d)
          throw CancellationError()
        }
      }
    }
    #expect(throws: CancellationError.self) { try work() }
    #expect(references.count == 0)
  }

  @Test func `a rolled-back cycle is saved by the next save`() throws {
    let magic = try MagicData(type: .memory)
    let (a, b) = (Knot("a"), Knot("b"))
    (a.one, b.list) = (b, [a])
    #expect(throws: CancellationError.self) {
      try magic.transaction {
        try magic.update(a)
        throw CancellationError()
      }
    }
    #expect(try magic.count(of: Knot.self) == 0)
    #expect(a.one?.list.map(\.name) == ["a"])
    try magic.update(b)
    let fetched = try magic.objects(of: Knot.self, where: \.$name == "a")
    #expect(fetched.first?.one?.list.first?.name == "a")
  }

  @Test func `a cycle saved in two stores is released`() throws {
    var references = WeakReferences()
    func work() throws {
      let stores = [try MagicData(type: .temporary), try MagicData(type: .memory)]
      let (a, b) = (Bead("a"), Bead("b"))
      (a.next, b.next) = (b, a)
      for store in stores {
        try store.update(a)
        #expect(try store.objects(of: Bead.self).map { $0.next?.name } == ["b", "a"])
        references.add(store)
      }
      a.name = "A"
      for store in stores {
        try store.update(b)
        #expect(try store.objects(of: Bead.self, where: \.$name == "A").count == 1)
      }
      for bead in [a, b] { references.add(bead.$name.cell.address?.storage) }
    }
    try work()
    #expect(references.count == 0)
  }

  @Test func `an object that left its cycle is released before the others`() throws {
    let magic = try MagicData(type: .memory)
    let chat = Knot("chat")
    var references = WeakReferences()
    func send(_ text: String) throws {
      let message = Knot(text)
      (message.one, chat.one) = (chat, message)
      try magic.update(chat)
      references.add([message])
    }
    for number in 0..<4 { try send("\(number)") }
    #expect(references.count == 1)
    #expect(chat.one?.name == "3")
    chat.one = nil
    try magic.update(chat)
    #expect(references.count == 0)
  }

  @Test func `a reference into a cycle that has changed stays readable`() throws {
    let magic = try MagicData(type: .memory)
    var references = WeakReferences()
    func work() throws {
      let a = Knot("a")
      func grow() throws {
        let (g, h) = (Knot("g"), Knot("h"))
        (a.one, g.one) = (g, a)
        try magic.update(a)
        (g.one, h.one) = (h, g)
        try magic.update(h)
        references.add([a, g, h])
      }
      try grow()
      #expect(references.count == 3)
      #expect(a.one?.one?.one?.one?.name == "h")
    }
    try work()
    #expect(references.count == 0)
  }

  /// Sets, saves and reads references at random, and compares them with a dictionary.
  @Test(arguments: seeds(0..<30)) func `random references stay readable, and objects are released`(
    seed: UInt64
  ) throws {
    var references = WeakReferences()
    var random = RandomNumbers(seed: seed)
    func work() throws {
      let magic = try MagicData(type: .memory)
      var model: [String: String] = [:]
      var held: [String: Knot] = [:]
      for number in 0..<7 { held["\(number)"] = Knot("\(number)") }
      try magic.update(held.values)
      references.add(Array(held.values))
      for _ in 0..<60 {
        let names = held.keys.sorted()
        guard let name = names.randomElement(using: &random), let knot = held[name] else { break }
        switch Int.random(in: 0..<10, using: &random) {
        case 0 where names.count > 2: held[name] = nil
        case 1:
          let fetched = try magic.objects(of: Knot.self, where: \.$name == name)[0]
          held[name] = fetched
          references.add([fetched])
        case 2, 3: if let next = knot.one { held[next.name] = held[next.name] ?? next }
        case 4:
          knot.one = nil
          model[name] = nil
          try magic.update(knot)
        default:
          guard let other = names.randomElement(using: &random) else { break }
          knot.one = held[other]
          model[name] = other
          try magic.update(Bool.random(using: &random) ? knot : held[other] ?? knot)
          try magic.update(knot)
        }
        for (name, knot) in held {
          #expect(knot.name == name)
          guard let own = try magic.objects(of: Knot.self, where: \.$name == name).first else {
            continue
          }
          #expect(own.one?.name == model[name])
        }
        // References from held objects can be followed over any distance.
        for knot in held.values {
          var next = knot.one
          for _ in 0..<9 { next = next?.one }
        }
      }
      try magic.update(held.values)
    }
    try work()
    #expect(references.count == 0)
  }

  @Test func `a reference whose target was released throws lostTarget`() throws {
    let magic = try MagicData(type: .memory)
    let (a, b) = (Knot("a"), Knot("b"))
    (a.one, b.one) = (b, a)
    try magic.update(a)
    let (storage, slot, _) = try #require(a.$one.cell.address)
    let lost = WeakObjectReference(ObjectGroup(of: .make(storage.shape)), row: 0)
    storage.replace(
      slot, .targets([RelationTarget(key: .null, end: .weakReference(lost))]), since: .max)
    #expect(throws: MagicError.lostTarget(type: "Knot", property: "one", zIndex: Int64(a.id))) {
      try magic.update(a)
    }
    a.one = nil
    try magic.update(a)
  }

  @Test func `cycles can be read while other tasks save them`() async throws {
    let magic = try await MagicData(type: .memory)
    let knots = (0..<4).map { Knot("\($0)") }
    for index in 0..<4 { knots[index].one = knots[(index + 1) % 4] }
    try await magic.update(knots)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<2 {
        group.addTask {
          for round in 0..<150 {
            let (from, to) = ((round + task) % 4, (round * 3 + task) % 4)
            knots[from].one = knots[to]
            try await magic.update(knots[from])
          }
        }
        group.addTask {
          for round in 0..<3_000 {
            var knot = knots[round % 4]
            for _ in 0..<5 { knot = try #require(knot.one) }
            #expect(Int(knot.name) != nil)
          }
        }
      }
      try await group.waitForAll()
    }
  }
}

private struct RandomNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state &* 0x2545_F491_4F6C_DD1D
  }
}
