import Conformance
import Foundation
import MagicData
import Testing

/// Changes of lazy collections that weren't fetched.
@Suite(.everyEngine) struct LazyChangingTests {
  let magic: MagicData
  /// Nine songs, "1" to "9".
  let all: [Song]
  let id: String

  init() throws {
    magic = try MagicData.fresh()
    all = (1...9).map { Song("\($0)") }
    try magic.update(all)
    let original = Playlist("mine")
    original.later.set(Array(all[..<3]))
    original.rare.set(MagicalSet(all[..<3]))
    original.seasons.set(["a": all[0], "b": all[1], "c": all[2]])
    try magic.update(original)
    id = original.id
  }

  private func fetched() throws -> Playlist {
    try magic.object(of: Playlist.self, primary: id)
  }

  private func song(_ number: Int) -> Song { all[number - 1] }

  private func later(_ playlist: Playlist) throws -> String {
    try playlist.later.get().map(\.title).joined()
  }

  private func rare(_ playlist: Playlist) throws -> Set<String> {
    Set(try playlist.rare.get().map(\.title))
  }

  private func seasons(_ playlist: Playlist) throws -> [String: String] {
    try playlist.seasons.get().mapValues(\.title)
  }

  @Test func `two objects append without fetching, and both songs are saved`() throws {
    let (one, two) = (try fetched(), try fetched())
    one.later.append(song(4))
    two.later.append(contentsOf: [song(5), song(6)])
    try magic.update(one)
    try magic.update(two)
    #expect(try later(fetched()) == "123456")
    #expect(try later(one) == "123456")
    // Nothing is pending anymore.
    let (_, cost) = try magic.cost { try magic.update([one, two]) }
    #expect(cost.rows == 0)
  }

  @Test(.requires(.localWork))
  func `an appended song is written without reading the others`() throws {
    let mine = try fetched()
    mine.later.append(song(4))
    let (_, cost) = try magic.cost { try magic.update(mine) }
    #expect(cost.rows == 1)
  }

  @Test func `every blocking accessor shows pending changes`() throws {
    let mine = try fetched()
    mine.later.append(Song("x"))
    #expect(try mine.later.count() == 4)
    mine.later.insert(song(9), at: 1)
    mine.later.insert(song(8), at: 99)
    mine.later.insert(song(7), at: -1)
    #expect(try later(mine) == "71923x8")
    #expect(try mine.later.count() == 7)
    mine.later.remove(song(2))
    #expect(try later(mine) == "7193x8")
    #expect(try mine.later.count() == 6)
    #expect(try mine.later.objects(limit: 3, offset: 2).map(\.title) == ["9", "3", "x"])
    #expect(try mine.later.randomValue(in: 4..<5)?.title == "x")
    #expect(throws: MagicError.outOfRange(count: 6)) { try mine.later.randomValue(in: 3..<7) }
    #expect(throws: MagicError.self) { try magic.fetch(mine.later.where(\.$title == "x").count) }
    // Other objects don't see them.
    #expect(try later(fetched()) == "123")
    try magic.update(mine)
    #expect(try later(fetched()) == "7193x8")
    #expect(try later(mine) == "7193x8")
    #expect(try magic.fetch(mine.later.where(\.$title == "x").count) == 1)
    #expect(try song(9).laterOf.count() == 1)
  }

  @Test func `every async accessor shows pending changes`() async throws {
    let mine = try await magic.object(of: Playlist.self, primary: id)
    mine.later.append(Song("x"))
    var count = try await mine.later.count()
    #expect(count == 4)
    mine.later.remove(song(2))
    count = try await mine.later.count()
    #expect(count == 3)
    let value = try await mine.later.get()
    #expect(value.map(\.title) == ["1", "3", "x"])
    let page = try await mine.later.objects(limit: 2, offset: 1)
    #expect(page.map(\.title) == ["3", "x"])
    var streamed = ""
    for try await song in try mine.later.stream(batch: 2) { streamed += song.title }
    #expect(streamed == "13x")
    let random = try await mine.later.randomValue(in: 1..<2)
    #expect(random?.title == "3")
    let any = try await mine.later.randomValue()
    #expect(any != nil)
    try mine.seasons.set(song(9), forKey: "d")
    let known = try await mine.seasons.value(forKey: "c")
    let added = try await mine.seasons.value(forKey: "d")
    let none = try await mine.seasons.value(forKey: "e")
    #expect([known?.title, added?.title, none?.title] == ["3", "9", nil])
    try await magic.update(mine)
    let stored = try await magic.object(of: Playlist.self, primary: id).later.get()
    #expect(stored.map(\.title) == ["1", "3", "x"])
  }

  @Test func `sets and dictionaries are changed without fetching`() throws {
    let (one, two) = (try fetched(), try fetched())
    one.rare.insert(song(4))
    one.rare.insert(song(1))
    one.rare.remove(song(2))
    #expect(try rare(one) == ["1", "3", "4"])
    #expect(try one.rare.count() == 3)
    two.rare.insert(contentsOf: [song(5), song(4)])
    try one.seasons.set(song(4), forKey: "d")
    try one.seasons.set(nil, forKey: "a")
    try one.seasons.set(song(9), forKey: "b")
    #expect(try seasons(one) == ["b": "9", "c": "3", "d": "4"])
    #expect(try one.seasons.value(forKey: "d")?.title == "4")
    #expect(try one.seasons.value(forKey: "a") == nil)
    #expect(try one.seasons.value(forKey: "c")?.title == "3")
    two.seasons.remove(song(3))
    try magic.update(one)
    try magic.update(two)
    let found = try fetched()
    #expect(try rare(found) == ["1", "3", "4", "5"])
    #expect(try seasons(found) == ["b": "9", "d": "4"])
    #expect(try found.seasons.value(forKey: "b")?.title == "9")
    #expect(try found.seasons.value(forKey: "c") == nil)
  }

  @Test func `removeAll removes everything that exists at the time of the save`() throws {
    let (one, two) = (try fetched(), try fetched())
    one.later.append(song(4))
    one.later.removeAll()
    one.later.append(song(5))
    one.rare.removeAll()
    one.seasons.removeAll()
    #expect(try later(one) == "5")
    #expect(try one.later.count() == 1)
    two.later.append(song(6))
    try magic.update(two)
    try magic.update(one)
    #expect(try later(fetched()) == "5")
    #expect(try fetched().rare.count() == 0)
    #expect(try fetched().seasons.count() == 0)
  }

  @Test func `an object that was added and removed again isn't saved`() throws {
    let mine = try fetched()
    let (x, y) = (Song("x"), Song("y"))
    mine.later.append(contentsOf: [x, y])
    mine.later.remove(x)
    #expect(try later(mine) == "123y")
    try magic.update(mine)
    #expect(try later(fetched()) == "123y")
    #expect(try magic.count(of: Song.self, where: \.$title == "x") == 0)
    mine.later.insert(x, at: 0)
    mine.later.insert(Song("z"), at: 1)
    mine.later.remove(x)
    try magic.update(mine)
    #expect(try later(fetched()) == "z123y")
  }

  @Test func `assigning a changed copy of the fetched value merges the changes`() throws {
    let (one, two) = (try fetched(), try fetched())
    one.later.set(try one.later.get() + [song(4)])
    two.later.set([song(5)] + (try two.later.get()).dropLast())
    try magic.update(one)
    try magic.update(two)
    #expect(try later(fetched()) == "5124")
    // From now on, changes are compared with the saved value.
    one.later.set(try one.later.get() + [song(6)])
    one.later.append(song(7))
    try magic.update(one)
    #expect(try later(fetched()) == "512467")
    // A collection that was never fetched is replaced.
    let third = try fetched()
    third.later.set([song(9)])
    try magic.update(third)
    #expect(try later(fetched()) == "9")
  }

  @Test func `after a new object was saved, assigned collections are merged`() throws {
    let mine = Playlist("new")
    try magic.update(mine)
    let other = try magic.object(of: Playlist.self, primary: mine.id)
    other.later.append(song(1))
    try magic.update(other)
    mine.later.append(song(2))
    try magic.update(mine)
    mine.later.set([song(2), song(3)])
    try magic.update(mine)
    #expect(try later(magic.object(of: Playlist.self, primary: mine.id)) == "123")
  }

  @Test func `assigning a value that includes pending changes adds nothing twice`() throws {
    let mine = try fetched()
    mine.later.append(song(4))
    let shown = try mine.later.get()
    try magic.update(mine)
    mine.later.set(shown + [song(5)])
    try magic.update(mine)
    #expect(try later(fetched()) == "12345")
    let other = try fetched()
    other.later.append(song(6))
    other.later.set(try other.later.get())
    try magic.update(other)
    #expect(try later(fetched()) == "123456")
  }

  @Test func `ifUnchanged compares links only if they were fetched or saved`() throws {
    let (one, two, three) = (try fetched(), try fetched(), try fetched())
    _ = try one.later.get()
    two.later.append(song(4))
    try magic.update(two, ifUnchanged: true)
    #expect(throws: MagicError.conflict(type: "Playlist", zIndex: 1)) {
      try magic.update(one, ifUnchanged: true)
    }
    // `three` hasn't fetched the links.
    three.later.append(song(5))
    try magic.update(three, ifUnchanged: true)
    _ = try one.later.get()
    one.later.append(song(6))
    try magic.update(one, ifUnchanged: true)
    one.later.append(song(7))
    try magic.update(one, ifUnchanged: true)
    #expect(try later(fetched()) == "1234567")
  }

  @Test func `changes of a failed save are saved by the next save`() throws {
    struct Refused: Error {}
    let mine = try fetched()
    mine.later.append(song(4))
    #expect(throws: Refused.self) {
      try magic.transaction {
        try magic.update(mine)
        mine.later.append(song(5))
        try magic.update(mine)
        #expect(try later(mine) == "12345")
        mine.later.append(song(6))
        throw Refused()
      }
    }
    #expect(try later(fetched()) == "123")
    #expect(try later(mine) == "123456")
    mine.best = [Song()]
    #expect(throws: MagicError.self) { try magic.update(mine) }
    mine.best = []
    try magic.update(mine)
    #expect(try later(fetched()) == "123456")
    // A transaction that commits.
    try magic.transaction {
      mine.later.append(song(7))
      try magic.update(mine)
    }
    try magic.update(mine)
    #expect(try later(fetched()) == "1234567")
  }

  @Test func `pending changes that involve removed objects make the save throw`() throws {
    let mine = try fetched()
    try magic.remove(try fetched())
    mine.later.append(song(4))
    #expect(throws: MagicError.lostValue(type: "Playlist", property: "later")) {
      try magic.update(mine)
    }
    let other = Playlist("other")
    other.later.append(song(1))
    other.later.insert(song(2), at: 0)
    try other.seasons.set(song(3), forKey: "x")
    #expect(try later(other) == "21")
    #expect(try other.later.count() == 2)
    try magic.update(other)
    for removed in try magic.objects(of: Song.self, where: \.$title == "5") {
      try magic.remove(removed)
    }
    other.later.append(song(5))
    #expect(throws: MagicError.self) { try magic.update(other) }
    other.later.remove(song(5))
    try magic.update(other)
    let found = try magic.object(of: Playlist.self, primary: other.id)
    #expect(try later(found) == "21")
    #expect(try seasons(found) == ["x": "3"])
  }

  @Test func `a collection that was never assigned contains the appended objects`() throws {
    let mine = Playlist("new")
    mine.later = AsyncMagical()
    mine.later.append(song(1))
    #expect(try later(mine) == "1")
    try magic.update(mine)
    #expect(try later(magic.object(of: Playlist.self, primary: mine.id)) == "1")
  }

  @Test func `assigning another object's collection copies its pending changes`() throws {
    let (mine, other) = (try fetched(), Playlist("other"))
    mine.later.append(song(4))
    other.later = mine.later
    try magic.update(other)
    #expect(try later(magic.object(of: Playlist.self, primary: other.id)) == "1234")
    #expect(try later(fetched()) == "123")
    try magic.update(mine)
    #expect(try later(fetched()) == "1234")
  }

  @Test func `JSON contains the keys of collections with pending changes`() throws {
    let mine = try fetched()
    mine.later.append(song(4))
    mine.later.remove(song(1))
    try mine.seasons.set(song(5), forKey: "a")
    let json = try JSONEncoder().encode(mine)
    let object = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
    #expect(object["later"] as? [Int] == [2, 3, 4])
    #expect((object["seasons"] as? [String: Int])?["a"] == 5)
  }

  @Test func `20 tasks append to copies and to a shared object, and no link is lost`()
    async throws
  {
    let magic = try await MagicData.fresh(.temporary)
    let playlist = Playlist("all")
    try await magic.update(playlist)
    let shared = try await magic.object(of: Playlist.self, primary: playlist.id)
    let id = playlist.id
    try await withThrowingTaskGroup { group in
      for number in 0..<20 {
        group.addTask {
          let mine = try await magic.object(of: Playlist.self, primary: id)
          mine.later.append(Song("\(number)"))
          try await magic.update(mine)
        }
        group.addTask {
          shared.later.append(Song("\(number + 20)"))
          try await magic.update(shared)
        }
      }
      try await group.waitForAll()
    }
    let found = try await magic.object(of: Playlist.self, primary: id)
    let titles = try await found.later.get().map(\.title)
    #expect(titles.sorted() == (0..<40).map { "\($0)" }.sorted())
    let count = try await shared.later.count()
    #expect(count == 40)
  }

  @Test func `a lazy list handles thousands of pending changes`() throws {
    let mine = try fetched()
    for number in 0..<2_000 { mine.later.append(song(number % 9 + 1)) }
    #expect(try mine.later.count() == 2_003)
    try magic.update(mine)
    #expect(try fetched().later.count() == 2_003)
    let other = Playlist("new")
    for number in 0..<2_000 { other.later.append(song(number % 9 + 1)) }
    #expect(try other.later.count() == 2_000)
    other.later.remove(song(1))
    #expect(try other.later.count() == 1_777)
  }
}
