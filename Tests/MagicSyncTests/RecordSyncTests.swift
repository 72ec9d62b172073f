import Foundation
import MagicData
import MagicSync
import MagicTemplates
import TestSupport
import Testing

private struct Bird: Record, Equatable {
  static let primaryKey = "id"
  static let primaryKeyType = PrimaryKeyType.autoIncrement
  static let traits: [PropertyTrait] = [.unique("ring")]
  var id: Int64?
  var ring: String
  var weight = 0.0
}

private struct Nest: Record, Equatable {
  static let primaryKey = "id"
  static let primaryKeyType = PrimaryKeyType.computedInt
  var id: Int64?
  var place: String
}

private struct Tag: Record, Equatable {
  static let primaryKey = "id"
  var id: Int64
  var text: String
}

private struct Feather: MagicObject {
  @PrimaryMagicValue var number: Int
  @MagicValue var colour: String
  init() {}
  init(_ colour: String) { self.colour = colour }
}

/// Records with keys that the store assigns are synced like objects.
@Suite struct RecordSyncTests {
  let files: TestFolder
  init() throws { files = try TestFolder() }

  private func device(_ name: String) async throws -> (MagicData, Sync) {
    let magic = try await MagicData(path: "\(files.path)/\(name)")
    let sync = try await Sync(
      magic, through: .folder("\(files.path)/shared"), objects: [Feather.self],
      records: [Bird.self, Nest.self, Tag.self])
    return (magic, sync)
  }

  @Test func `every way to insert a record assigns a key of the device's range`() async throws {
    let a = try await device("a")
    let b = try await device("b")
    try await settle([a.1, b.1])
    var known: Set<Int64> = []
    for (place, (magic, _)) in [a, b].enumerated() {
      let keys = try await magic.database.write { connection -> [Int64] in
        var birds = [try connection.insert(Bird(ring: "\(place)1"))]
        birds += try connection.insert([Bird(ring: "\(place)2"), Bird(ring: "\(place)3")])
        birds.append(try connection.update(Bird(ring: "\(place)4")))
        birds += try connection.update([Bird(ring: "\(place)5")])
        birds.append(try connection.update(Bird(ring: "\(place)6"), matching: ["ring"]))
        let again = try connection.update(
          Bird(ring: "\(place)6", weight: 2), matching: ["ring"])
        #expect(again.id == birds.last?.id && again.weight == 2)
        try connection.insert(contentsOf: (7..<10).map { Bird(ring: "\(place)\($0)") })
        try connection.update(contentsOf: (10..<13).map { Bird(ring: "\(place)\($0)") })
        guard case .integer(let next)? = try connection.makeKey(for: Bird.self) else {
          Issue.record("no key")
          return []
        }
        let last = try connection.insert(Bird(ring: "\(place)13"))
        #expect(last.id ?? 0 >= next)
        birds.append(last)
        let nests = try connection.insert([Nest(place: "ash"), Nest(place: "oak")])
        try connection.insert(contentsOf: [Nest(place: "elm"), Nest(place: "fir")])
        let stored = try connection.objects(of: Bird.self).compactMap(\.id)
        #expect(Set(birds.compactMap(\.id)).isSubset(of: stored) && stored.count == 13)
        let allNests = try connection.objects(of: Nest.self).compactMap(\.id)
        #expect(Set(nests.compactMap(\.id)).isSubset(of: allNests) && allNests.count == 4)
        return stored + allNests
      }
      // Nests and birds are in different tables, and both begin with the first key of the range.
      let range = try #require(keys.min()) >> 32
      #expect(range > 0 && keys.allSatisfy { $0 >> 32 == range })
      #expect(known.isDisjoint(with: keys))
      known.formUnion(keys)
    }
    try await settle([a.1, b.1])
    for (magic, sync) in [a, b] {
      let (birds, nests) = try await magic.database.read {
        (try $0.objects(of: Bird.self).count, try $0.objects(of: Nest.self).count)
      }
      #expect(birds == 26 && nests == 8)
      #expect(try await sync.once().conflictCount == 0)
    }
    let difference = try await b.0.difference(from: a.0)
    #expect(difference.isEmpty, "\(difference)")
  }

  @Test func `the key of a removed row isn't assigned again`() async throws {
    let a = try await device("a")
    let b = try await device("b")
    try await settle([a.1, b.1])
    let ofA = try await a.0.database.write { try $0.insert(Bird(ring: "a")) }
    let ofB = try await b.0.database.write { try $0.insert(Bird(ring: "b")) }
    let feather = Feather("red")
    try await a.0.update(feather)
    let other = Feather("blue")
    try await b.0.update(other)
    try await settle([a.1, b.1])
    for ((magic, _), bird) in [(a, ofA), (b, ofB)] {
      try await magic.database.write { connection in
        try connection.remove(bird)
        let next = try connection.insert(Bird(ring: bird.ring))
        #expect(next.id ?? 0 > bird.id ?? .max)
      }
    }
    try await a.0.remove(feather)
    let next = Feather("green")
    try await a.0.update(next)
    #expect(next.number > feather.number)
    try await settle([a.1, b.1])
    let difference = try await b.0.difference(from: a.0)
    #expect(difference.isEmpty, "\(difference)")
  }

  @Test func `two devices that chose the same key have a conflict`() async throws {
    let a = try await device("a")
    let b = try await device("b")
    try await settle([a.1, b.1])
    try await a.0.database.write { try $0.insert(Tag(id: 1, text: "first")) }
    try await b.0.database.write { try $0.insert(Tag(id: 1, text: "second")) }
    try await settle([a.1, b.1])
    for (magic, sync) in [a, b] {
      let tags = try await magic.database.read { try $0.objects(of: Tag.self) }
      #expect(tags == [Tag(id: 1, text: "second")])
      let conflicts = try await sync.conflicts()
      #expect(conflicts.map(\.kind) == [.sameKey])
      #expect(conflicts.first?.lost == ["text": .text("first")])
      #expect(conflicts.first?.kept == ["text": .text("second")])
    }
  }
}
