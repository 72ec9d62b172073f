import Foundation
import MagicData
import MagicSync
import TestSupport
import Testing

/// A process that knows neither the types nor the key, such as the tool, syncs what the app chose.
@Suite struct StoredChoiceTests {
  let files: TestFolder
  init() throws { files = try TestFolder() }

  @Test func `without types, the tables of the last sync are synced`() async throws {
    let folder = FaultyFolder()
    let a = try await MagicData(path: "\(files.path)/a")
    let b = try await MagicData(path: "\(files.path)/b")
    var syncA = try await Sync(a, through: folder, objects: [Island.self, Person.self])
    let syncB = try await Sync(b, through: folder, objects: [Island.self, Person.self])
    try await a.update(Island("Vis", 1))
    try await settle([syncA, syncB])
    // The second instance doesn't know the types.
    syncA = try await Sync(a, through: folder)
    try await a.database.executeMultipleChanges(
      "CREATE TABLE secret (id INTEGER PRIMARY KEY, text TEXT)")
    try await a.database.executeChange("INSERT INTO secret (text) VALUES ('local')")
    try await a.update(Island("Hvar", 2))
    try await settle([syncA, syncB])
    #expect(try await b.count(of: Island.self) == 2)
    #expect(try await syncB.once().problems == [])
    for content in folder.files.values { #expect(content.range(of: Data("local".utf8)) == nil) }
  }

  @Test(arguments: [true, false])
  func `an object that two devices insert is one, with or without types`(knowsTypes: Bool)
    async throws
  {
    let folder = FaultyFolder()
    let a = try await MagicData(path: "\(files.path)/a")
    let b = try await MagicData(path: "\(files.path)/b")
    let types: [any MagicObject.Type]? = knowsTypes ? [Island.self, Person.self] : nil
    let syncA = try await Sync(a, through: folder, objects: types)
    let syncB = try await Sync(b, through: folder, objects: types)
    try await a.update(Island("Vis", 1))
    // Without its types, a store gets the tables only after it has used them.
    try await settle([syncA, syncB])
    _ = try await b.count(of: Island.self)
    try await settle([syncA, syncB])
    #expect(try await b.count(of: Island.self) == 1)
    try await a.update(Island("Hvar", 2))
    let island = Island("Hvar", 3)
    island.people = [Person("Ana")]
    try await b.update(island)
    try await settle([syncA, syncB])
    for magic in [a, b] {
      #expect(try await magic.count(of: Island.self) == 2)
      let found = try await magic.object(of: Island.self, primary: "Hvar")
      #expect(found.population == 3 && found.people.map(\.name) == ["Ana"])
    }
  }

  @Test func `a store that was synced with a cipher isn't synced without one`() async throws {
    let magic = try await MagicData(path: "\(files.path)/a")
    let folder = FaultyFolder()
    _ = try await Sync(magic, through: folder, cipher: ToyTestCipher(key: "k"))
    let error = await #expect(throws: SyncError.self) { try await Sync(magic, through: folder) }
    #expect(error == .cipherMissing)
    _ = try await Sync(magic, through: folder, cipher: ToyTestCipher(key: "k"))
  }
}
