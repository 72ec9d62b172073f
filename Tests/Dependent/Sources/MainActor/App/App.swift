import Foundation
import MagicData

/// A small app whose code is isolated to the main actor by default. It exits with an error if a result is wrong, or if
/// a call that is awaited blocks the main actor.
@main struct App {
  static var failures = 0
  private static let firstMigration = Migration("gate", .sql("UPDATE a SET b = gate()"))

  static func expect(_ condition: Bool, _ claim: String) {
    if condition { return }
    failures += 1
    print("not true: \(claim)")
  }

  static func main() async throws {
    // A blocked main actor would never continue.
    DispatchQueue.global().asyncAfter(deadline: .now() + 120) {
      print("the main actor is blocked")
      exit(2)
    }
    let gate = Gate()
    var options = Database.Options()
    options.prepareConnection = { try gate.add(to: $0) }
    let folder = FileManager.default.temporaryDirectory.path + "/main-actor-\(UUID().uuidString)"
    let magic = try await MagicData(path: folder, options: options)
    let library = Library(magic)
    try await useObjects(library)
    try await useRequests(magic)
    try await useRecords(library)
    try await useModel(library)
    try await useSights(magic)
    try await cancel(magic)
    try await neverBlock(magic, gate)
    try await magic.close()
    try await migrate(folder)
    try FileManager.default.removeItem(atPath: folder)
    guard failures == 0 else { exit(1) }
    print("the main actor was never blocked, and all results are right")
  }

  private static func useObjects(_ library: Library) async throws {
    let magic = library.magic
    let ada = Artist("Ada", from: Place(latitude: 47, longitude: 8), genres: [.jazz, .folk])
    ada.born = Date(timeIntervalSince1970: 0)
    let (intro, song) = (
      Track("CH-1", "Intro", seconds: 60), Track("CH-2", "Song", seconds: 200)
    )
    song.start = Place(latitude: 1, longitude: 2)
    song.lyrics = MagicAsset(value: Lyrics(["la", "le"]), pathExtension: "txt")
    song.waveform.set(MagicAsset(value: Waveform(samples: [1, 2, 3])))
    let album = Album("First", by: ada, tracks: [intro, song, intro])
    album.release = .live(at: Place(latitude: 3, longitude: 4), year: 1999)
    album.quality = .best
    album.label = Label("Blue")
    album.cover = MagicAsset(value: Data([1, 2]), pathExtension: "png")
    try await library.add(album)
    expect(library.albums.map(\.title) == ["First"], "the model shows the album")

    let fetched = try await magic.object(of: Album.self, primary: album.id)
    expect(fetched.artist.home == Place(latitude: 47, longitude: 8), "a nested struct is fetched")
    expect(fetched.artist.genres == [.jazz, .folk], "a list of values is fetched")
    expect(fetched.artist.born == Date(timeIntervalSince1970: 0), "an optional value is fetched")
    expect(
      fetched.release == .live(at: Place(latitude: 3, longitude: 4), year: 1999),
      "an enumeration with a payload is fetched")
    expect(fetched.tracks.map(\.name) == ["Intro", "Song", "Intro"], "a relation is in order")
    expect(fetched.tracks[1].start == song.start, "an optional nested struct is fetched")
    expect(try await fetched.cover.get() == Data([1, 2]), "an asset is read")
    let read = fetched.tracks[1]
    expect(try await read.lyrics.get() == Lyrics(["la", "le"]), "a custom asset is read")
    expect(
      try await read.waveform.get().get() == Waveform(samples: [1, 2, 3]), "a lazy asset is read")
    expect(try await ada.albums.get().count == 1, "a reverse relation is read")
    expect(try await Label.find("Blue", in: magic)?.albums.count() == 1, "labels have albums")
    expect(
      try await magic.has(of: Track.self, primary: RecordingCode("CH-1")), "a custom key is found")

    let list = Playlist("Evening")
    list.tracks.set([song])
    list.favorites = [song, intro]
    list.moods = ["calm": intro]
    try await magic.insert(list)
    try await magic.update(Playlist("Empty"))
    let stored = try await magic.objects(of: Playlist.self, where: \.$name == "Evening")[0]
    stored.tracks.append(intro)
    try await magic.update(stored)
    expect(try await stored.tracks.count() == 2, "a lazy relation is counted")
    expect(try await stored.tracks.objects(limit: 1).map(\.name) == ["Song"], "a page is fetched")
    let long = try await magic.fetch(stored.tracks.where(\.$seconds > 100).count)
    expect(long == 1, "a relation is queried")
    var names: [String] = []
    for try await track in try stored.tracks.stream() { names.append(track.name) }
    expect(names == ["Song", "Intro"], "a lazy relation is streamed")
    expect(stored.moods["calm"]?.name == "Intro", "a dictionary is fetched")
    expect(stored.favorites.count == 2, "a set is fetched")
    expect(try await intro.playlists.get().count == 1, "a track has a playlist")

    let concert = Concert(at: Place(latitude: 5, longitude: 6), [ada])
    try await magic.update(concert)
    let concerts = try await magic.objects(of: Concert.self)
    expect(concerts.first?.artists.count == 1, "an object that is a class is fetched")
    expect(concerts.first?.venue.latitude == 5, "a nested struct of a class is fetched")

    let json = try JSONEncoder().encode(fetched.tracks[1])
    expect(!json.isEmpty, "an object is encoded as JSON")
    let faults = try await magic.assets.verify()
    expect(faults.isEmpty, "assets are intact")
    let staged = try await magic.assets.stage([7, 8, 9], extension: "bin")
    fetched.cover = MagicAsset(staged)
    try await magic.update(fetched, ifUnchanged: true)
    expect(try await album.cover.get() == Data([7, 8, 9]), "a staged asset is saved")

    let tone = Tone(samples: [1, 2, 3])
    let record = try await magic.assets.put(tone, extension: "tone")
    expect(try await magic.assets.bytes(of: record.id) == [1, 2, 3], "an isolated sequence is put")
    let again = try await magic.assets.stage(tone)
    expect(try await again.readAll() == [1, 2, 3], "an isolated sequence is staged")
    expect(tone.copies.count == 2, "the sequence was read on the main actor")
  }

  private static func useRequests(_ magic: MagicData) async throws {
    let albums = Album.where(\.$quality > .draft).ordered(by: .ascending(\.$title))
    expect(try await magic.fetch(albums).count == 1, "enumerations are compared")
    expect(try await magic.fetch(albums.count) == 1, "objects are counted")
    let titles = try await magic.fetch(albums.values(\.$title, \.$artist.$name))
    expect(titles.map { $0.0 + ($0.1 ?? "") } == ["FirstAda"], "values are fetched")
    let lines = try await magic.fetch(albums.values(\.$title, \.$artist.$name, as: AlbumLine.self))
    expect(
      lines == [AlbumLine(title: "First", artist: AlbumLine.Name(name: "Ada"))], "rows are decoded")
    let places = try await magic.fetch(Artist.all.values(\.$home))
    expect(places == [Place(latitude: 47, longitude: 8)], "nested values are fetched")
    let groups = try await magic.fetch(Track.all.aggregate(.sum(\.$seconds), by: \.$name))
    expect(groups.count == 2, "objects are grouped")
    let pages = try await magic.fetch(Track.all.ordered(by: .ascending(\.$name)).page(limit: 1))
    expect(pages.objects.map(\.name) == ["Intro"], "a page is fetched")
    let found = try await magic.fetch(Artist.all.search(.prefix("ad")))
    expect(found.count == 1, "text is searched")
    let upper = try await magic.fetch(Artist.all.values(\.$name).map { $0.map { $0.uppercased() } })
    expect(upper == ["ADA"], "results are transformed")
    try await magic.updateAll(Track.where(\.$name == "Intro"), set: [\.$seconds += 1])
    expect(try await magic.count(of: Track.self, where: \.$seconds == 61) == 1, "rows are updated")
    let tracks = Track.where(\.$seconds > 0)
    try await magic.forEach(tracks) { track in precondition(track.seconds > 0) }
    try await magic.forEach(tracks.values(\.$name)) { name in precondition(!name.isEmpty) }
    let artist = Artist("Ada", genres: [.rock])
    try await magic.update(artist, matching: [\.$name])
    expect(try await magic.count(of: Artist.self) == 1, "an artist with the name is overwritten")
    let longest = try await Library.longest(in: magic)
    expect(longest?.name == "Song", "an object crosses from another thread")
  }

  private static func useRecords(_ library: Library) async throws {
    let database = library.magic.database
    let play = Play(
      code: "CH-1", at: Date(timeIntervalSince1970: 1), place: Place(latitude: 1, longitude: 2),
      genre: .folk, quality: .best, release: .album(discs: 2))
    let saved = try await database.write { try $0.update(play) }
    expect(try await database.fetch(Play.all) == [saved], "a record is read back")
    let id = saved.id ?? 0
    let same = try await database.read { try $0.object(of: Play.self, primary: id) }
    expect(same == saved, "a record is found by its key")
    let types = try await database.rows(
      "SELECT typeof(genre), typeof(quality) FROM Play", as: String.self, String.self)
    expect(types.map { $0.0 + $0.1 } == ["textinteger"], "raw values have their column types")
    try await database.write { connection in
      try connection.insert(Setting(name: "volume", value: "11"))
      try connection.insert([
        Rating(listener: 1, code: "CH-1", stars: 5), Rating(listener: 2, code: "CH-1", stars: 3),
      ])
    }
    let rating = try await database.read { try $0.object(of: Rating.self, primary: 2, "CH-1") }
    expect(rating.stars == 3, "a record with two keys is found")
    let room = Room(corner: Corner(x: 1, names: ["a"]), corners: [Corner(x: 2)])
    _ = try database.writeNow(room)
    _ = try await database.write { try $0.insert(room) }
    let rooms = try await database.fetch(Room.all)
    expect(
      rooms.map { $0.corner.x + $0.corners[0].x } == [3, 3] && rooms[1].other == nil,
      "isolated values are read back")
    let texts = try await database.rows(
      "SELECT DISTINCT corner, other, corners FROM Room", as: String.self, String?.self, String.self
    )
    expect(texts.count == 1, "isolated values are stored the same way on every thread")
    let session = Session()
    session.plays = 7
    let kept = try await database.write(giving: session) { try $0.update($1) }
    expect(kept.id == 1, "a class is saved")
    expect(try await database.fetch(Session.all).first?.plays == 7, "a class is fetched")
    let counts = try await database.fetch(
      .sql("SELECT code, count(*) AS plays FROM Play GROUP BY code", as: PlayCount.self))
    expect(counts == [PlayCount(code: "CH-1", plays: 1)], "rows of SQL are decoded")
    let tempo = Tempo(beats: 120)
    let tempos = try await database.rows("SELECT \(tempo)", as: Tempo.self)
    expect(tempos == [tempo], "a custom column value is read")
    let pairs = try await database.rows("SELECT \(tempo), 1", as: Tempo.self, Int.self)
    expect(pairs[0].0 == tempo, "a custom column value is read in a tuple")
    let rows = try await database.executeQuery("SELECT name, value FROM Setting")
    expect(rows.count == 1, "rows are read")
    try await database.executeChange("UPDATE Setting SET value = \("12") WHERE name = \("volume")")
    try await database.executeMultipleChanges("CREATE TABLE a (b); INSERT INTO a VALUES (1)")
    let value = try await database.writeInGroup {
      try $0.object(of: Setting.self, primary: "volume")
    }
    expect(value.value == "12", "a group commits")
  }

  private static func useModel(_ library: Library) async throws {
    let magic = library.magic
    let album = library.albums[0]
    try await library.rename(album, to: "Renamed")
    try await library.load()
    expect(library.albums.map(\.title) == ["Renamed"], "the model shows the new title")
    expect(try await library.play(album.tracks[0]) == 2, "a transaction returns a count")
    expect(library.plays == 2, "the model has the count")

    let follower = Task { try await library.follow(until: 2) }
    try await library.add(Album("Second", by: album.artist))
    expect(try await follower.value.last == 2, "an observation reports the second album")
    expect(library.albums.count == 2, "the model shows two albums")
    var differences = magic.observe(Album.all.ordered(by: .ascending(\.$title))).differences()
      .makeAsyncIterator()
    expect(try await differences.next()?.objects.count == 2, "an observation begins")
    try await magic.remove(library.albums.filter { $0.title == "Second" }[0])
    expect(try await differences.next()?.difference.count == 1, "an observation has a difference")

    do {
      try await magic.transaction {
        try magic.removeAll(Album.all)
        throw CancellationError()
      }
    } catch is CancellationError {}
    expect(try await magic.count(of: Album.self) == 1, "a transaction is rolled back")
  }

  private static func cancel(_ magic: MagicData) async throws {
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await magic.transaction { try magic.removeAll(Album.all) }
    }
    do {
      _ = try await task.value
      expect(false, "a cancelled transaction throws")
    } catch is CancellationError {}
    expect(try await magic.count(of: Album.self) == 1, "a cancelled transaction changes nothing")
  }

  /// Stops each kind of call in the midst of a statement.
  private static func neverBlock(_ magic: MagicData, _ gate: Gate) async throws {
    let database = magic.database
    let albums = Album.where(Filter(sql: "gate() = 1"))
    let plays = Play.where("gate() = 1").limit(1)
    let counts = RecordQuery.sql("SELECT 'a' AS code, gate() AS plays", as: PlayCount.self)
    // The first runs are short. The next run of a short statement may begin on the task's thread.
    for _ in 0..<3 {
      _ = try await magic.fetch(albums.count)
      _ = try await database.rows("SELECT gate()", as: Tempo.self)
      _ = try await database.fetch(counts)
      _ = try await database.readBriefly { try $0.rows("SELECT gate()", as: Int.self) }
    }
    let calls: [(String, @MainActor () async throws -> Int)] = [
      ("fetch", { try await magic.fetch(albums).count }),
      ("fetch of a count", { try await magic.fetch(albums.count) }),
      ("fetch of values", { try await magic.fetch(albums.values(\.$title)).count }),
      (
        "fetch of lines",
        {
          try await magic.fetch(albums.values(\.$title, \.$artist.$name, as: AlbumLine.self)).count
        }
      ),
      ("objects", { try await magic.objects(of: Album.self, where: Filter(sql: "gate()")).count }),
      ("count", { try await magic.count(of: Album.self, where: Filter(sql: "gate()")) }),
      ("updateAll", { try await magic.updateAll(albums, set: [\.$title += ""]) }),
      ("removeAll", { try await magic.removeAll(Album.where(Filter(sql: "gate() = 0"))) + 1 }),
      ("transaction", { try await magic.transaction { try magic.fetch(albums.count) } }),
      ("read of objects", { try await magic.read { try magic.fetch(albums.count) } }),
      ("fetch of records", { try await database.fetch(plays).count }),
      ("fetch of SQL", { try await database.fetch(counts).count }),
      ("rows", { try await database.rows("SELECT gate()", as: Tempo.self).count }),
      (
        "rows of tuples",
        { try await database.rows("SELECT gate(), 1", as: Int.self, Int.self).count }
      ),
      ("executeQuery", { try await database.executeQuery("SELECT gate()").count }),
      (
        "executeChange",
        {
          try await database.executeChange("UPDATE a SET b = gate()").rows
        }
      ),
      (
        "executeMultipleChanges",
        {
          try await database.executeMultipleChanges(
            "UPDATE a SET b = gate(); DELETE FROM a WHERE b = 0")
          return 1
        }
      ),
      ("read", { try await database.read { try $0.rows("SELECT gate()", as: Int.self)[0] } }),
      (
        "readBriefly",
        {
          try await database.readBriefly { try $0.rows("SELECT gate()", as: Int.self)[0] }
        }
      ),
      (
        "read(giving:)",
        {
          try await database.read(giving: ()) { connection, _ in
            try connection.rows("SELECT gate()", as: Int.self)[0]
          }
        }
      ),
      ("write", { try await database.write { try $0.rows("SELECT gate()", as: Int.self)[0] } }),
      (
        "writeInGroup",
        {
          try await database.writeInGroup { try $0.rows("SELECT gate()", as: Int.self)[0] }
        }
      ),
      (
        "withoutTransaction",
        {
          try await database.withoutTransaction { try $0.rows("SELECT gate()", as: Int.self)[0] }
        }
      ),
      (
        "observe",
        {
          for try await albums in magic.observe(albums) { return albums.count }
          return 0
        }
      ),
      (
        "observe of a record",
        {
          for try await plays in database.observe(plays) { return plays.count }
          return 0
        }
      ),
      (
        "forEach",
        {
          try await magic.forEach(albums) { _ in }
          return 1
        }
      ),
      (
        "migrate",
        {
          try await magic.migrate([firstMigration]).count
        }
      ),
    ]
    for (name, call) in calls {
      let result = try await gate.passing(call)
      expect(result == 1, "\(name) returns \(result)")
    }
  }

  /// Opens the store as the next version of the app would.
  private static func migrate(_ folder: String) async throws {
    let magic = try await MagicData(path: folder)
    let migrations = [
      firstMigration,
      Migration("settings have texts", .renameColumn("value", to: "text", in: "Setting")),
      Migration(
        "names in capitals",
        .transform("Setting") { row in
          ["name": try row.get("name", as: String.self).uppercased()]
        }),
      Migration("albums have names", .renameProperty("title", to: "name", of: "Album")),
    ]
    let pending = try await magic.database.migrationPlan(of: migrations)
    let made = try await magic.migrate(migrations)
    expect(pending.count == 6 && made.count == 3, "the migrations are run")
    let names = try await magic.database.rows(
      "SELECT name, text FROM Setting", as: String.self, String.self)
    expect(names.map { $0.0 + $0.1 } == ["VOLUME12"], "a migration transforms rows")
    let titles = try await magic.database.rows("SELECT name FROM Album", as: String.self)
    expect(titles == ["Renamed"], "a migration renames a property")
    try await magic.close()
  }
}

extension Database {
  /// Blocks the main actor.
  func writeNow(_ room: Room) throws -> Room { try write { try $0.insert(room) } }
}

extension Label {
  static func find(_ name: String, in magic: MagicData) async throws -> Label? {
    try await magic.object(of: Label.self, ifPresent: name)
  }
}

/// The bytes of a sound. Its conformance to `Sequence` is isolated to the main actor.
struct Tone: Sequence {
  final class Copies { var count = 0 }

  let samples: [UInt8]
  let copies = Copies()

  func makeIterator() -> IndexingIterator<[UInt8]> {
    copies.count += 1
    return samples.makeIterator()
  }
}
