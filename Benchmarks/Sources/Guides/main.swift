import Foundation
import MagicData

// Checks what the guides for coming from and leaving for GRDB say about GRDB. `--write FILE` writes the fixture of their
// tests instead of comparing it.

struct Failure: Error, CustomStringConvertible {
  var description: String
}

func check(_ condition: Bool, _ message: String) throws {
  if !condition { throw Failure(description: message) }
}

func run() throws {
  let folder = FileManager.default.temporaryDirectory.appending(path: "guides-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
  defer { try? FileManager.default.removeItem(at: folder) }

  // A file of GRDB is the fixture of the tests.
  let library = folder.appending(path: "library.sqlite").path
  try GRDBLibrary.create(library)
  let script = try GRDBLibrary.script(library)
  if let flag = CommandLine.arguments.firstIndex(of: "--write") {
    try script.write(toFile: CommandLine.arguments[flag + 1], atomically: true, encoding: .utf8)
  } else {
    let fixture = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../Tests/GuidesTests/GRDB.sql")
    try check(
      try String(contentsOf: fixture, encoding: .utf8) == script,
      "GRDB creates another file than Tests/GuidesTests/GRDB.sql:\n\(script)")
  }

  // A record type reads and writes a table of GRDB, and GRDB reads the new row.
  do {
    let database = try Database(path: library)
    let albums = try database.fetch(AlbumRow.ordered(by: .column("id")))
    try check(
      albums.map(\.title) == ["Pastel Blues", "Waltz for Debby", "Explorations"], "\(albums)")
    try check(albums[1].released == Date(timeIntervalSince1970: -248_499_000 + 0.25), "\(albums)")
    let released = Date(timeIntervalSinceReferenceDate: 0.123_456)
    _ = try database.write { connection in
      try connection.update(
        AlbumRow(
          title: "Moon Beams", released: released, price: 11, genres: ["jazz"],
          artistId: albums[1].artistId))
    }
    try database.close()
    let moonBeams = try GRDBLibrary.album(4, in: library)
    try check(moonBeams.title == "Moon Beams" && moonBeams.genres == ["jazz"], "\(moonBeams)")
    try check(moonBeams.artistId == albums[1].artistId && moonBeams.price == 11, "\(moonBeams)")
    let error = moonBeams.released?.timeIntervalSince(released).magnitude ?? .infinity
    try check(error < 0.001, "GRDB reads another date: \(moonBeams)")
  }

  // GRDB reads and writes the tables of objects.
  do {
    let store = folder.appending(path: "films").path
    let magic = try MagicData(path: store)
    let film = Film()
    film.title = "Metropolis"
    film.code = "tt0017136"
    film.year = 1927
    film.price = Decimal(125) / 10
    film.released = Date(timeIntervalSinceReferenceDate: -2_335_000_000)
    film.genres = ["drama"]
    let studio = Studio()
    studio.name = "Ufa"
    film.studio = studio
    let (brigitte, alfred) = (Person(), Person())
    brigitte.name = "Brigitte Helm"
    alfred.name = "Alfred Abel"
    film.cast = [brigitte, alfred]
    film.poster = MagicAsset(value: Data([1, 2, 3]), pathExtension: "png")
    try magic.update(film)
    try magic.close()

    let path = store + "/default.sqlite3"
    let films = try readFilms(path)
    try check(films.count == 1, "\(films)")
    let row = films[0]
    try check(row.film.id == 1 && row.film.title == "Metropolis" && row.film.year == 1927, "\(row)")
    try check(row.film.price == Decimal(string: "12.5") && row.film.genres == ["drama"], "\(row)")
    try check(row.film.released == film.released, "\(row)")
    try check(row.maker.id == studio.id && row.maker.name == "Ufa", "\(row)")
    try check(row.cast.map(\.name) == ["Brigitte Helm", "Alfred Abel"], "\(row)")

    // The triggers of the full-text index and of the asset run in GRDB's connection, too.
    try changeFilm(path)
    let again = try MagicData(path: store)
    let changed = try again.object(of: Film.self, primary: 1)
    try check(changed.title == "Nosferatu" && changed.studio.name == "Prana", "\(changed.title)")
    try check(
      try again.fetch(Film.all.search(.all(of: "Nosferatu"))).count == 1, "the index is stale")
    try check(try again.object(of: Studio.self).count == 2, "the studio is missing")
    try check(try changed.poster.get() == nil, "the asset was not removed")
    try check(try again.assets.sweep().removed.isEmpty, "a file was left over")
  }
}

do {
  try run()
  print("The guides agree with GRDB.")
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
