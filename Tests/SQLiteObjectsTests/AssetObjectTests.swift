import Conformance
import Foundation
import MagicData
import Testing

/// Objects with eager, optional and lazy assets.
@Suite(.everyEngine) struct AssetObjectTests {
  struct Job: MagicalCodable, Equatable {
    let title: String
    let salary: Int
  }

  struct Film: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var name: String
    @MagicValue var text: MagicAsset<String> = .init()
    @MagicValue var data: MagicAsset<Data> = .init()
    @MagicValue var job: MagicAsset<Job> = .init()
    @MagicValue var list: MagicAsset<[Int]> = .init()
    @MagicValue var set: MagicAsset<Set<String>> = .init()
    @MagicValue var table: MagicAsset<[String: Double]> = .init()
    @OptionalMagicValue var extra: MagicAsset<String>?
    @MagicValue var lazy: AsyncMagical<MagicAsset<String>> = .init(value: .init())

    init() {}

    init(_ name: String, _ text: String) {
      self.name = name
      self.text = .init(value: text, pathExtension: "txt")
    }
  }

  let magic: MagicData

  init() throws { magic = try MagicData.fresh(.temporary) }

  private var files: [String] {
    get throws { try magic.assetFiles }
  }

  private func fetched(_ film: Film) throws -> Film {
    try magic.object(of: Film.self, primary: film.id)
  }

  @Test func `every type of content is fetched as it was saved`() throws {
    let film = Film("a", Engine.text("häh\0"))
    film.data = .init(value: Data([0, 1, 255]), pathExtension: "bin")
    film.job = .init(value: Job(title: "x", salary: 3))
    film.list = .init(value: [1, 2, 3])
    film.set = .init(value: ["a", "b"])
    film.table = .init(value: ["pi": 3.14])
    film.extra = .init(value: "extra")
    film.lazy.set(.init(value: "lazy"))
    try magic.update(film)
    let other = try fetched(film)
    #expect(try other.text.get() == Engine.text("häh\0"))
    #expect(try other.data.get() == Data([0, 1, 255]))
    #expect(try other.job.get() == Job(title: "x", salary: 3))
    #expect(try other.list.get() == [1, 2, 3])
    #expect(try other.set.get() == ["a", "b"])
    #expect(try other.table.get() == ["pi": 3.14])
    #expect(try other.extra?.get() == "extra")
    #expect(try other.lazy.get().get() == "lazy")
    #expect(try files.count == 8)
  }

  @Test func `size, digest and path are read from the row, not from the file`() throws {
    let film = Film("a", "abc")
    #expect(try film.text.path == nil)
    #expect(try film.text.size == 3)
    #expect(try film.text.get() == "abc")
    #expect(try film.list.get() == nil)
    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    #expect(try film.text.sha256?.description == digest)
    try magic.update(film)
    let asset = try fetched(film).text
    let path = try #require(try asset.path)
    #expect(try asset.url?.path == path)
    #expect(path.hasSuffix(".txt"))
    // The file changes, but size and digest come from the row.
    try Data("xyzw".utf8).write(to: URL(filePath: path))
    #expect(try asset.size == 3)
    #expect(try asset.sha256?.description == digest)
    #expect(try asset.pathExtension == "txt")
  }

  @Test func `the extension survives new content and can be changed`() throws {
    let film = Film("a", "1")
    try magic.update(film)
    film.text = .init(value: "2")
    try magic.update(film)
    #expect(try fetched(film).text.pathExtension == "txt")
    let other = try fetched(film)
    other.text.set("3")
    other.text.setPathExtension("md")
    #expect(try other.text.pathExtension == "md")
    try magic.update(other)
    #expect(try other.text.path?.hasSuffix(".md") == true)
    #expect(try fetched(film).text.get() == "3")
    other.text.setPathExtension(nil)
    try magic.update(other)
    #expect(try fetched(film).text.pathExtension == nil)
    #expect(try fetched(film).text.get() == "3")
    #expect(try files.count == 1)
  }

  @Test func `an asset without content has no file`() throws {
    let film = Film("a", "1")
    film.extra = .init(value: "2")
    film.lazy.set(.init(value: "3"))
    try magic.update(film)
    #expect(try files.count == 3)
    let other = try fetched(film)
    other.text.set(nil)
    other.extra = nil
    other.lazy.set(.init())
    try magic.update(other)
    #expect(try files.isEmpty)
    #expect(try fetched(film).text.get() == nil)
    #expect(try fetched(film).lazy.get().get() == nil)
  }

  @Test func `removing an object by call, SQL or trigger deletes its files`() throws {
    let films = (0..<4).map { Film("\($0)", "\($0)") }
    try magic.update(films)
    #expect(try files.count == 4)
    try magic.remove(films[0])
    #expect(try files.count == 3)
    try magic.database.executeChange("DELETE FROM Film WHERE name = '1'")
    #expect(try files.count == 2)
    try magic.database.executeMultipleChanges(
      """
      CREATE TABLE shelf (id INTEGER PRIMARY KEY, film INTEGER);
      CREATE TRIGGER shelf_gone AFTER DELETE ON shelf
      BEGIN DELETE FROM Film WHERE id = OLD.film; END;
      """)
    try magic.database.executeChange("INSERT INTO shelf (film) VALUES (\(films[2].id))")
    try magic.database.executeChange("DELETE FROM shelf")
    #expect(try files.count == 1)
    try magic.removeAll(Film.all)
    #expect(try files.isEmpty)
  }

  @Test func `a failed save leaves no file`() throws {
    let film = Film("a", "1")
    film.text.setPathExtension("../x")
    #expect(throws: AssetError.invalidExtension("../x")) { try magic.update(film) }
    #expect(try files.isEmpty)
    #expect(try magic.has(of: Film.self, primary: 1) == false)
  }

  @Test func `a copied asset has its own file`() throws {
    let (first, second) = (Film("a", "1"), Film("b", "2"))
    try magic.update([first, second])
    second.text = first.text
    second.lazy.set(first.text)
    try magic.update(second)
    #expect(try second.text.path != first.text.path)
    #expect(try second.text.pathExtension == "txt")
    try magic.remove(first)
    #expect(try fetched(second).text.get() == "1")
    #expect(try fetched(second).lazy.get().get() == "1")
    #expect(try files.count == 2)
  }

  @Test func `saving an object in another store copies its assets`() async throws {
    let film = Film("a", "1")
    film.lazy.set(.init(value: "2", pathExtension: "x"))
    try await magic.update(film)
    let other = try await MagicData.fresh()
    try await other.update(fetched(film))
    let copies = try await other.objects(of: Film.self)
    #expect(try await copies.first?.text.get() == "1")
    #expect(try copies.first?.text.pathExtension == "txt")
    #expect(try await copies.first?.lazy.get().get() == "2")
    try await magic.remove(film)
    #expect(try await copies.first?.text.get() == "1")
  }

  @Test func `saving a removed object again throws if its asset is lost`() throws {
    let film = Film("a", "1")
    try magic.update(film)
    let other = try fetched(film)
    try magic.remove(film)
    #expect(throws: MagicError.lostValue(type: "Film", property: "text")) {
      try magic.update(other)
    }
    #expect(try files.isEmpty)
  }
}
