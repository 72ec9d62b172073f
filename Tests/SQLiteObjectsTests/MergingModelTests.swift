import Conformance
import MagicData
import Testing
import TestSupport

/// A reference implementation of merging, as simple as possible.
private enum Reference {
  /// Merges a list in which elements don't move and occur once.
  ///
  /// Elements removed in `mine` are deleted. Elements added in `mine` are inserted before the next
  /// element of `mine` that was in `base` and is still stored.
  static func merge(_ base: [Int], mine: [Int], stored: [Int]) -> [Int] {
    var merged = stored.filter { !base.contains($0) || mine.contains($0) }
    for (place, element) in mine.enumerated() where !base.contains(element) {
      let next = mine[place...].first { base.contains($0) && merged.contains($0) }
      let end = next.flatMap { merged.firstIndex(of: $0) } ?? merged.count
      merged.insert(element, at: end)
    }
    return merged
  }

  /// Returns how often an element may occur in a merged list if elements can move and repeat.
  static func counts(_ element: Int, _ base: [Int], mine: [Int], stored: [Int]) -> ClosedRange<Int>
  {
    func count(_ list: [Int]) -> Int { list.count { $0 == element } }
    let (base, mine, stored) = (count(base), count(mine), count(stored))
    // Elements added in `mine` are added to the stored ones.
    if mine >= base { return (stored + mine - base)...(stored + mine - base) }
    // Elements removed in `mine` are deleted, unless the stored list lost the same ones.
    let removed = base - mine
    let gone = max(0, base - stored)
    return (stored - min(removed, stored))...(stored - max(0, removed - gone))
  }

  static func merge(_ base: Set<Int>, mine: Set<Int>, stored: Set<Int>) -> Set<Int> {
    stored.subtracting(base.subtracting(mine)).union(mine.subtracting(base))
  }

  static func merge(
    _ base: [String: Int], mine: [String: Int], stored: [String: Int]
  ) -> [String: Int] {
    var merged = stored
    for key in Set(base.keys).union(mine.keys) where base[key] != mine[key] {
      merged[key] = mine[key]
    }
    return merged
  }
}

/// The collections of a playlist, with songs represented by their numbers.
private struct Content: Equatable {
  var songs: [Int] = []
  var best: Set<Int> = []
  var moods: [String: Int] = [:]
}

/// A change of a lazy list.
private enum Change {
  case append(Int)
  case insert(Int, at: Int)
  case remove(Int)
  case removeAll

  func apply(to list: inout [Int]) {
    switch self {
    case .append(let element): list.append(element)
    case .insert(let element, let place): list.insert(element, at: min(place, list.count))
    case .remove(let element): list.removeAll { $0 == element }
    case .removeAll: list = []
    }
  }

  func apply(to list: AsyncMagical<[Song]>, _ all: [Song]) {
    switch self {
    case .append(let element): list.append(all[element])
    case .insert(let element, let place): list.insert(all[element], at: place)
    case .remove(let element): list.remove(all[element])
    case .removeAll: list.removeAll()
    }
  }
}

extension [Change] {
  func applied(to list: [Int]) -> [Int] {
    var list = list
    for change in self { change.apply(to: &list) }
    return list
  }
}

/// A simulated user who has fetched the playlist.
private struct Writer {
  var playlist: Playlist
  /// The content as last fetched or saved.
  var base: Content
  var mine: Content
  /// The pending changes of the lazy list.
  var changes: [Change] = []
  /// The lazy list as last fetched, or nil if it wasn't fetched.
  var known: [Int]?
}

/// A random history of up to five writers on one playlist.
private struct History {
  let magic: MagicData
  let all: [Song]
  let id: String
  /// Whether elements may move and repeat in the list.
  let isWild: Bool
  var random: SplitMix64
  var writers: [Writer] = []
  var stored = Content()
  var storedLater: [Int] = []
  var next = 0

  init(_ magic: MagicData, _ all: [Song], seed: UInt64) throws {
    self.magic = magic
    self.all = all
    random = SplitMix64(seed: seed)
    isWild = seed % 2 == 0
    id = "playlist \(seed)"
    let playlist = Playlist(id: id, "\(seed)")
    for _ in 0..<Int.random(in: 0...4, using: &random) { stored.songs.append(fresh()) }
    stored.best = Set(stored.songs.prefix(2))
    if let first = stored.songs.first { stored.moods = ["a": first, "b": first] }
    History.set(playlist, stored, all)
    try magic.update(playlist)
    for _ in 0..<Int.random(in: 1...5, using: &random) { writers.append(try fetched()) }
  }

  private static func set(_ playlist: Playlist, _ content: Content, _ all: [Song]) {
    playlist.songs = content.songs.map { all[$0] }
    playlist.best = MagicalSet(content.best.map { all[$0] })
    playlist.moods = content.moods.mapValues { all[$0] }
  }

  private func fetched() throws -> Writer {
    let playlist = try magic.object(of: Playlist.self, primary: id)
    let content = Content(
      songs: playlist.songs.compactMap { Int($0.title) },
      best: Set(playlist.best.compactMap { Int($0.title) }),
      moods: playlist.moods.compactMapValues { Int($0.title) })
    #expect(content == stored)
    return Writer(playlist: playlist, base: content, mine: content)
  }

  /// Returns a song that was in no list yet.
  private mutating func fresh() -> Int {
    next += 1
    return next % all.count
  }

  private mutating func some() -> Int {
    isWild ? Int.random(in: 0..<6, using: &random) : fresh()
  }

  mutating func step() throws {
    let writer = Int.random(in: 0..<writers.count, using: &random)
    switch Int.random(in: 0..<15, using: &random) {
    case 12, 13: changeLater(writer)
    case 14: try look(writer)
    case 0: writers[writer] = try fetched()
    case 1: try save(writer, ifUnchanged: true)
    case 2, 3: try save(writer, ifUnchanged: false)
    case 4: changeSet(writer)
    case 5: changeDictionary(writer)
    default: changeList(writer)
    }
  }

  private mutating func changeLater(_ writer: Int) {
    let element = Int.random(in: 0..<6, using: &random)
    let change: Change =
      switch Int.random(in: 0..<9, using: &random) {
      case 0: .removeAll
      case 1, 2: .remove(element)
      case 3, 4: .insert(element, at: Int.random(in: 0..<4, using: &random))
      default: .append(element)
      }
    writers[writer].changes.append(change)
    change.apply(to: writers[writer].playlist.later, all)
  }

  /// Fetches the lazy list and compares it with the reference.
  private mutating func look(_ writer: Int) throws {
    let shown = try writers[writer].playlist.later.get().compactMap { Int($0.title) }
    #expect(shown == writers[writer].changes.applied(to: storedLater))
    #expect(try writers[writer].playlist.later.count() == shown.count)
    writers[writer].known = storedLater
  }

  private mutating func changeSet(_ writer: Int) {
    let element = Int.random(in: 0..<6, using: &random)
    if writers[writer].mine.best.contains(element) {
      writers[writer].mine.best.remove(element)
      writers[writer].playlist.best.remove(all[element])
    } else {
      writers[writer].mine.best.insert(element)
      writers[writer].playlist.best.insert(all[element])
    }
  }

  private mutating func changeDictionary(_ writer: Int) {
    let key = ["a", "b", "c", "d"][Int.random(in: 0..<4, using: &random)]
    let element = Int.random(in: -2..<4, using: &random)
    writers[writer].mine.moods[key] = element < 0 ? nil : element
    writers[writer].playlist.moods[key] = element < 0 ? nil : all[element]
  }

  private mutating func changeList(_ writer: Int) {
    var list = writers[writer].mine.songs
    let place = Int.random(in: 0...list.count, using: &random)
    switch Int.random(in: 0..<6, using: &random) {
    case 0 where place < list.count: list.remove(at: place)
    case 1 where isWild && place < list.count:
      list.swapAt(place, Int.random(in: 0..<list.count, using: &random))
    case 2 where isWild && place < list.count:
      let moved = list.remove(at: place)
      list.insert(moved, at: Int.random(in: 0...list.count, using: &random))
    case 3: list.append(some())
    case 4 where list.count > 2: list.removeSubrange(0..<2)
    default: list.insert(some(), at: place)
    }
    writers[writer].mine.songs = list
    writers[writer].playlist.songs = list.map { all[$0] }
  }

  private mutating func save(_ index: Int, ifUnchanged isUnchanged: Bool) throws {
    let writer = writers[index]
    do {
      try magic.update(writer.playlist, ifUnchanged: isUnchanged)
    } catch MagicError.conflict {
      #expect(isUnchanged && (writer.base != stored || writer.known ?? storedLater != storedLater))
      return
    }
    if isUnchanged {
      #expect(writer.base == stored && writer.known ?? storedLater == storedLater)
    }
    storedLater = writer.changes.applied(to: storedLater)
    #expect(try storedSongs("later") == storedLater)
    writers[index].known = writer.known.map { writer.changes.applied(to: $0) }
    writers[index].changes = []
    let before = stored
    stored.best = Reference.merge(writer.base.best, mine: writer.mine.best, stored: stored.best)
    stored.moods = Reference.merge(writer.base.moods, mine: writer.mine.moods, stored: stored.moods)
    let songs = try storedSongs("songs")
    if isWild {
      for element in 0..<all.count {
        let counts = Reference.counts(
          element, writer.base.songs, mine: writer.mine.songs, stored: before.songs)
        #expect(counts.contains(songs.count { $0 == element }))
      }
      if before.songs == writer.base.songs { #expect(songs == writer.mine.songs) }
      if writer.mine.songs == writer.base.songs { #expect(songs == before.songs) }
      stored.songs = songs
    } else {
      stored.songs = Reference.merge(
        writer.base.songs, mine: writer.mine.songs, stored: before.songs)
      #expect(songs == stored.songs)
    }
    writers[index].base = writer.mine
  }

  private func storedSongs(_ property: String) throws -> [Int] {
    try magic.database.rows(
      "SELECT title FROM Playlist JOIN \(identifier: "Playlist_" + property) ON owner = Playlist.z_index JOIN Song ON Song.z_index = target WHERE id = \(id) ORDER BY position",
      as: String.self
    ).compactMap { Int($0) }
  }

  /// Saves every writer's changes and compares the result with the reference.
  mutating func finish() throws {
    for writer in writers.indices { try save(writer, ifUnchanged: false) }
    _ = try fetched()
  }
}

@Suite(.everyEngine) struct MergingModelTests {
  @Test(arguments: 0..<8)
  func `histories of up to five writers match the reference`(part: UInt64) throws {
    let magic = try MagicData.fresh()
    let all = (0..<40).map { Song("\($0)") }
    try magic.update(all)
    // A cluster takes about ten times as long.
    let count: UInt64 = Engine.current == .cluster ? 20 : 250
    for seed in seeds((part * 250 + 1)...(part * 250 + count)) {
      var history = try History(magic, all, seed: seed)
      for _ in 0..<10 { try history.step() }
      try history.finish()
    }
    #expect(try magic.violations() == 0)
  }
}
