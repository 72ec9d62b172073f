import Conformance
import Foundation
import MagicData
import Synchronization
import Testing
import TestSupport

private struct Track: MagicObject {
  static var traits: [PropertyTrait] {
    [.indexed(\Self.$name), .indexed(\Self.$length, \Self.$name)]
  }
  @PrimaryMagicValue var id: String
  @MagicValue var name: String
  @OptionalMagicValue var composer: String?
  @MagicValue var length: Int
  @OptionalMagicValue var rating: Double?
  @OptionalMagicValue var disc: Disc?
  init() { (name, length) = ("", 0) }
  init(_ id: String, _ name: String, _ composer: String?, _ length: Int, _ rating: Double?) {
    (self.id, self.name, self.length) = (id, name, length)
    self.composer = composer
    self.rating = rating
  }
}

private struct Disc: MagicObject {
  @PrimaryMagicValue var title: String
  @ReverseMagicValue(\Track.$disc) var tracks: AsyncReverseMagicSet<Track>
  @MagicValue var favorites: AsyncMagical<[Track]>
  @MagicValue var best: AsyncMagical<MagicalSet<Track>>
  init() {
    favorites = AsyncMagical(value: [])
    best = AsyncMagical(value: [])
  }
  init(_ title: String) {
    self.init()
    self.title = title
  }
}

@Suite(.everyEngine, .timeLimit(.minutes(40))) struct PagingTests {
  let magic: MagicData

  init() throws { magic = try MagicData.fresh() }

  private static let words = ["", "a", "A", "ab", "é", "e\u{301}", "zz", "'", "a\0b", "\u{10FFFF}"]

  private func fill(_ count: Int, seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    try magic.update(
      (0..<count).map { number in
        Track(
          "\(number * 7919 % 1000) \(number)",
          Engine.text(Self.words.randomElement(using: &random) ?? ""),
          Bool.random(using: &random)
            ? Self.words.randomElement(using: &random).map(Engine.text) : nil,
          .random(in: 0...3, using: &random),
          Bool.random(using: &random) ? Double(Int.random(in: -2...2, using: &random)) / 2 : nil)
      })
  }

  private func pages(
    _ order: [SortKey<Track>], where filter: Filter<Track>? = nil, limit: Int
  ) throws -> [String] {
    let tracks = (filter.map(Track.where) ?? Track.all).ordered(by: order)
    var ids: [String] = []
    var position: PagePosition<Track>?
    while true {
      let page = try magic.fetch(tracks.page(after: position, limit: limit))
      ids += page.objects.map(\.id)
      position = page.end
      #expect(page.objects.count == limit || !page.hasMore)
      if !page.hasMore { return ids }
    }
  }

  @Test func `pages in random orders contain the same objects as one fetch`() throws {
    try fill(90, seed: 1)
    var random = SplitMix64(seed: 2)
    let keys: [SortKey<Track>] = [
      .ascending(\.$name), .descending(\.$name), .ascending(\.$composer), .descending(\.$composer),
      .ascending(\.$length), .descending(\.$length), .ascending(\.$rating), .descending(\.$rating),
      .ascending(\.$length * 2), .descending(\.$rating + 1.0), .ascending(\.$disc.$title),
    ]
    for number in 0..<120 {
      let order = (0..<Int.random(in: 0...3, using: &random)).compactMap { _ in
        keys.randomElement(using: &random)
      }
      let filter: Filter<Track>? = number % 3 == 0 ? \.$length > 0 : nil
      let limit = Int.random(in: 1...40, using: &random)
      let expected = try magic.objects(of: Track.self, where: filter, orderedBy: order).map(\.id)
      try #require(try pages(order, where: filter, limit: limit) == expected, "order \(number)")
    }
  }

  @Test func `objects inserted or removed between pages cause no gaps or duplicates`() throws {
    try fill(60, seed: 3)
    var random = SplitMix64(seed: 4)
    let order: [SortKey<Track>] = [.descending(\.$composer), .ascending(\.$name)]
    var seen: [String] = []
    var lasting = Set(try magic.objects(of: Track.self).map(\.id))
    var position: PagePosition<Track>?
    var hasMore = true
    var number = 0
    while hasMore {
      let page = try magic.fetch(Track.ordered(by: order).page(after: position, limit: 7))
      seen += page.objects.map(\.id)
      (position, hasMore) = (page.end, page.hasMore)
      number += 1
      try magic.update(
        Track(
          "new \(number)", Engine.text(Self.words.randomElement(using: &random) ?? ""), nil, 1, nil)
      )
      // The last object of a page may be removed, too.
      for track in [page.objects.last, page.objects.first].compactMap(\.self) {
        try magic.remove(track)
        lasting.remove(track.id)
      }
    }
    #expect(Set(seen).count == seen.count)
    #expect(lasting.subtracting(seen).isEmpty)
  }

  @Test func `a page starts after an object's current position`() async throws {
    try fill(20, seed: 5)
    let all = try await magic.objects(of: Track.self, orderedBy: [.ascending(\.$name)])
    let page = try await magic.fetch(
      Track.ordered(by: .ascending(\.$name)).page(after: all[4], limit: 5))
    #expect(page.objects.map(\.id) == all[5..<10].map(\.id))
    #expect(page.hasMore)
    let blocking = {
      try magic.fetch(Track.ordered(by: .ascending(\.$name)).page(after: all[18], limit: 5))
    }
    let last = try blocking()
    #expect(last.objects.map(\.id) == [all[19].id])
    #expect(!last.hasMore)
    try await magic.remove(all[4])
    await #expect(throws: MagicError.notSaved(type: "Track")) {
      try await magic.fetch(Track.all.page(after: all[4], limit: 5))
    }
  }

  @Test func `paging from the end of the last page finds later objects`() async throws {
    let first = try await magic.fetch(Track.all.page(limit: 3))
    #expect(first.objects.isEmpty && !first.hasMore && first.end == nil)
    try fill(3, seed: 6)
    let page = try await magic.fetch(Track.all.page(after: first.end, limit: 3))
    #expect(page.objects.count == 3 && !page.hasMore)
    let nothing = try await magic.fetch(Track.all.page(after: page.end, limit: 3))
    #expect(nothing.objects.isEmpty && nothing.end == page.end)
    try await magic.update(Track("later", "x", nil, 1, nil))
    let later = try await magic.fetch(Track.all.page(after: nothing.end, limit: 3))
    #expect(later.objects.map(\.id) == ["later"])
  }

  @Test func `a position survives the conversion to text and back`() throws {
    try fill(60, seed: 8)
    var order: [SortKey<Track>] = [
      .descending(\.$composer), .ascending(\.$name), .ascending(\.$rating), .ascending(\.$length),
    ]
    for _ in 0..<4 {
      var position: PagePosition<Track>?
      var ids: [String] = []
      var hasMore = true
      while hasMore {
        let page = try magic.fetch(Track.ordered(by: order).page(after: position, limit: 7))
        ids += page.objects.map(\.id)
        hasMore = page.hasMore
        let text = try #require(page.end).description
        #expect(text.utf8.allSatisfy { "0123456789abcdefinrt.-".utf8.contains($0) })
        let parsed: PagePosition<Track> = try #require(PagePosition(text))
        position = parsed
        #expect(position == page.end)
      }
      #expect(ids == (try magic.objects(of: Track.self, orderedBy: order).map(\.id)))
      order.removeFirst()
    }
  }

  @Test func `text that isn't a position of the query is nil or throws`() throws {
    try fill(5, seed: 9)
    let tracks = Track.ordered(by: .ascending(\.$name), .ascending(\.$rating))
    let end = try #require(try magic.fetch(tracks.page(limit: 2)).end?.description)
    let fields = end.split(separator: ".")
    for text in [
      "", ".", "..", "0", "x", "\(end).", "\(end).x", "\(end) ", "é", "\(fields[0].dropLast()).1",
      "\(fields[0]).9223372036854775808", "\(fields[0]).1.i", "\(fields[0]).1.n1",
      "\(fields[0]).1.r7ff8000000000000", "\(fields[0]).1.t1", "\(fields[0]).1.tff",
      "\(fields[0]).1.tgg", "\(fields[0]).1.bé1", "\(fields[0].uppercased())g.1",
    ] {
      #expect(PagePosition<Track>(text) == nil, "\(text)")
    }
    for text in [
      "\(fields[0]).1", "\(fields[0]).1.n", "\(end).n", "0000000000000000.1.n.n",
    ] {
      let position = try #require(PagePosition<Track>(text), "\(text)")
      let error = #expect(throws: SQLiteError.self) {
        try magic.fetch(tracks.page(after: position, limit: 2))
      }
      #expect(error?.code == .misuse)
    }
    // Values of other types only change where the page begins.
    for text in [
      "\(fields[0]).-5.n.n", "\(fields[0]).1.i7.t01", "\(fields[0]).1.b.r7ff0000000000000",
    ] {
      let position = try #require(PagePosition<Track>(text), "\(text)")
      #expect(try magic.fetch(tracks.page(after: position, limit: 9)).objects.count <= 5)
    }
    // A position of another type of objects.
    let disc = try #require(PagePosition<Disc>(end))
    let error = #expect(throws: SQLiteError.self) {
      try magic.fetch(Disc.all.page(after: disc, limit: 2))
    }
    #expect(error?.code == .misuse)
  }

  @Test func `a position of a calculated order is rejected by other orders`() throws {
    typealias Order = [SortKey<Track>]
    try fill(3, seed: 7)
    let first: Order = [.ascending(\.$length % 3)]
    let end = try #require(
      try magic.fetch(Track.ordered(by: first).page(limit: 2)).end)
    // An equal order, created again.
    let same: Order = [.ascending(\.$length % 3)]
    #expect(throws: Never.self) {
      try magic.fetch(Track.ordered(by: same).page(after: end, limit: 2))
    }
    let others: [Order] = [
      [.descending(\.$length % 3)], [.ascending(\.$length % 4)], [.ascending(\.$length / 3)],
      [.ascending(\.$name)],
    ]
    for other in others {
      let error = #expect(throws: SQLiteError.self) {
        try magic.fetch(Track.ordered(by: other).page(after: end, limit: 2))
      }
      #expect(error?.code == .misuse)
    }
  }

  @Test func `a limit below one and a position of another order throw`() throws {
    try fill(3, seed: 7)
    #expect(throws: SQLiteError.self) { try magic.fetch(Track.all.page(limit: 0)) }
    let page = try magic.fetch(Track.ordered(by: .ascending(\.$name)).page(limit: 1))
    for order in [
      [], [.descending(\.$name)], [.ascending(\.$composer)],
      [.ascending(\.$name), .ascending(\.$length)],
    ] as [[SortKey<Track>]] {
      let error = #expect(throws: SQLiteError.self) {
        try magic.fetch(Track.ordered(by: order).page(after: page.end, limit: 1))
      }
      #expect(error?.code == .misuse)
    }
  }

  @Test func `a limit may be Int.max`() throws {
    try fill(3, seed: 7)
    let page = try magic.fetch(Track.ordered(by: .descending(\.$rating)).page(limit: .max))
    #expect(page.objects.count == 3)
    #expect(!page.hasMore)
    let rest = try magic.fetch(
      Track.ordered(by: .descending(\.$rating)).page(after: page.end, limit: .max))
    #expect(rest.objects.isEmpty)
  }

  @Test(.requires(.tracing))
  func `each query of a page searches one index range, wherever the page is`() throws {
    let log = Mutex<[String]>([])
    var options = Database.Options()
    options.prepareConnection = { connection in
      try connection.trace(showsValues: true) { event in
        if case .begins(let sql) = event { log.withLock { $0.append(sql) } }
      }
    }
    let folder = try TestFolder()
    let store = try MagicData.at(folder.path, options: options)
    try store.update((0..<200).map { Track("\($0)", "\($0 % 4)", nil, $0 % 3, nil) })
    for order: [SortKey<Track>] in [
      [.ascending(\.$length), .ascending(\.$name)], [.ascending(\.$name)], [],
      [.descending(\.$name)],
    ] {
      let middle = try store.fetch(Track.ordered(by: order).page(limit: 130))
      log.withLock { $0 = [] }
      let page = try store.fetch(Track.ordered(by: order).page(after: middle.end, limit: 30))
      #expect(page.objects.count == 30)
      let statements = log.withLock { $0 }.filter { $0.contains("LIMIT") }
      #expect(!statements.isEmpty)
      for statement in statements {
        let steps = try store.database.read {
          try $0.rows(
            SQL(unchecked: "EXPLAIN QUERY PLAN \(statement)"), as: Int.self, Int.self, Int.self,
            String.self)
        }.map(\.3)
        #expect(steps.first?.hasPrefix("SEARCH Track") == true, "\(steps) of \(statement)")
        // SQLite sorts only rows with equal leading keys.
        #expect(!steps.contains { $0.hasSuffix("TEMP B-TREE FOR ORDER BY") })
      }
    }
  }

  @Test func `reverse relations and lazy collections can be sorted and paged`() async throws {
    try fill(40, seed: 9)
    let disc = Disc("d")
    let tracks = try await magic.objects(of: Track.self)
    for track in tracks where track.length > 0 { track.disc = disc }
    let some = tracks.filter { $0.length > 1 }
    disc.favorites = AsyncMagical(value: some + [some[0], some[1]])
    disc.best = AsyncMagical(value: MagicalSet(some))
    try await magic.update(tracks)
    let stored = try await magic.object(of: Disc.self, primary: "d")
    let order: [SortKey<Track>] = [.descending(\.$composer), .ascending(\.$name)]
    let all = try await magic.objects(of: Track.self, orderedBy: order)
    let own = all.filter { $0.length > 0 }.map(\.id)
    let favorites = all.filter { $0.length > 1 }.map(\.id)

    #expect(try await magic.fetch(stored.tracks.ordered(by: order)).map(\.id) == own)
    #expect(
      try await magic.fetch(
        stored.tracks.where(\.$length > 1).ordered(by: order).limit(4, offset: 2)
      ).map(
        \.id)
        == Array(favorites[2..<6]))
    #expect(try await magic.fetch(stored.best.ordered(by: order)).map(\.id) == favorites)
    #expect(try await magic.fetch(stored.favorites.ordered(by: order)).map(\.id) == favorites)
    #expect(
      try await magic.fetch(stored.favorites.where(\.$length > 2).ordered(by: order).limit(3)).count
        == 3)

    var pages: [[String]] = [[], [], []]
    for index in 0..<3 {
      var position: PagePosition<Track>?
      var hasMore = true
      while hasMore {
        let page =
          switch index {
          case 0:
            try await magic.fetch(stored.tracks.ordered(by: order).page(after: position, limit: 5))
          case 1:
            try await magic.fetch(
              stored.favorites.ordered(by: order).page(after: position, limit: 5))
          default:
            try await magic.fetch(stored.best.ordered(by: order).page(after: position, limit: 5))
          }
        pages[index] += page.objects.map(\.id)
        (position, hasMore) = (page.end, page.hasMore)
      }
    }
    #expect(pages == [own, favorites, favorites])
    let blocking = {
      try magic.fetch(stored.tracks.where(\.$length > 1).ordered(by: order).page(limit: 2)).objects
        .map(\.id)
    }
    #expect(try blocking() == Array(favorites.prefix(2)))
    stored.favorites.append(tracks[0])
    await #expect(throws: MagicError.self) {
      try await magic.fetch(stored.favorites.all.page(limit: 5))
    }
    await #expect(throws: MagicError.self) {
      try await magic.fetch(stored.favorites.ordered(by: order))
    }
    await #expect(throws: MagicError.self) {
      try await magic.fetch(Disc("new").tracks.all.page(limit: 5))
    }
  }
}
