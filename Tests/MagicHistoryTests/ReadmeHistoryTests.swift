import Foundation
import MagicData
import MagicHistory
import SQLiteHistory
import Testing
import TestSupport

private struct Person: MagicObject, Sendable {
  @PrimaryMagicValue var id: Int
  @MagicValue var city = "Bern"
  @OptionalMagicValue var photo: MagicAsset<Data>?
  init() {}
}

/// The examples of the articles about deltas, trails, patches and differences, line by line.
@Suite struct ReadmeHistoryTests {
  private struct Ship: MagicObject {
    @PrimaryMagicValue var name: String
    @MagicValue var tons: Int
    init() {}
    init(_ name: String, tons: Int) {
      self.name = name
      self.tons = tons
    }
  }

  private let folder: TestFolder
  private let magic: MagicData
  private let person = Person()

  init() throws {
    folder = try TestFolder()
    magic = try MagicData(path: folder.path)
    try magic.update(person)
  }

  @Test func `a loop maintains a list from deltas`() async throws {
    let magic = magic
    let remover = Task { _ = try await magic.removeAll(Person.all) }
    var cities: [Int: String] = [:]
    for try await changes in magic.deltas(of: Person.self, including: .current) {
      for change in changes {
        switch change {
        case .current(let people):
          cities = [:]
          for person in people { cities[person.zIndex] = try person[\.$city] }
        case .inserted(let person): cities[person.zIndex] = try person[\.$city]
        case .updated(let old, let new, let properties):
          if properties.contains("city") { print(try old[\.$city], "is now", try new[\.$city]) }
          cities[new.zIndex] = try new[\.$city]
        case .deleted(let person): cities[person.zIndex] = nil
        case .overflow, .replaced: break  // The current objects follow.
        case .unreadable(let row): throw row
        }
      }
      if cities.isEmpty { break }
    }
    try await remover.value
    #expect(cities.isEmpty)
  }

  @Test func `a trail is kept, read and pruned`() async throws {
    let (magic, person) = (magic, person)
    try await magic.keepTrail(maximumCount: 1_000_000, maximumAge: .seconds(90 * 86_400))
    try await ChangeAuthor.$current.withValue("ann") {
      person.city = "Chur"
      try await magic.update(person)
    }
    for entry in try await magic.trail(of: person) {
      print(entry.date, entry.author ?? "nobody", entry.kind)
      for change in entry.changes {
        print(change.property, change.old ?? .null, change.new ?? .null)
      }
    }
    #expect(try await magic.trail(of: person).map(\.author) == ["ann"])
    let trail = try await magic.keepTrail()
    let removed = try await trail.prune(before: Date(timeIntervalSinceNow: -3_600))
    #expect(removed == 0)
  }

  @Test func `a patch is sent with its contents`() throws {
    let outbox = "\(folder.path)/outbox"
    let other = try TestFolder()
    let path = "\(other.path)/copy"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    #expect(try magic.backup(to: path).faults.isEmpty)
    let copy = try MagicData(path: path)
    let picture = Data("picture".utf8)
    let patch = try magic.patch(assetsTo: outbox) {
      person.city = "Zürich"
      person.photo = MagicAsset(value: picture)
      try magic.update(person)
    }
    let letter = try JSONEncoder().encode(patch)
    let arrived = try JSONDecoder().decode(Patch.self, from: letter)
    let report = try copy.apply(arrived, assetsFrom: outbox, isIdempotent: true)
    print(report.appliedCount, "rows")
    let found = try copy.objects(of: Person.self)
    #expect(found.map(\.city) == ["Zürich"])
    #expect(try found.first?.photo?.get() == picture)
    let merged = try copy.apply(patch, isIdempotent: true) { conflict in
      conflict.kind == .data && conflict.row.kind == .update ? .merge : .omit
    }
    print(merged.resolved.count, "conflicts")
    #expect(merged.resolved.isEmpty)
  }

  @Test func `a loop maintains a list from differences`() async throws {
    let magic = magic
    try await magic.update(Ship("Beagle", tons: 242))
    let remover = Task { _ = try await magic.removeAll(Ship.all) }
    var list: [Ship] = []
    for try await change in magic.observe(Ship.where(\.$tons > 100)).differences() {
      list = change.objects
      for step in change.difference {
        switch step {
        case .insert(let place, _, _): print("a new row at", place)
        case .remove(let place, _, _): print("no row any more at", place)
        }
      }
      for place in change.updated { print(list[place].name, "has changed") }
      if list.isEmpty { break }
    }
    try await remover.value
    #expect(list.isEmpty)
  }
}
