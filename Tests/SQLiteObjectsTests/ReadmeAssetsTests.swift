import Conformance
import Foundation
import MagicData
import TestSupport
import Testing

struct Film: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var script: MagicAsset<String> = MagicAsset()
  @MagicValue var poster: MagicAsset<Data> = MagicAsset()
  @MagicValue var video: AsyncMagical<MagicAsset<Data>> = AsyncMagical(value: MagicAsset())

  init() {}

  init(_ name: String) { self.name = name }
}

struct Subtitles: AssetConvertible {
  var lines: [String]

  init(assetData: Data) throws {
    lines = try String(assetData: assetData).components(separatedBy: "\n")
  }

  var assetData: Data { get throws { Data(lines.joined(separator: "\n").utf8) } }
}

/// The code of the README and the article on assets. `.ci/checks/readme` compares the texts.
@Suite(.everyEngine) struct ReadmeAssetsTests {
  private let home: TestFolder
  var folder: String { home.path }

  init() throws {
    home = try TestFolder()
  }

  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// Opens a store on the test's engine when the article's code calls
  /// `MagicData(path:minimumFileSize:)`.
  private func MagicData(
    path: String, minimumFileSize: Int
  ) async throws -> SQLiteObjects.MagicData {
    let magic: MagicData = try await .at(path)
    magic.assets.minimumFileSize = minimumFileSize
    return magic
  }

  @Test func `the README's examples of file assets work`() async throws {
    let picture = URL(filePath: folder + "/poster.jpeg")
    try Data([1, 2, 3]).write(to: picture)
    let upload = AsyncStream<[UInt8]> { continuation in
      for number in 0..<10 {
        continuation.yield([UInt8](repeating: UInt8(number), count: 1_000))
      }
      continuation.finish()
    }
    let magic: MagicData = try await .at(folder + "/store")

    let film = Film("Metropolis")
    film.script = MagicAsset(value: "FADE IN", pathExtension: "txt")
    film.poster.copy(from: picture)
    film.video.set(MagicAsset(try await magic.assets.stage(upload, extension: "mp4")))
    try await magic.update(film)

    let script = try await film.script.get()
    let poster = try await film.poster.get()
    #expect(script == "FADE IN")
    #expect(poster == Data([1, 2, 3]))

    let size = try film.poster.size
    let digest = try film.poster.sha256
    let place = try film.poster.url
    #expect(size == 3)
    #expect(digest == SHA256.digest(of: [1, 2, 3]))
    #expect(place?.pathExtension == "jpeg")

    var received = 0
    if let pieces = try await film.video.get().pieces(of: 65_536) {
      for try await piece in pieces { received += piece.count }
    }
    #expect(received == 10_000)

    film.script.set("FADE OUT")
    film.poster.setPathExtension("jpg")
    film.video.set(MagicAsset())
    try await magic.update(film)
    #expect(try film.script.pathExtension == "txt")
    #expect(try film.poster.path?.hasSuffix(".jpg") == true)

    try await magic.database.executeChange("DELETE FROM Film WHERE name = 'Metropolis'")
    let files = { try magic.assetFiles }
    #expect(try files() == [])

    let subtitles = MagicAsset(value: try Subtitles(assetData: Data("a\nb".utf8)))
    #expect(try await subtitles.get()?.lines == ["a", "b"])
  }

  @Test func `the article's example of swapping assets works`() async throws {
    let magic: MagicData = try await .at(folder + "/store")
    let (first, second) = (Film("Metropolis"), Film("Nosferatu"))
    first.poster = MagicAsset(value: Data([1]))
    second.poster = MagicAsset(value: Data([2]))
    try await magic.update([first, second])

    (first.poster, second.poster) = (second.poster, first.poster)
    try await magic.update([first, second])
    let posters = try await magic.objects(of: Film.self).map { try $0.poster.get() }
    #expect(posters == [Data([2]), Data([1])])
  }

  @Test(.requires(.backup))
  func `the documented example of verifying, sweeping and backing up works`() async throws {
    let magic = try await MagicData(path: folder + "/store", minimumFileSize: 4_096)
    let (film, other) = (Film("Metropolis"), Film("Nosferatu"))
    film.poster = MagicAsset(value: Data(count: 10_000))
    try await magic.update([film, other])
    let poster = try #require(try film.poster.path)
    try FileManager.default.removeItem(atPath: poster)

    do {
      _ = try await film.poster.get()
    } catch AssetError.missingFile(let id, let path) {
      print("the poster \(id) is not at \(path)")
    }

    let faults = try await magic.assets.verify()
    let report = try await magic.assets.sweep()
    let backup = try await magic.backup(to: folder + "/backup")
    #expect(faults.count == 1)
    #expect(report.removed == [])
    #expect(backup.faults == faults)
  }

  @Test func `the article's example of AssetStore works`() async throws {
    let jpeg: [UInt8] = [1, 2, 3]
    let database = try Database.at(folder + "/data.sqlite3")

    let assets = try await AssetStore(database, folder: folder + "/assets")
    try await database.executeMultipleChanges(
      """
      CREATE TABLE person (name TEXT NOT NULL, photo TEXT REFERENCES magicdata_asset);
      CREATE TRIGGER person_photo AFTER DELETE ON person
      BEGIN DELETE FROM magicdata_asset WHERE id = OLD.photo; END;
      """)
    try await database.write { connection in
      let photo = try assets.put(jpeg, extension: "jpeg", in: connection)
      try connection.executeChange("INSERT INTO person VALUES ('Anna', \(photo.id))")
    }

    for (name, photo) in try await database.rows(
      "SELECT name, photo FROM person", as: String.self, AssetID.self)
    {
      print(name, try await assets.bytes(of: photo).count)
    }
    try await database.executeChange("DELETE FROM person WHERE name = 'Anna'")
    #expect(try await assets.records() == [])
  }
}
