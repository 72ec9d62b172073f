import Foundation
import MagicData
import MagicSync
import MagicTemplates
import TestSupport
import Testing

struct Island: MagicObject {
  @PrimaryMagicValue var name: String
  @MagicValue var population: Int
  @OptionalMagicValue var ruler: Person?
  @MagicValue var people: [Person] = []
  @MagicValue var map: MagicAsset<Data> = MagicAsset()

  init() {}
  init(_ name: String, _ population: Int) {
    self.name = name
    self.population = population
  }
}

struct Person: MagicObject {
  @MagicValue var name: String
  init() {}
  init(_ name: String) { self.name = name }
}

@Suite struct SyncTests {
  let files: TestFolder
  init() throws { files = try TestFolder() }

  private func device(_ name: String) async throws -> (MagicData, Sync) {
    let magic = try await MagicData(path: "\(files.path)/\(name)")
    let sync = try await Sync(
      magic, through: .folder("\(files.path)/shared"), objects: [Island.self, Person.self])
    return (magic, sync)
  }

  @Test func `two devices have the same objects`() async throws {
    let (a, syncA) = try await device("a")
    let (b, syncB) = try await device("b")
    let island = Island("Vis", 3_600)
    island.people = [Person("Ana"), Person("Ivo")]
    island.map = MagicAsset(value: Data("a map".utf8))
    try await a.update(island)
    for report in try await settle([syncA, syncB]) { #expect(report.problems == []) }
    let copy = try await b.object(of: Island.self, primary: "Vis")
    #expect(copy.people.map(\.name) == ["Ana", "Ivo"])
    #expect(try await copy.map.get() == Data("a map".utf8))

    // Both change the same object.
    island.population = 3_700
    try await a.update(island)
    copy.population = 3_800
    copy.people.append(Person("Mia"))
    try await b.update(copy)
    let reports = try await settle([syncA, syncB])
    for magic in [a, b] {
      let found = try await magic.object(of: Island.self, primary: "Vis")
      #expect(found.population == 3_800)
      #expect(found.people.map(\.name) == ["Ana", "Ivo", "Mia"])
    }
    #expect(reports.map(\.conflictCount) == [1, 1])
    let difference = try await b.difference(from: a)
    #expect(difference.isEmpty, "\(difference)")
  }
}
