import Foundation
import MagicData
import MagicHistory
import SQLiteHistory
import SQLitePortable
import TestSupport
import Testing

struct Film: MagicObject {
  static var traits: [PropertyTrait] {
    [
      .indexed(\Self.$year), .unique(\Self.$code), .searched(\Self.$title),
      .onDelete(\Self.$studio, .cascade),
    ]
  }

  @PrimaryMagicValue var id: Int
  @MagicValue var title: String
  @MagicValue var code: String
  @MagicValue var year: Int
  @MagicValue var price: Decimal = 0
  @OptionalMagicValue var released: Date?
  @MagicValue var genres: [String] = []
  @MagicValue var studio: Studio
  @OptionalMagicValue var sequel: Film?
  @MagicValue var cast: [Person] = []
  @MagicValue var crew: MagicalSet<Person> = []
  @MagicValue var roles: [String: Person] = [:]
  @MagicValue var poster: MagicAsset<Data> = MagicAsset()

  init() {}
}

struct Studio: MagicObject {
  @PrimaryMagicValue var id: UUID
  @MagicValue var name: String

  init() {}
}

struct Person: MagicObject {
  @MagicValue var name: String

  init() {}
}

struct Review: Record {
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  static let traits: [PropertyTrait] = [.indexed("stars"), .references("critic", Critic.self)]

  var id: Int?
  var critic: Int
  var stars: Int
  var text: String?
}

struct Critic: Record {
  var id: Int
  var name: String
}

/// The values of the table "How are values stored?".
struct Sample: MagicObject {
  enum Color: String, Codable { case red }
  struct Size: Codable {
    var width = 2
    var height = 1
  }

  @MagicValue var isOpen = true
  @MagicValue var count = 3
  @MagicValue var weight = 1.5
  @MagicValue var name = "Zoë"
  @MagicValue var bytes = Data([0, 255])
  @MagicValue var day = Date(timeIntervalSinceReferenceDate: 0)
  @MagicValue var moment = Date(timeIntervalSinceReferenceDate: 0.25)
  @MagicValue var key = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
  @MagicValue var page = URL(filePath: "/a/b", directoryHint: .notDirectory)
  @MagicValue var price = Decimal(125) / 10
  @MagicValue var length = Duration.milliseconds(1_500)
  @MagicValue var color = Color.red
  @MagicValue var size = Size()
  @MagicValue var tags = ["b", "a"]
  @OptionalMagicValue var missing: Int?

  init() {}
}

/// Tests that the article “Leaving” describes the tables that the library creates.
@Suite struct ReadmeLeavingTests {
  static let source = URL(filePath: #filePath)
  static let article = source.deletingLastPathComponent()
    .appending(path: "../../Sources/MagicData/MagicData.docc/Leaving.md")

  let folder: TestFolder
  let path: String

  init() throws {
    folder = try TestFolder()
    path = folder.file("films")
  }

  // MARK: - The schema

  @Test func `the documented statements are those in the schema of a store`() throws {
    let magic = try makeStore()
    let schema = try Self.schema(of: magic.database)
    let documented = try Self.documented("## Which tables exist?")
    #expect(documented.subtracting(schema) == [])
    #expect(schema.subtracting(documented) == [])
  }

  @Test func `the documented internal tables are those that the products create`() throws {
    let magic = try makeStore()
    let before = try Self.schema(of: magic.database)
    let history = try magic.history(limit: 10, keeping: .inStore)
    _ = try magic.keepTrail()
    try magic.undoable("Rename") {
      let film = try magic.object(of: Film.self, primary: 1)
      film.title = "x"
      film.poster.set(Data([7]))
      try magic.update(film)
    }
    try history.undo()
    _ = try magic.database.journal(limit: 1 << 20)
    let store = CodableStore(database: magic.database)
    try store.insert(on: "Notes", item: 1)
    let schema = try Self.schema(of: magic.database).subtracting(before)
    let documented = try Self.documented("## Which internal tables exist?")
    #expect(documented.subtracting(schema) == [])
    #expect(schema.subtracting(documented) == [])
  }

  @Test func `the version numbers of the file are not set`() throws {
    let database = try makeStore().database
    let (version, id) = try database.read { (try $0.userVersion(), try $0.applicationID()) }
    #expect(version == 0 && id == 0)
  }

  // MARK: - Values

  @Test func `the documented values are stored`() throws {
    let magic = try MagicData(path: path)
    try magic.update(Sample())
    let rows = try Self.rows(of: "## How are values stored?")
    #expect(rows.count == 15)
    let code = try String(contentsOf: Self.source, encoding: .utf8)
    for row in rows {
      let declaration = row[0].trimmingCharacters(in: ["`"])
      #expect(code.contains("Value var \(declaration)\n"), "\(declaration)")
      let name = String(declaration.prefix { $0 != " " && $0 != ":" })
      let stored = try magic.database.rows(
        "SELECT typeof(\(identifier: name)), quote(\(identifier: name)) FROM Sample",
        as: String.self, String.self)[0]
      let type = try magic.database.rows(
        "SELECT type FROM pragma_table_info('Sample') WHERE name = \(name)", as: String.self)[0]
      #expect("`\(type)`" == row[1], "\(name)")
      #expect("`\(stored.1)`" == row[2], "\(name)")
    }
  }

  @Test func `links and assets are stored as documented`() throws {
    let magic = try makeStore()
    let database = magic.database
    #expect(
      try database.rows(
        """
        SELECT person.name FROM Film_cast AS link
        JOIN Person AS person ON person.z_index = link.target
        WHERE link.owner = 1 ORDER BY link.position
        """, as: String.self) == ["Brigitte Helm", "Alfred Abel", "Brigitte Helm"])
    #expect(
      try database.rows("SELECT typeof(key), key FROM Film_roles", as: String.self, String.self)[0]
        == ("text", "Maria"))
    let (file, size, sha256, content) = try database.rows(
      """
      SELECT asset.file, asset.size, hex(asset.sha256), asset.content
      FROM Film AS film JOIN magicdata_asset AS asset ON asset.id = film.poster
      """, as: String.self, Int.self, String.self, [UInt8]?.self)[0]
    #expect(file.wholeMatch(of: /[0-9a-f]{32}\.png/) != nil)
    #expect(size == 3 && sha256.count == 64 && content == nil)
    try magic.close()
    #expect(try Data(contentsOf: URL(filePath: "\(path)/assets/files/\(file)")) == Data([1, 2, 3]))
    let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    #expect(names.filter { !$0.hasPrefix("default.sqlite3-") } == ["assets", "default.sqlite3"])
    let folders = try FileManager.default.contentsOfDirectory(atPath: "\(path)/assets")
    #expect(
      Set(folders.map { $0.hasPrefix("store-") ? "store-" : $0 }) == ["files", "pending", "store-"])
  }

  // MARK: - Removing the library's tables

  @Test func `the script leaves a database without anything of the library`() throws {
    try makeStore().close()
    let database = try Database(path: "\(path)/default.sqlite3")
    let script = try Self.blocks(of: "## Remove what only the library needs")
    #expect(script.count == 1)
    try database.executeMultipleChanges(SQL(unchecked: script[0]))

    let rest = try database.rows(
      "SELECT name FROM sqlite_schema WHERE name LIKE 'magicdata%' OR sql LIKE '%magicdata%'",
      as: String.self)
    #expect(rest == [])
    try database.executeMultipleChanges(
      """
      UPDATE Film SET title = 'Metropolis (1927)', poster = NULL;
      DELETE FROM Studio;
      """)
    #expect(try database.rows("SELECT count(*) FROM Film", as: Int.self) == [0])
    #expect(try database.rows("SELECT count(*) FROM Film_cast", as: Int.self) == [0])
    #expect(
      try database.rows(
        "SELECT count(*) FROM Film_search WHERE Film_search MATCH 'x'", as: Int.self)
        == [0])
    #expect(try database.rows("PRAGMA integrity_check", as: String.self) == ["ok"])
  }

  private func makeStore() throws -> MagicData {
    let magic = try MagicData(path: path)
    let film = Film()
    film.title = "Metropolis"
    film.code = "tt0017136"
    film.year = 1927
    let studio = Studio()
    studio.name = "Ufa"
    film.studio = studio
    let (brigitte, alfred) = (Person(), Person())
    brigitte.name = "Brigitte Helm"
    alfred.name = "Alfred Abel"
    film.cast = [brigitte, alfred, brigitte]
    film.crew = [alfred]
    film.roles["Maria"] = brigitte
    film.poster = MagicAsset(value: Data([1, 2, 3]), pathExtension: "png")
    try magic.update(film)
    try magic.database.write {
      try $0.update(Critic(id: 1, name: "Ann"))
      try $0.update(Review(critic: 1, stars: 5))
    }
    return magic
  }

  /// The statements in the schema, without SQLite's own tables and those of full-text indexes.
  private static func schema(of database: Database) throws -> Set<String> {
    let statements = try database.rows(
      """
      SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
      AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')
      """, as: String.self)
    return Set(statements.map(normalized))
  }

  /// The statements of a section, which are separated by empty lines.
  private static func documented(_ heading: String) throws -> Set<String> {
    let statements = try blocks(of: heading).flatMap { $0.components(separatedBy: "\n\n") }
    return Set(statements.map(normalized))
  }

  /// The blocks of SQL in a section of the article.
  private static func blocks(of heading: String) throws -> [String] {
    try section(heading).components(separatedBy: "```sql\n").dropFirst()
      .map { $0.components(separatedBy: "\n```")[0] }
  }

  private static func rows(of heading: String) throws -> [[String]] {
    try section(heading).split(separator: "\n").filter { $0.hasPrefix("| `") }
      .map { $0.dropFirst(2).dropLast(2).components(separatedBy: " | ") }
  }

  private static func section(_ heading: String) throws -> String {
    let text = try String(contentsOf: article, encoding: .utf8)
    let start = try #require(text.range(of: "\n\(heading)\n"))
    let rest = text[start.upperBound...]
    return String(rest[..<(rest.range(of: "\n## ")?.lowerBound ?? rest.endIndex)])
  }

  /// A statement in one line, without a semicolon at its end.
  private static func normalized(_ statement: String) -> String {
    var text = statement.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    text = text.replacing("( ", with: "(").replacing(" )", with: ")")
    return text.hasSuffix(";") && !text.hasSuffix("END;") ? String(text.dropLast()) : text
  }
}
