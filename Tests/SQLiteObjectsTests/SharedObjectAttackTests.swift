import Foundation
import MagicData
import Synchronization
import TestSupport
import Testing

private struct Crate: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var number: Int = 0
  @MagicValue var text: String = ""
  @OptionalMagicValue var lid: Crate?
  @MagicValue var parts: [Crate] = []
  @OptionalMagicValue var label: MagicAsset<Data>?

  init() {}
  init(_ id: String) { self.id = id }
}

private struct LazyCrate: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var number: Int = 0
  @MagicValue var parts = AsyncMagical<[Crate]>(value: [])
  @OptionalMagicValue var label: AsyncMagical<MagicAsset<Data>>?

  init() {}
  init(_ id: String) { self.id = id }
}

/// An object without a primary value, so that saving an unknown one always inserts a row.
private struct Tag: MagicObject {
  @MagicValue var number: Int = 0
  @OptionalMagicValue var label: MagicAsset<Data>?

  init() {}
}

/// A class that isn't `Sendable`, with a property that isn't stored but is encoded.
private final class Form: MagicObject {
  var selection = 0
  @PrimaryMagicValue var id: String
  @MagicValue var text: String = ""
  @OptionalMagicValue var next: Form?
  @MagicValue var pages = AsyncMagical<[Form]>(value: [])

  init() {}
}

/// An actor that holds objects that aren't `Sendable`.
private actor Desk {
  private let magic: MagicData
  private var forms: [Form] = []

  init(_ magic: MagicData) { self.magic = magic }

  func add(_ form: sending Form) { forms.append(form) }

  /// Forms a cycle, part of which is a lazy relation.
  func connect() {
    for (form, next) in zip(forms, forms.dropFirst() + forms.prefix(1)) {
      form.next = next
      form.pages.set(forms)
    }
  }

  func write(_ text: String) async throws {
    for form in forms {
      form.text = text
      try await magic.update(form)
      form.selection += 1
    }
  }

  /// Changes the objects while ``write(_:)`` waits for the store.
  func select() { for form in forms { form.selection += 1 } }

  var texts: [String] { forms.map(\.text) }
}

/// The keys of the objects whose saves were acknowledged.
private final class Acknowledged: Sendable {
  private let ids = Mutex<Set<String>>([])

  func insert(_ id: String) { ids.withLock { _ = $0.insert(id) } }
  var all: Set<String> { ids.withLock { $0 } }
}

/// Saves that were started inside a transaction and wait for it.
private final class Saves: Sendable {
  private let tasks = Mutex<[Task<Void, any Error>]>([])

  func start(_ save: @escaping @Sendable () async throws -> Int) {
    let task = Task { _ = try await save() }
    tasks.withLock { $0.append(task) }
  }

  var all: [Task<Void, any Error>] { tasks.withLock { $0 } }
}

/// Hostile uses of objects by several tasks: each gives a value or a specific error, and loses nothing
/// that was acknowledged.
@Suite struct SharedObjectAttackTests {
  @Test func `an object that only its save references is saved`() async throws {
    let magic = try await MagicData(type: .memory)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for number in 0..<20 {
            let id = "\(task)-\(number)"
            @Sendable func crate() -> Crate {
              let crate = Crate(id)
              crate.lid = Crate("lid-\(id)")
              crate.lid?.parts = [crate]
              crate.label = MagicAsset(value: Data(id.utf8))
              return crate
            }
            try await magic.update(crate())
            Task.detached { _ = try await magic.object(of: Crate.self, primary: id).lid }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await magic.count(of: Crate.self) == 320)
    let label = try await magic.object(of: Crate.self, primary: "7-19").label
    #expect(try await label?.get() == Data("7-19".utf8))
  }

  @Test func `a graph that tasks save in two stores at the same time is complete in both`()
    async throws
  {
    let stores = [try await MagicData(type: .memory), try await MagicData(type: .memory)]
    for round in 0..<10 {
      let crates = (0..<4).map { Crate("\(round)-\($0)") }
      for (index, crate) in crates.enumerated() {
        crate.lid = crates[(index + 1) % 4]
        crate.parts = [Crate("part-\(round)-\(index)"), crates[(index + 2) % 4]]
        crate.label = MagicAsset(value: Data(crate.id.utf8))
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<8 {
          group.addTask {
            for number in 0..<4 {
              let crate = crates[(task + number) % 4]
              crate.number = number
              crate.text = String(repeating: "\(task)", count: 50)
              if number == 1 { crate.label = MagicAsset(value: Data("new-\(crate.id)".utf8)) }
              try await stores[task % 2].update(crate)
            }
          }
        }
        try await group.waitForAll()
      }
      for magic in stores {
        try await magic.update(crates)
        for crate in crates {
          let stored = try await magic.object(of: Crate.self, primary: crate.id)
          #expect(stored.number == crate.number)
          #expect(stored.text == crate.text)
          #expect(stored.lid?.id == crate.lid?.id)
          #expect(stored.parts.map(\.id) == crate.parts.map(\.id))
          #expect(try await stored.label?.get() == Data("new-\(crate.id)".utf8))
        }
        #expect(try magic.violations() == 0)
        #expect(try await magic.assets.verify().isEmpty)
      }
    }
  }

  @Test func `lazy values that tasks save in two stores are saved or throw foreignValue`()
    async throws
  {
    let stores = [try await MagicData(type: .memory), try await MagicData(type: .memory)]
    for round in 0..<10 {
      let crate = LazyCrate("\(round)")
      crate.parts.set([Crate("a\(round)"), Crate("b\(round)")])
      crate.label = AsyncMagical(value: MagicAsset(value: Data("x".utf8)))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<8 {
          group.addTask {
            for number in 0..<4 {
              crate.number = number
              crate.parts.append(Crate("\(round)-\(task)-\(number)"))
              do {
                try await stores[task % 2].update(crate)
                _ = try await crate.parts.get()
                _ = try await crate.label?.get().get()
              } catch MagicError.foreignValue {
              } catch MagicError.restored {
              }
            }
          }
        }
        try await group.waitForAll()
      }
      let known = Set(try await crate.parts.get().map(\.id))
      #expect(known.count == 34)
    }
  }

  @Test func `closing a store while tasks use its objects loses no acknowledged write`()
    async throws
  {
    let folder = try TestFolder()
    for round in 0..<8 {
      let path = "\(folder.path)/\(round)"
      let magic = try await MagicData(path: path)
      let shared = Crate("shared")
      shared.label = MagicAsset(value: Data("label".utf8))
      try await magic.update(shared)
      let acknowledged = Acknowledged()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<8 {
          group.addTask {
            do {
              for number in 0..<1_000 {
                let part = Crate("\(task)-\(number)")
                try await magic.transaction {
                  shared.parts.append(part)
                  try magic.update(shared)
                }
                acknowledged.insert(part.id)
                _ = try await shared.label?.get()
                _ = try await magic.object(of: Crate.self, primary: part.id)
              }
            } catch MagicError.closed {
            }
          }
        }
        group.addTask {
          try await waitUntil { acknowledged.all.count > 10 * (round + 1) }
          try await magic.close()
        }
        try await group.waitForAll()
      }
      #expect(throws: MagicError.closed) { try shared.label?.get() }
      #expect(shared.text.isEmpty)
      let again = try await MagicData(path: path)
      let stored = try await again.object(of: Crate.self, primary: "shared")
      #expect(Set(stored.parts.map(\.id)).isSuperset(of: acknowledged.all))
      try await again.close()
    }
  }

  @Test func `an actor changes objects that aren't Sendable while it saves them`() async throws {
    let magic = try await MagicData(type: .memory)
    let desk = Desk(magic)
    for _ in 0..<4 { await desk.add(Form()) }
    await desk.connect()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask { for _ in 0..<10 { try await desk.write("\(task)") } }
        group.addTask {
          for _ in 0..<100 {
            await desk.select()
            await Task.yield()
          }
        }
      }
      try await group.waitForAll()
    }
    try await desk.write("last")
    #expect(await desk.texts == Array(repeating: "last", count: 4))
    #expect(try await magic.fetch(Form.all.values(\.$text)) == Array(repeating: "last", count: 4))
  }

  @Test func `a cancelled save is complete or still pending`() async throws {
    let magic = try await MagicData(type: .memory)
    let crate = Crate("a")
    crate.parts = (0..<20).map { Crate("part-\($0)") }
    for number in 1...50 {
      let saving = Task {
        crate.number = number
        crate.parts[0].number = number
        try await magic.update(crate)
      }
      let canceling = Task { saving.cancel() }
      await canceling.value
      let isSaved = (try? await saving.value) != nil
      if isSaved {
        #expect(try await magic.object(of: Crate.self, primary: "a").number == number)
      }
      try await magic.update(crate)
      let stored = try await magic.object(of: Crate.self, primary: "a")
      #expect(stored.number == number)
      #expect(stored.parts.first?.number == number)
    }
  }

  @Test func `a save that links an object removed in the meantime throws missingTarget`()
    async throws
  {
    let magic = try await MagicData(type: .memory)
    let (crate, part) = (Crate("a"), Crate("part"))
    try await magic.update([crate, part])
    crate.parts = [part]
    let saves = Saves()
    try await magic.transaction {
      saves.start { try await magic.update(crate) }
      // The save has read the objects, and waits for the transaction.
      while magic.database.waitingAccessCount == 0 { sched_yield() }
      try magic.remove(part)
    }
    await #expect(throws: MagicError.missingTarget(type: "Crate", zIndex: 2)) {
      for save in saves.all { try await save.value }
    }
    #expect(try await magic.count(of: Crate.self) == 1)
    // The object is new by now, so the same save inserts it again.
    try await magic.update(crate)
    #expect(try await magic.object(of: Crate.self, primary: "a").parts.map(\.id) == ["part"])
  }

  @Test func `a property that is set during a save is saved by the next one`() async throws {
    let magic = try await MagicData(type: .memory)
    let crate = Crate("a")
    try await magic.update(crate)
    crate.text = "first"
    let saves = Saves()
    try await magic.transaction {
      saves.start { try await magic.update(crate) }
      while magic.database.waitingAccessCount == 0 { sched_yield() }
      crate.text = "second"
    }
    for save in saves.all { try await save.value }
    #expect(try await magic.object(of: Crate.self, primary: "a").text == "first")
    try await magic.update(crate)
    #expect(try await magic.object(of: Crate.self, primary: "a").text == "second")
  }

  @Test func `a save that read an object earlier doesn't overwrite a newer save`() async throws {
    let magic = try await MagicData(type: .memory)
    let crate = Crate("a")
    crate.label = MagicAsset(value: Data("old".utf8))
    try await magic.update(crate)
    let saves = Saves()
    try await magic.transaction {
      (crate.text, crate.lid, crate.parts) = ("old", Crate("old lid"), [Crate("old part")])
      saves.start { try await magic.update(crate) }
      // The first save has read the object, and waits for the transaction.
      while magic.database.waitingAccessCount < 1 { sched_yield() }
      (crate.text, crate.lid, crate.parts) = ("new", Crate("new lid"), [Crate("new part")])
      crate.label = MagicAsset(value: Data("new".utf8))
      try magic.update(crate)
      crate.number = 1
      // The second save has read the object after the newer values were saved.
      saves.start { try await magic.update(crate) }
      while magic.database.waitingAccessCount < 2 { sched_yield() }
    }
    for save in saves.all { try await save.value }
    try await magic.update(crate)
    let stored = try await magic.object(of: Crate.self, primary: "a")
    #expect(stored.number == 1)
    #expect(stored.text == "new")
    #expect(stored.lid?.id == "new lid")
    #expect(stored.parts.map(\.id) == ["new part"])
    #expect(try await stored.label?.get() == Data("new".utf8))
  }

  @Test func `a save that read a lazy value earlier doesn't overwrite a newer save`() async throws {
    let magic = try await MagicData(type: .memory)
    let crate = LazyCrate("a")
    try await magic.update(crate)
    let saves = Saves()
    try await magic.transaction {
      crate.parts.set([Crate("old")])
      crate.label = AsyncMagical(value: MagicAsset(value: Data("old".utf8)))
      saves.start { try await magic.update(crate) }
      while magic.database.waitingAccessCount < 1 { sched_yield() }
      crate.parts.set([Crate("new")])
      crate.label?.set(MagicAsset(value: Data("new".utf8)))
      try magic.update(crate)
      saves.start { try await magic.update(crate) }
      while magic.database.waitingAccessCount < 2 { sched_yield() }
    }
    for save in saves.all { try await save.value }
    try await magic.update(crate)
    let stored = try await magic.object(of: LazyCrate.self, primary: "a")
    #expect(try await stored.parts.get().map(\.id) == ["new"])
    #expect(try await stored.label?.get().get() == Data("new".utf8))
  }

  @Test func `saving an object inserts a removed one that it still references again`()
    async throws
  {
    let magic = try await MagicData(type: .memory)
    let (crate, part) = (Crate("a"), Crate("part"))
    crate.parts = [part]
    try await magic.update(crate)
    try await magic.remove(part)
    #expect(try await magic.count(of: Crate.self) == 1)
    try await magic.update(crate)
    #expect(try await magic.count(of: Crate.self) == 2)
  }

  @Test(arguments: [false, true], [false, true])
  func `a rollback keeps what another store has saved in the meantime`(
    isKnown: Bool, isAgain: Bool
  ) async throws {
    struct Failure: Error {}
    let (one, two) = (try await MagicData(type: .memory), try await MagicData(type: .memory))
    let tag = Tag()
    tag.label = MagicAsset(value: Data("old".utf8))
    if isKnown {
      try await one.update(tag)
      try await two.update(tag)
      tag.label = MagicAsset(value: Data("label".utf8))
    }
    await #expect(throws: Failure.self) {
      try await one.transaction {
        tag.number = 1
        try one.update(tag)
        tag.number = 2
        try two.update(tag)
        if isAgain { try one.update(tag) }
        throw Failure()
      }
    }
    #expect(try await two.fetch(Tag.all.values(\.$number)) == [2])
    #expect(try await one.fetch(Tag.all.values(\.$number)) == (isKnown ? [0] : []))
    for number in 2...3 {
      tag.number = number
      for magic in [two, one] {
        try await magic.update(tag)
        let stored = try #require(try await magic.fetch(Tag.all).first)
        #expect(try await magic.count(of: Tag.self) == 1)
        #expect(stored.number == number)
        #expect(try await stored.label?.get() == Data((isKnown ? "label" : "old").utf8))
      }
    }
    #expect(try await tag.label?.get() == Data((isKnown ? "label" : "old").utf8))
  }

  @Test func `a rolled-back removal keeps what another store has saved in the meantime`()
    async throws
  {
    struct Failure: Error {}
    let (one, two) = (try await MagicData(type: .memory), try await MagicData(type: .memory))
    let tag = Tag()
    try await one.update(tag)
    await #expect(throws: Failure.self) {
      try await one.transaction {
        try one.remove(tag)
        tag.number = 1
        try two.update(tag)
        throw Failure()
      }
    }
    for number in 1...2 {
      tag.number = number
      for magic in [two, one] {
        try await magic.update(tag)
        #expect(try await magic.fetch(Tag.all.values(\.$number)) == [number])
      }
    }
  }
}
