import Conformance
import MagicData
import TestSupport
import Testing

// The code of the article on fast queries, block by block. `.ci/checks/readme` compares the texts.
@Suite(.everyEngine) struct ReadmeFastQueriesTests {
  struct Song: MagicObject {
    static let traits: [PropertyTrait] = [
      .indexed(\Self.$title), .indexed(\Self.$genre, \Self.$year),
    ]

    @PrimaryMagicValue var id: Int
    @MagicValue var title: String
    @MagicValue var genre: String
    @MagicValue var year: Int
    @OptionalMagicValue var singer: Singer?
    @MagicValue var moods: MagicalSet<Mood>

    init() {}
  }

  struct Singer: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var name: String
    @ReverseMagicValue(\Song.$singer) var songs: AsyncReverseMagicSet<Song>

    init() {}
  }

  struct Mood: MagicObject {
    @PrimaryMagicValue var word: String

    init() {}
  }

  let magic: MagicData
  let nina: Singer
  let blue: Mood

  /// Creates a singer with three songs, one of them blue, and a song without a singer.
  init() throws {
    magic = try MagicData.fresh()
    let (singer, mood) = (Singer(), Mood())
    singer.name = "Nina"
    mood.word = "blue"
    let songs = (1...4).map { number in
      let song = Song()
      song.title = "Song \(5 - number)"
      song.genre = number < 3 ? "Jazz" : "Soul"
      song.year = 1960 + number
      song.singer = number < 4 ? singer : nil
      song.moods = number == 1 ? [mood] : []
      return song
    }
    try magic.update(songs)
    (nina, blue) = (singer, mood)
  }

  @Test func `an index on two properties also sorts by the second`() throws {
    let newest = try magic.fetch(
      Song.where(\.$genre == "Jazz").ordered(by: .descending(\.$year)).limit(20))
    #expect(newest.map(\.year) == [1962, 1961])
  }

  @Test func `equivalent filters return the same objects`() throws {
    let byObject = try magic.count(of: Song.self, where: \.$singer == nina)
    let byKey = try magic.count(of: Song.self, where: \.$singer.$id == nina.id)
    let byName = try magic.count(of: Song.self, where: \.$singer.$name == "Nina")
    let singers = try magic.objects(
      of: Singer.self, where: (\Singer.$songs).contains { (\Song.$moods).contains(blue) })
    #expect([byObject, byKey, byName] == [3, 3, 3])
    #expect(singers.map(\.name) == ["Nina"])
  }

  @Test func `objects can be sorted by their own property or a related object's`() throws {
    let byTitle = try magic.fetch(Song.ordered(by: .ascending(\.$title)).limit(20))
    let bySinger = try magic.fetch(Song.ordered(by: .ascending(\.$singer.$name)).limit(20))
    #expect(byTitle.map(\.title) == ["Song 1", "Song 2", "Song 3", "Song 4"])
    #expect(bySinger.map(\.title) == ["Song 1", "Song 4", "Song 3", "Song 2"])
  }
}

/// Examples that require a SQLite file.
@Suite struct ReadmeQueryPlanTests {
  @Test func `a trace reports slow statements, and a plan shows how one is executed`() throws {
    typealias Song = ReadmeFastQueriesTests.Song
    let folder = try TestFolder()
    var options = Database.Options()
    options.prepareConnection = { connection in
      try connection.trace(showsValues: true) { event in
        if case .ended(let sql, let duration) = event, duration > .milliseconds(20) {
          print(duration, sql)
        }
      }
    }
    let magic = try MagicData(path: folder.path, options: options)
    let song = Song()
    (song.title, song.genre, song.year, song.moods) = ("", "Jazz", 1960, [])
    try magic.update(song)
    let plan = try magic.database.read { connection in
      try connection.explain("SELECT * FROM Song WHERE genre = 'Jazz' ORDER BY year")
    }
    print(plan)
    print(plan.scannedTables, plan.usedIndexes, plan.sorts)
    #expect(plan.scannedTables.isEmpty && plan.sorts.isEmpty)
    #expect(plan.usedIndexes == ["Song(genre,year)"])
    try magic.close()
  }

  @Test func `the statistics can be turned off`() throws {
    var options = Database.Options()
    options.updatesStatistics = false
    let folder = try TestFolder()
    let path = folder.path + "/notes.sqlite"
    let database = try Database(path: path, options: options)
    try database.executeMultipleChanges("CREATE TABLE t (a); CREATE INDEX i ON t (a)")
    try database.executeChange(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000)
      INSERT INTO t SELECT i FROM n
      """)
    try database.close()
    let again = try Database(path: path, options: options)
    #expect(
      try again.rows("SELECT name FROM sqlite_schema WHERE name = 'sqlite_stat1'", as: String.self)
        .isEmpty)
    try again.close()
  }
}
