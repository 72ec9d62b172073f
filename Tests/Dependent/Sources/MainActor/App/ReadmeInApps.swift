import Foundation
import MagicData
import Observation

nonisolated struct Spot: Codable, Hashable {
  var latitude = 0.0
  var longitude = 0.0
}

nonisolated enum Visit: Codable {
  case planned
  case done(on: Date)
}

enum Kind: String, Codable { case museum, park }

struct Sight: MagicObject {
  @PrimaryMagicValue var id: UUID
  @MagicValue var name: String
  @MagicValue var spot: Spot
  @MagicValue var kind: Kind
  @MagicValue var visit: Visit = .planned
  @MagicValue var photo: MagicAsset<Data> = MagicAsset()

  init() {}
  init(_ name: String, _ kind: Kind, at spot: Spot = Spot()) {
    self.name = name
    self.kind = kind
    self.spot = spot
  }
}

@Observable final class Sights {
  private let magic: MagicData
  private(set) var list: [Sight] = []

  init(_ magic: MagicData) { self.magic = magic }

  func load() async throws {
    list = try await magic.fetch(Sight.all.ordered(by: .ascending(\.$name)))
  }

  func add(_ sight: Sight) async throws {
    try await magic.update(sight)
    try await load()
  }
}

extension Sights {
  func follow() async throws {
    for try await sights in magic.observe(Sight.all.ordered(by: .ascending(\.$name))) {
      list = sights
    }
  }
}

extension Sights {
  func finish(_ sight: Sight, on day: Date) async throws -> Int {
    let id = sight.id
    return try await magic.transaction { [magic] in
      let stored = try magic.object(of: Sight.self, primary: id)
      stored.visit = .done(on: day)
      try magic.update(stored)
      return try magic.count(of: Sight.self, where: \.$kind == stored.kind)
    }
  }
}

@concurrent func bytes(of sights: [Sight]) async throws -> Int {
  var sum = 0
  for sight in sights { sum += try await sight.photo.data()?.count ?? 0 }
  return sum
}

/// Reports the number of sights, now and after each change, as a view would.
func watch(_ sights: Sights, _ report: @escaping @MainActor (Int) -> Void) {
  let count = withObservationTracking {
    sights.list.count
  } onChange: {
    Task { @MainActor in watch(sights, report) }
  }
  report(count)
}

/// Runs the code of the article “In apps”.
func useSights(_ magic: MagicData) async throws {
  let sights = Sights(magic)
  let museum = Sight("Louvre", .museum, at: Spot(latitude: 48.86, longitude: 2.34))
  museum.photo = MagicAsset(value: Data([1, 2, 3]))
  try await sights.add(museum)
  App.expect(sights.list.map(\.name) == ["Louvre"], "the list is loaded")
  let count = try await sights.finish(museum, on: Date(timeIntervalSince1970: 0))
  App.expect(count == 1, "a transaction returns a count")
  App.expect(try await bytes(of: sights.list) == 3, "photos are read on another thread")

  let (changes, change) = AsyncStream.makeStream(of: Int.self)
  watch(sights) { change.yield($0) }
  let task = Task { try await sights.follow() }
  try await magic.update(Sight("Tiergarten", .park))
  for await count in changes where count == 2 { break }
  task.cancel()
  let result = await task.result
  App.expect((try? result.get()) == nil || task.isCancelled, "a cancelled observation ends")
}
