import Conformance
import Foundation
import MagicData
import Synchronization
import Testing
import TestSupport

private struct Shelf: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  init() { name = "" }
  init(_ name: String) { self.name = name }
}

private struct Jar: MagicObject {
  static var traits: [PropertyTrait] { [.searched(\Self.$label)] }
  @PrimaryMagicValue var id: Int
  @MagicValue var label: String
  @MagicValue var grams: Int
  @OptionalMagicValue var shelf: Shelf?
  @MagicValue var lids: [Lid]
  @MagicValue var spoons: AsyncMagical<[Lid]>
  @OptionalMagicValue var photo: MagicAsset<Data>?
  init() {
    label = ""
    grams = 0
    lids = []
    spoons = AsyncMagical(value: [])
  }
  init(_ label: String, _ grams: Int, on shelf: Shelf? = nil) {
    self.init()
    self.label = label
    self.grams = grams
    self.shelf = shelf
  }
}

private struct Cupboard: MagicObject {
  @MagicValue var jars: [Jar]
  init() { jars = [] }
}

private struct Lid: MagicObject {
  @MagicValue var color: String
  init() { color = "" }
  init(_ color: String) { self.color = color }
}

@Suite(.everyEngine, .timeLimit(.minutes(40))) struct ObservedResultsTests {
  let folder: TestFolder
  let magic: MagicData

  init() async throws {
    folder = try TestFolder()
    magic = try await MagicData.at(folder.path)
    try await magic.update([Jar("honey", 500), Jar("jam", 300, on: Shelf("top"))])
  }

  /// Saves `others`, which the observed query doesn't depend on, and then `object`. A notification
  /// of the others would yield a result before the one for `object`.
  private func save(_ object: some MagicObject, after others: [any MagicObject]) throws {
    for other in others { try magic.update(other) }
    try magic.update(object)
  }

  @Test func `a count is yielded when it has changed, and never twice in a row`() async throws {
    var counts = magic.observe(Jar.where(\.$grams > 400).count).makeAsyncIterator()
    #expect(try await counts.next() == 1)
    try await magic.update(Jar("light", 1))
    try await magic.update(Jar("heavy", 900))
    #expect(try await counts.next() == 2)
    try await magic.removeAll(Jar.where(\.$label == "light"))
    try await magic.removeAll(Jar.all)
    #expect(try await counts.next() == 0)
  }

  @Test func `values and aggregates are yielded when they have changed`() async throws {
    var labels = magic.observe(Jar.ordered(by: .descending(\.$label)).values(\.$label))
      .makeAsyncIterator()
    var total = magic.observe(Jar.all.aggregate(.sum(\.$grams))).makeAsyncIterator()
    var groups = magic.observe(Jar.all.aggregate(.count, by: \.$shelf.$name)).makeAsyncIterator()
    #expect(try await labels.next() == ["jam", "honey"])
    #expect(try await total.next() == 800)
    #expect(try await groups.next()?.map(\.value) == [1, 1])
    let honey = try await magic.object(of: Jar.self, primary: 1)
    honey.grams += 100
    try await magic.update(honey)
    #expect(try await total.next() == 900)
    honey.label = "wax"
    try await magic.update(honey)
    #expect(try await labels.next() == ["wax", "jam"])
    let shelf = try #require(await magic.objects(of: Shelf.self).first)
    honey.shelf = shelf
    try await magic.update(honey)
    #expect(try await groups.next()?.map { "\($0.key ?? "-") \($0.value)" } == ["top 2"])
    shelf.name = "bottom"
    try await magic.update(shelf)
    #expect(try await groups.next()?.map(\.key) == ["bottom"])
  }

  @Test func `search results are yielded when they have changed`() async throws {
    var found = magic.observe(Jar.all.search(.prefix("ho"))).makeAsyncIterator()
    #expect(try await found.next()?.map(\.snippet) == ["[honey]"])
    try save(Jar("horse", 1), after: [Shelf("x")])
    #expect(try await found.next()?.map(\.value.label).sorted() == ["honey", "horse"])
  }

  @Test func `a query with a search through a relation observes the searched text`() async throws {
    let cupboard = Cupboard()
    cupboard.jars = try await magic.objects(of: Jar.self)
    try await magic.update(cupboard)
    var counts = magic.observe(
      Cupboard.where((\Cupboard.$jars).contains(where: .matching(.all(of: "honey")))).count
    ).makeAsyncIterator()
    #expect(try await counts.next() == 1)
    for (label, count) in [("wax", 0), ("honey", 1), ("salt", 0)] {
      try await magic.updateAll(Jar.where(\.$grams == 500), set: [.set(\.$label, to: label)])
      #expect(try await counts.next() == count)
    }
  }

  @Test func `a result is yielded although the store was restored during its read`() async throws {
    let other = try await MagicData.fresh(.temporary)
    try await other.update([Jar("salt", 1), Jar("sugar", 2)])
    let mustRestore = Mutex(true)
    var counts = magic.observe { magic in
      let count = try magic.count(of: Jar.self)
      if mustRestore.withLock({ mustRestore in
        defer { mustRestore = false }
        return mustRestore
      }) {
        let isOver = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          try? other.database.backup(to: magic.database)
          isOver.signal()
        }
        isOver.wait()
      }
      return count
    }.makeAsyncIterator()
    #expect(try await counts.next() == 2)
  }

  @Test func `a closure with several fetches is observed as a whole`() async throws {
    let pairs = magic.observe { magic in
      [try magic.count(of: Jar.self), try magic.count(of: Shelf.self)]
    }
    var iterator = pairs.makeAsyncIterator()
    #expect(try await iterator.next() == [2, 1])
    try save(Shelf("new"), after: [Lid("red")])
    #expect(try await iterator.next() == [2, 2])
    try await magic.update(Jar("x", 1))
    #expect(try await iterator.next() == [3, 2])
    let reading = magic.observe { try $0.removeAll(Jar.all) }
    var writer = reading.makeAsyncIterator()
    await #expect(throws: SQLiteError.self) { try await writer.next() }
  }

  @Test func `objects whose rows are unchanged aren't yielded again`() async throws {
    var jars = magic.observe(Jar.where(\.$grams > 400)).makeAsyncIterator()
    let first = try #require(try await jars.next())
    // Changes in the reader's objects aren't commits.
    first[0].label = "mine"
    let honey = try await magic.object(of: Jar.self, primary: 1)
    honey.label = "other"
    try await magic.update(honey)
    honey.label = "honey"
    try await magic.update(honey)
    try await magic.update(Jar("light", 1))
    honey.label = "acacia"
    try await magic.update(honey)
    #expect(try await jars.next()?.map(\.label) == ["acacia"])
    #expect(first[0].label == "mine")
  }

  @Test func `changes of links, targets and assets are observed`() async throws {
    let honey = try await magic.object(of: Jar.self, primary: 1)
    honey.lids = [Lid("red")]
    try await magic.update(honey)
    var jars = magic.observe(Jar.where(\.$label == "honey")).makeAsyncIterator()
    #expect(try await jars.next()?.first?.lids.map(\.color) == ["red"])
    honey.lids.append(Lid("blue"))
    try await magic.update(honey)
    #expect(try await jars.next()?.first?.lids.map(\.color) == ["red", "blue"])
    honey.lids[1].color = "green"
    try await magic.update(honey.lids[1])
    #expect(try await jars.next()?.first?.lids.map(\.color) == ["red", "green"])
    honey.photo = MagicAsset(value: Data([1]))
    try await magic.update(honey)
    #expect(try await jars.next()?.first?.photo?.get() == Data([1]))
    honey.photo = MagicAsset(value: Data([2]))
    try await magic.update(honey)
    #expect(try await jars.next()?.first?.photo?.get() == Data([2]))
  }

  @Test func `an observation that precedes its table yields the first object`() async throws {
    var lids = magic.observe(Lid.all).makeAsyncIterator()
    var count = magic.observe(Lid.all.count).makeAsyncIterator()
    #expect(try await lids.next()?.isEmpty == true)
    #expect(try await count.next() == 0)
    try await magic.update(Lid("red"))
    #expect(try await lids.next()?.map(\.color) == ["red"])
    #expect(try await count.next() == 1)
  }

  @Test(.requires(.files), .needsShell)
  func `commits of another process are observed`() async throws {
    var count = magic.observe(Shelf.all.count).makeAsyncIterator()
    #expect(try await count.next() == 1)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
    process.arguments = [
      "\(folder.path)/default.sqlite3", "INSERT INTO Shelf (name) VALUES ('shell')",
    ]
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    #expect(try await count.next() == 2)
  }

  @Test func `a slow reader gets the last state after any number of commits`() async throws {
    let magic = magic
    var labels = magic.observe(Jar.where(\.$label == "honey").values(\.$grams))
      .makeAsyncIterator()
    #expect(try await labels.next() == [500])
    for number in 0..<300 {
      try await magic.transaction {
        let honey = try magic.object(of: Jar.self, primary: 1)
        honey.grams = number
        try magic.update(honey)
      }
    }
    #expect(try await labels.next() == [299])
    try await magic.update(Jar("honey", 7))
    #expect(try await labels.next() == [299, 7])
  }

  @Test func `under load, every reader reaches the last state`() async throws {
    let magic = magic
    let readers = (0..<4).map { number in
      Task {
        var last = -1
        for try await count in magic.observe(Shelf.where(\.$id > number).count) {
          if count == last { return false }
          last = count
          if count == 101 - number { return true }
        }
        return false
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for number in 0..<25 {
            try await magic.update(Shelf("\(task) \(number)"))
            try await magic.update(Jar("noise", number))
          }
        }
      }
      try await group.waitForAll()
    }
    for reader in readers { #expect(try await reader.value) }
  }

  @Test(arguments: [true, false])
  func `closing the store ends the loop with an error`(isInMemory: Bool) async throws {
    let magic = isInMemory ? try await MagicData.fresh() : magic
    try await magic.update(Shelf("a"))
    let counts = Task {
      var count = 0
      for try await _ in magic.observe(Shelf.all.count) { count += 1 }
      return count
    }
    let changes = Task {
      var count = 0
      for try await _ in magic.changes(of: Shelf.self) { count += 1 }
      return count
    }
    try await magic.update(Shelf("b"))
    try await magic.database.close()
    await #expect(throws: (any Error).self) { try await counts.value }
    await #expect(throws: (any Error).self) { try await changes.value }
  }

  @Test func `a loop ends when its task is cancelled or its query throws`() async throws {
    let magic = magic
    let waiting = Task {
      var results: [Int] = []
      for try await count in magic.observe(Jar.all.count) { results.append(count) }
      return results
    }
    waiting.cancel()
    #expect([[], [2]].contains(try await waiting.value))
    var broken = magic.observe(Jar.where(Filter(sql: "no_such_column"))).makeAsyncIterator()
    await #expect(throws: SQLiteError.self) { try await broken.next() }
  }
}
