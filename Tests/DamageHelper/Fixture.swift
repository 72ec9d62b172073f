import Foundation
import MagicData
import MagicHistory
import MagicSync
import SQLiteHistory
import SQLitePortable

struct Person: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @OptionalMagicValue var photo: MagicAsset<Data>?
  @OptionalMagicValue var home: Town?
  @MagicValue var friends: [Person] = []
  @MagicValue var tags: MagicalSet<Tag> = []
  @MagicValue var rooms: [String: Town] = [:]
  @ReverseMagicValue(\Club.$members) var clubs: AsyncReverseMagicSet<Club>
  init() { name = "" }
  init(_ name: String) { self.name = name }
}

struct Town: MagicObject {
  static var traits: [PropertyTrait] { [.searched(\Self.$name), .indexed(\Self.$size)] }
  @PrimaryMagicValue var key: String
  @MagicValue var name: String
  @MagicValue var size: Int = 0
  init() {
    key = UUID().uuidString
    name = ""
  }
  init(_ name: String) {
    key = name
    self.name = name
  }
}

struct Tag: MagicObject {
  static var traits: [PropertyTrait] { [.unique(\Self.$text)] }
  @MagicValue var text: String
  init() { text = "" }
  init(_ text: String) { self.text = text }
}

struct Club: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var members: AsyncMagical<[Person]>
  @MagicValue var tags: AsyncMagical<MagicalSet<Tag>>
  @MagicValue var towns: AsyncMagical<[Int: Town]>
  init() {
    members = AsyncMagical(value: [])
    tags = AsyncMagical(value: [])
    towns = AsyncMagical(value: [:])
  }
}

struct Reading: Record, Codable, Equatable {
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  var id: Int?
  var value: Double
}

let migrations = [
  Migration("first", .sql("CREATE TABLE migrated (a)")),
  Migration("second", .sql("INSERT INTO migrated VALUES (1)")),
]

/// The journal marks of a store, which calls use later.
struct Marks: Codable {
  var journal: [JournalMark]
}

/// A folder that can be read, but not written.
struct FullFolder: SyncFolder {
  private struct Full: Error {}
  let folder: DirectorySyncFolder

  func list() async throws -> [String] { try await folder.list() }
  func read(_ name: String) async throws -> Data? { try await folder.read(name) }
  func create(_ name: String, _ content: Data) async throws -> Bool { throw Full() }
  func remove(_ name: String) async throws { throw Full() }
}

func sync(_ magic: MagicData, through folder: some SyncFolder) async throws -> Sync {
  try await Sync(
    magic, through: folder, objects: [Person.self, Town.self, Tag.self, Club.self],
    records: [Reading.self], migrations: migrations)
}

/// Creates a store with a row in each of the library's own tables, and returns the marks of its
/// journal.
func makeStore(at path: String) async throws -> Marks {
  let marks = try makeUnsyncedStore(at: path)
  try await syncStore(at: path)
  // A deletion mark that a program without this library has left.
  let database = try Database(path: "\(path)/default.sqlite3")
  try await database.executeChange(
    "INSERT INTO magicdata_asset_trash VALUES ('00000000000000000000000000000000.bin')")
  try await database.close()
  return marks
}

/// Syncs a store with another device, so that the tables of the sync have rows and the folder has
/// changes that the store must merge with its own ones.
private func syncStore(at path: String) async throws {
  let folder = DirectorySyncFolder(path: "\(path)/shared")
  let a = try await MagicData(path: path, minimumFileSize: 8)
  let b = try await MagicData(path: "\(path) of another device", minimumFileSize: 8)
  let syncA = try await sync(a, through: folder)
  try await syncA.once()
  let syncB = try await sync(b, through: folder)
  for _ in 0..<2 {
    try await syncB.once()
    try await syncA.once()
  }
  /// Both devices insert a town with the same key and change others.
  func change(_ number: Int) async throws {
    for (magic, size) in [(a, number), (b, -number)] {
      for town in try await magic.object(of: Town.self) {
        town.size = size
        try await magic.update(town)
      }
      let town = Town("new \(number)")
      town.size = size
      try await magic.update(town)
    }
  }
  try await change(1)
  try await syncA.once()
  try await syncB.once()
  try await syncA.once()
  try await syncA.acknowledge(Array(try await syncA.conflicts().prefix(1)))
  try await change(2)
  try await syncB.once()
  try await sync(a, through: FullFolder(folder: folder)).once()
  try await change(3)
  try await syncB.once()
  try await a.database.close()
  try await b.database.close()
}

private func makeUnsyncedStore(at path: String) throws -> Marks {
  let magic = try MagicData(path: path, minimumFileSize: 8)
  try magic.migrate(migrations)
  let journal = try magic.database.journal()
  try magic.keepTrail()
  let history = try magic.history(limit: 50, keeping: .inStore)
  var marks = [try journal.mark()]
  let people = (1...4).map { Person("person \($0)") }
  let towns = (1...3).map { Town("town \($0)") }
  let tags = (1...3).map { Tag("tag \($0)") }
  people[0].photo = MagicAsset(value: Data(repeating: 1, count: 100), pathExtension: "bin")
  people[1].photo = MagicAsset(value: Data([1, 2]))
  people[0].friends = [people[1], people[2], people[1]]
  people[1].friends = [people[0], people[3]]
  for person in people {
    person.home = towns[0]
    person.tags = MagicalSet(tags)
    person.rooms = ["a": towns[1], "b": towns[2]]
  }
  try magic.undoable("people") { for person in people { try magic.update(person) } }
  marks.append(try journal.mark())
  try magic.undoable("club") {
    for _ in 0..<2 {
      let club = Club()
      club.members = AsyncMagical(value: people)
      club.tags = AsyncMagical(value: MagicalSet(tags))
      club.towns = AsyncMagical(value: [1: towns[0], 2: towns[1], 3: towns[2]])
      try magic.update(club)
    }
  }
  try magic.undoable("photos") {
    people[0].photo = MagicAsset(value: Data(repeating: 2, count: 100))
    people[2].photo = MagicAsset(value: Data(repeating: 3, count: 100))
    try magic.update(people[0])
    try magic.update(people[2])
  }
  try magic.undoable("rename") {
    people[3].name = "renamed"
    try magic.update(people[3])
  }
  try history.undo()
  try magic.database.write { try $0.update(Reading(value: 1)) }
  let store = CodableStore(database: magic.database)
  for number in 1...3 { try store.insert(item: number) }
  try store.insert(item: "text")
  marks.append(try journal.mark())
  try magic.database.close()
  return Marks(journal: marks)
}
