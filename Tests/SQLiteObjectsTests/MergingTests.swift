import Conformance
import MagicData
import Testing

struct Song: MagicObject {
  @MagicValue var title: String
  @ReverseMagicValue(\Playlist.$songs) var playlists: AsyncReverseMagicSet<Playlist>
  @ReverseMagicValue(\Playlist.$later) var laterOf: AsyncReverseMagicSet<Playlist>

  init() {}

  init(_ title: String) { self.title = title }
}

/// A playlist with an eager and a lazy collection of each kind.
struct Playlist: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var name: String
  @MagicValue var tags: [String]
  @MagicValue var songs: [Song]
  @MagicValue var encores: [Song]
  @MagicValue var best: MagicalSet<Song>
  @MagicValue var moods: [String: Song]
  @MagicValue var later: AsyncMagical<[Song]>
  @MagicValue var rare: AsyncMagical<MagicalSet<Song>>
  @MagicValue var seasons: AsyncMagical<[String: Song]>

  init() {}

  init(_ name: String) {
    self.name = name
    tags = []
    songs = []
    encores = []
    best = []
    moods = [:]
    later = AsyncMagical(value: [])
    rare = AsyncMagical(value: [])
    seasons = AsyncMagical(value: [:])
  }

  init(id: String, _ name: String) {
    self.init(name)
    self.id = id
  }

  var titles: String { songs.map(\.title).joined() }
}

@Suite(.everyEngine) struct MergingTests {
  let magic: MagicData
  /// Nine songs, "1" to "9".
  let all: [Song]
  /// A playlist with the songs 1, 2 and 3.
  let original: Playlist

  init() throws {
    magic = try MagicData.fresh()
    all = (1...9).map { Song("\($0)") }
    original = Playlist("mine")
    original.songs = Array(all[..<3])
    original.best = MagicalSet(all[..<3])
    original.moods = ["a": all[0], "b": all[1], "c": all[2]]
    try magic.update(original)
    try magic.update(all)
  }

  private func fetched() throws -> Playlist {
    try magic.object(of: Playlist.self, primary: original.id)
  }

  private func song(_ number: Int) -> Song { all[number - 1] }

  private func stored() throws -> String { try fetched().titles }

  @Test func `two fetched copies append, and both songs are saved`() throws {
    let (one, two) = (try fetched(), try fetched())
    one.songs.append(song(4))
    two.songs.append(song(5))
    try magic.update(one)
    try magic.update(two)
    #expect(try stored() == "12345")
    // Each copy shows its own list until it is fetched again.
    #expect(one.titles == "1234")
    #expect(two.titles == "1235")
  }

  @Test func `each change is compared with the last save`() throws {
    let other = try fetched()
    // Once with the new object, once with a fetched one.
    for mine in [original, try fetched()] {
      other.songs.append(song(9))
      try magic.update(other)
      mine.songs.append(song(4))
      try magic.update(mine)
      mine.songs.append(song(5))
      try magic.update(mine)
      mine.songs.removeLast(2)
      try magic.update(mine)
    }
    #expect(try stored() == "12399")
    try magic.update(original)
    original.songs = []
    try magic.update(original)
    original.songs = [song(1)]
    try magic.update(original)
    #expect(try stored() == "991")
  }

  @Test func `sets are merged by element and dictionaries by key`() throws {
    let (one, two) = (try fetched(), try fetched())
    one.best.insert(song(4))
    one.best.remove(song(1))
    one.moods["d"] = song(4)
    one.moods["a"] = nil
    one.moods["c"] = song(9)
    two.best.insert(song(5))
    two.best.insert(song(4))
    two.best.remove(song(2))
    two.moods["e"] = song(5)
    two.moods["b"] = song(6)
    two.moods["c"] = song(8)
    try magic.update(one)
    try magic.update(two)
    let found = try fetched()
    #expect(Set(found.best.map(\.title)) == ["3", "4", "5"])
    #expect(
      found.moods.mapValues(\.title) == ["b": "6", "c": "8", "d": "4", "e": "5"])
  }

  @Test func `removing one of two equal elements removes it once`() throws {
    let mine = try fetched()
    mine.songs.append(song(1))
    try magic.update(mine)
    let (one, two) = (try fetched(), try fetched())
    one.songs.removeLast()
    two.songs.append(song(4))
    try magic.update(two)
    try magic.update(one)
    #expect(try stored() == "1234")
  }

  @Test func `moves, swaps, removals and additions are merged`() throws {
    let (mover, remover, adder) = (try fetched(), try fetched(), try fetched())
    mover.songs.swapAt(0, 2)
    remover.songs.remove(at: 0)
    adder.songs.insert(song(4), at: 2)
    try magic.update(remover)
    try magic.update(mover)
    try magic.update(adder)
    let found = try fetched().songs.map(\.title)
    #expect(found.sorted() == ["2", "3", "4"])
    #expect(found.firstIndex(of: "3") ?? 9 < found.firstIndex(of: "2") ?? 0)
    // An element is removed and added again, before a save and after it.
    let again = try fetched()
    let one = again.songs.removeFirst()
    again.songs.insert(one, at: 0)
    try magic.update(again)
    #expect(try fetched().songs.map(\.title) == found)
    again.songs.removeFirst()
    try magic.update(again)
    again.songs.append(one)
    try magic.update(again)
    #expect(try fetched().songs.map(\.title) == Array(found[1...]) + [found[0]])
  }

  @Test func `saving an object that was never fetched replaces the links`() throws {
    let other = try fetched()
    other.songs.append(song(4))
    try magic.update(other)
    let mine = Playlist(id: original.id, "new")
    mine.songs = [song(5), song(1)]
    try magic.update(mine)
    #expect(try stored() == "51")
    // From now on, its changes are merged.
    other.songs.append(song(6))
    try magic.update(other)
    mine.songs.append(song(7))
    try magic.update(mine)
    #expect(try stored() == "5167")
  }

  @Test func `two properties with the same target type have separate links`() throws {
    let (one, two) = (try fetched(), try fetched())
    one.songs.append(song(4))
    one.encores = [song(1)]
    two.encores = [song(2), song(4)]
    try magic.update(one)
    try magic.update(two)
    #expect(try stored() == "1234")
    #expect(try fetched().encores.map(\.title) == ["1", "2", "4"])
    let owners = try song(4).playlists.get()
    #expect(owners.map(\.id) == [original.id])
    #expect(try song(4).playlists.count() == 1)
  }

  @Test func `a collection of plain values is saved as one value`() throws {
    let (one, two, three) = (try fetched(), try fetched(), try fetched())
    one.tags = ["a"]
    two.tags = ["b"]
    try magic.update(one)
    #expect(throws: MagicError.self) { try magic.update(three, ifUnchanged: true) }
    try magic.update(two)
    #expect(try fetched().tags == ["b"])
  }

  @Test func `ifUnchanged also compares links`() throws {
    func conflicts(_ change: (Playlist) -> Void) throws {
      let (one, two) = (try fetched(), try fetched())
      change(one)
      try magic.update(one, ifUnchanged: true)
      two.name = "changed"
      #expect(throws: MagicError.conflict(type: "Playlist", zIndex: 1)) {
        try magic.update(two, ifUnchanged: true)
      }
      // Saving without `ifUnchanged` doesn't count as a fetch.
      try magic.update(two)
      #expect(throws: MagicError.conflict(type: "Playlist", zIndex: 1)) {
        try magic.update(two, ifUnchanged: true)
      }
      try magic.update(try fetched(), ifUnchanged: true)
    }
    try conflicts { $0.songs.append(song(4)) }
    try conflicts { $0.songs.swapAt(0, 1) }
    try conflicts { $0.songs = [] }
    try conflicts { $0.best.remove(song(1)) }
    try conflicts { $0.moods["a"] = song(2) }
    let one = try fetched()
    try magic.remove(song(2))
    #expect(throws: MagicError.self) { try magic.update(one, ifUnchanged: true) }
    #expect(throws: Never.self) { try magic.update(try fetched(), ifUnchanged: true) }
  }

  @Test func `an object's own saved changes aren't a conflict`() throws {
    let mine = try fetched()
    for _ in 0..<2 {
      mine.songs.append(song(4))
      mine.best.insert(song(5))
      mine.moods["a"] = nil
      try magic.update(mine, ifUnchanged: true)
    }
    #expect(try stored() == "12344")
    try magic.update(original)
    #expect(throws: MagicError.self) { try magic.update(original, ifUnchanged: true) }
  }

  @Test func `merging doesn't restore a song that was removed from the store`() throws {
    let mine = try fetched()
    #expect(mine.titles == "123")
    for removed in try magic.objects(of: Song.self, where: \.$title == "2") {
      try magic.remove(removed)
    }
    mine.songs.append(song(4))
    mine.best.insert(song(4))
    mine.moods["d"] = song(4)
    try magic.update(mine)
    #expect(try stored() == "134")
    // Adding the removed song to another list throws.
    let gone = mine.songs[1]
    mine.encores = [gone]
    #expect(throws: MagicError.self) { try magic.update(mine) }
    mine.encores = [song(1)]
    try magic.update(mine)
    #expect(try fetched().encores.map(\.title) == ["1"])
    #expect(try magic.violations() == 0)
    // After a change, it is saved as a new object.
    gone.title = "x"
    mine.songs.append(song(5))
    try magic.update(mine)
    #expect(try stored() == "1x345")
  }

  @Test func `changes of a failed save are saved by the next save`() throws {
    struct Refused: Error {}
    let (mine, other) = (try fetched(), try fetched())
    mine.songs.insert(song(4), at: 0)
    mine.best.insert(song(4))
    #expect(throws: Refused.self) {
      try magic.transaction {
        try magic.update(mine)
        mine.songs.append(song(5))
        try magic.update(mine)
        throw Refused()
      }
    }
    #expect(try stored() == "123")
    mine.moods = ["a": Song()]
    #expect(throws: MagicError.self) { try magic.update(mine) }
    mine.moods = [:]
    other.songs.append(song(6))
    try magic.update(other)
    try magic.update(mine)
    #expect(try stored() == "412365")
    try magic.update(mine)
    #expect(try stored() == "412365")
  }

  @Test func `a removed object is saved again if only its links have changed`() throws {
    struct Refused: Error {}
    let mine = try fetched()
    try magic.remove(try fetched())
    mine.songs.append(song(4))
    // Its lazy values were deleted with it.
    #expect(throws: MagicError.self) { try magic.update(mine) }
    let node = Node("child")
    let root = Node("root")
    root.children = [node]
    try magic.update(root)
    let found = try #require(try magic.objects(of: Node.self, where: \.$name == "root").first)
    let child = try #require(found.children.first)
    try magic.remove(node)
    child.children = [Node("grandchild")]
    try magic.update(found)
    #expect(try magic.count(of: Node.self) == 3)
    #expect(try magic.violations() == 0)
  }

  @Test func `a removed object that is saved again keeps its links`() throws {
    let root = Node("root")
    root.children = [Node("a"), Node("b")]
    try magic.update(root)
    let found = try #require(try magic.objects(of: Node.self, where: \.$name == "root").first)
    try magic.remove(found)
    #expect(found.children.map(\.name) == ["a", "b"])
    try magic.update(found)
    #expect(found.children.map(\.name) == ["a", "b"])
    let again = try #require(try magic.objects(of: Node.self, where: \.$name == "root").first)
    #expect(again.children.map(\.name) == ["a", "b"])
    found.children.removeFirst()
    try magic.update(found)
    let last = try #require(try magic.objects(of: Node.self, where: \.$name == "root").first)
    #expect(last.children.map(\.name) == ["b"])
  }

  @Test func `20 tasks append concurrently, and all links are saved`() async throws {
    let magic = try await MagicData.fresh(.temporary)
    let playlist = Playlist("all")
    try await magic.update(playlist)
    let id = playlist.id
    try await withThrowingTaskGroup { group in
      for number in 0..<20 {
        group.addTask {
          let mine = try await magic.object(of: Playlist.self, primary: id)
          mine.songs.append(Song("\(number)"))
          mine.best.insert(mine.songs[mine.songs.count - 1])
          mine.moods["\(number)"] = mine.songs[mine.songs.count - 1]
          try await magic.update(mine)
        }
      }
      try await group.waitForAll()
    }
    let found = try await magic.object(of: Playlist.self, primary: id)
    let numbers = Set((0..<20).map { "\($0)" })
    #expect(found.songs.count == 20)
    #expect(Set(found.songs.map(\.title)) == numbers)
    #expect(Set(found.best.map(\.title)) == numbers)
    #expect(Set(found.moods.keys) == numbers)
  }

  @Test func `many tasks save one object without losing or duplicating links`() async throws {
    let magic = try await MagicData.fresh(.temporary)
    let playlist = Playlist("shared")
    try await magic.update(playlist)
    let shared = try await magic.object(of: Playlist.self, primary: playlist.id)
    try await withThrowingTaskGroup { group in
      for number in 0..<20 {
        shared.songs.append(Song("\(number)"))
        group.addTask { try await magic.update(shared) }
      }
      try await group.waitForAll()
    }
    try await magic.update(shared)
    let found = try await magic.object(of: Playlist.self, primary: playlist.id)
    #expect(found.songs.map(\.title) == (0..<20).map { "\($0)" })
  }

  @Test(.requires(.localWork))
  func `appending a song writes one row and doesn't read the others`() throws {
    let mine = try fetched()
    mine.songs.append(song(4))
    let (_, cost) = try magic.cost { try magic.update(mine) }
    #expect(cost.rows == 1)
    mine.songs.removeFirst()
    let (_, other) = try magic.cost { try magic.update(mine) }
    #expect(other.rows == 1)
    let (_, none) = try magic.cost { try magic.update(mine) }
    #expect(none.rows == 0)
  }
}
