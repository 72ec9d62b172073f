import Foundation
import MagicData
import MagicSync
import MagicTemplates
import TestSupport
import Testing

private struct Town: MagicObject {
  static var traits: [PropertyTrait] { [.unique(\Self.$code)] }
  @PrimaryMagicValue var name: String
  @MagicValue var population: Int
  @OptionalMagicValue var code: String?
  @OptionalMagicValue var mayor: Resident?
  @MagicValue var residents: [Resident] = []
  @MagicValue var offices: [String: Resident] = [:]
  @MagicValue var guests: MagicalSet<Resident> = []
  @MagicValue var flag: MagicAsset<Data> = MagicAsset()
  init() {}
  init(_ name: String) {
    self.name = name
    population = 0
  }
}

private struct Resident: MagicObject {
  @MagicValue var name: String
  init() {}
  init(_ name: String) { self.name = name }
}

private struct House: MagicObject {
  @PrimaryMagicValue var number: Int
  @MagicValue var owner: Resident
  init() {}
  init(_ owner: Resident) { self.owner = owner }
}

private struct Note: Record, Equatable {
  var id: Int64
  var text: String
}

/// Lost edits are reported until they are acknowledged, and can be made again.
@Suite struct ConflictTests {
  let files: TestFolder
  init() throws { files = try TestFolder() }

  /// Two devices with the same town. A edits it before B does.
  private struct Devices {
    let a: MagicData
    let b: MagicData
    let syncA: Sync
    let syncB: Sync

    func exchange() async throws { try await settle([syncA, syncB]) }

    /// Returns the only conflict, which both devices have.
    func conflict() async throws -> SyncConflict {
      try await exchange()
      let conflicts = try await syncA.conflicts()
      #expect(try await syncB.conflicts() == conflicts)
      #expect(conflicts.count == 1, "\(conflicts)")
      return try #require(conflicts.first)
    }

    /// Exchanges everything, and checks that the stores are equal.
    func check() async throws {
      try await exchange()
      let difference = try await b.difference(from: a)
      #expect(difference.isEmpty, "\(difference)")
    }

    func townA() async throws -> Town { try await a.object(of: Town.self, primary: "Vis") }
    func townB() async throws -> Town { try await b.object(of: Town.self, primary: "Vis") }
  }

  private func devices(_ town: Town = Town("Vis")) async throws -> Devices {
    let a = try await MagicData(path: "\(files.path)/a")
    let b = try await MagicData(path: "\(files.path)/b")
    for magic in [a, b] { magic.assets.minimumFileSize = 10 }
    func sync(_ magic: MagicData) async throws -> Sync {
      try await Sync(
        magic, through: .folder("\(files.path)/shared"),
        objects: [Town.self, Resident.self, House.self], records: [Note.self])
    }
    let syncA = try await sync(a)
    try await a.update(town)
    try await syncA.once()
    let devices = Devices(a: a, b: b, syncA: syncA, syncB: try await sync(b))
    try await devices.exchange()
    return devices
  }

  /// Waits until the clock, which counts milliseconds, has advanced.
  private func tick() {
    let start = Date()
    while Date().timeIntervalSince(start) < 0.002 {}
  }

  @Test func `a lost value is restored on all devices`() async throws {
    let devices = try await devices()
    let (townA, townB) = (try await devices.townA(), try await devices.townB())
    townA.population = 1
    try await devices.a.update(townA)
    tick()
    townB.population = 2
    try await devices.b.update(townB)
    let conflict = try await devices.conflict()
    #expect(conflict.kind == .value && conflict.table == "Town" && conflict.message == nil)
    #expect(conflict.lost == ["population": .integer(1)])
    #expect(conflict.kept == ["population": .integer(2)])
    #expect(abs(conflict.date.timeIntervalSinceNow) < 3_600)
    #expect(!conflict.description.contains("1") && conflict.description.contains("population"))

    var results = devices.a.observe(Town.all).makeAsyncIterator()
    #expect(try await results.next()?.first?.population == 2)
    try await devices.syncA.restore(conflict)
    #expect(try await results.next()?.first?.population == 1)
    #expect(try await devices.syncA.conflicts() == [])
    try await devices.check()
    #expect(try await devices.townB().population == 1)
    // B acknowledges its own list.
    #expect(try await devices.syncB.conflicts() == [conflict])
    try await devices.syncB.acknowledge([conflict])
    #expect(try await devices.syncB.conflicts() == [])
  }

  @Test func `an acknowledged conflict stays so when earlier changes arrive`() async throws {
    let devices = try await devices()
    let late = try await devices.townB()
    late.offices["harbour"] = Resident("Ana")
    try await devices.b.update(late)
    tick()
    // C conflicts with A before B's earlier change has arrived.
    let c = try await MagicData(path: "\(files.path)/c")
    let syncC = try await Sync(
      c, through: .folder("\(files.path)/shared"),
      objects: [Town.self, Resident.self, House.self], records: [Note.self])
    try await settle([devices.syncA, syncC])
    let (townA, townC) = (
      try await devices.townA(), try await c.object(of: Town.self, primary: "Vis")
    )
    townA.population = 1
    try await devices.a.update(townA)
    tick()
    townC.population = 2
    try await c.update(townC)
    try await settle([devices.syncA, syncC])
    let conflicts = try await devices.syncA.conflicts()
    #expect(conflicts.map(\.kind) == [.value])
    try await devices.syncA.acknowledge(conflicts)
    try await settle([devices.syncA, devices.syncB, syncC])
    #expect(try await devices.townA().offices["harbour"]?.name == "Ana")
    #expect(try await devices.syncA.conflicts() == [])
    #expect(try await syncC.conflicts() == conflicts)
  }

  @Test func `a change of a removed row inserts the row again`() async throws {
    let town = Town("Vis")
    town.population = 5
    town.code = "V"
    let devices = try await devices(town)
    try await devices.a.remove(try await devices.townA())
    tick()
    let townB = try await devices.townB()
    townB.population = 6
    try await devices.b.update(townB)
    let conflict = try await devices.conflict()
    #expect(conflict.kind == .changeOfRemoved)
    #expect(conflict.lost == ["population": .integer(6)] && conflict.kept == [:])
    #expect(try await devices.b.fetch(Town.all).isEmpty)
    try await devices.syncB.restore(conflict)
    try await devices.check()
    let found = try await devices.townA()
    #expect(found.population == 6 && found.code == "V")
  }

  @Test func `a removed row is inserted again with the content of its asset`() async throws {
    let town = Town("Vis")
    town.flag = MagicAsset(value: Data("the first flag".utf8))
    let devices = try await devices(town)
    let townA = try await devices.townA()
    townA.flag = MagicAsset(value: Data("the other flag".utf8))
    try await devices.a.update(townA)
    tick()
    try await devices.b.remove(try await devices.townB())
    let conflict = try await devices.conflict()
    #expect(conflict.kind == .removalOfChanged && conflict.table == "Town")
    #expect(Set(conflict.lost.keys) == ["flag"])
    try await devices.syncB.restore(conflict)
    #expect(try await devices.townB().flag.get() == Data("the other flag".utf8))
    try await devices.check()
    #expect(try await devices.townA().flag.get() == Data("the other flag".utf8))
    try await devices.syncA.acknowledge([conflict])
    #expect(try await devices.townA().flag.get() == Data("the other flag".utf8))
  }

  @Test func `a replaced asset keeps its file until the conflict is acknowledged`() async throws {
    for restores in [true, false] {
      let town = Town("Vis")
      town.flag = MagicAsset(value: Data("the first flag".utf8))
      let tests = try ConflictTests()
      let devices = try await tests.devices(town)
      let (townA, townB) = (try await devices.townA(), try await devices.townB())
      // The same size, so that only the digests differ.
      townA.flag = MagicAsset(value: Data("a flag of A's".utf8))
      try await devices.a.update(townA)
      tick()
      townB.flag = MagicAsset(value: Data("a flag of B's".utf8))
      try await devices.b.update(townB)
      let conflict = try await devices.conflict()
      #expect(conflict.kind == .value && conflict.table == "magicdata_asset")
      guard case .text(let file)? = conflict.lost["file"] else {
        Issue.record("no file")
        return
      }
      #expect(try await devices.townA().flag.get() == Data("a flag of B's".utf8))
      let held = "SELECT count(*) FROM magicdata_asset_held WHERE file = \(file)" as SQL
      for magic in [devices.a, devices.b] {
        let count = try await magic.database.read { try $0.firstRow(held, as: Int.self) }
        #expect(count ?? 0 >= 1)
      }
      if restores {
        var results = devices.a.observe(Town.all).makeAsyncIterator()
        _ = try await results.next()
        try await devices.syncA.restore(conflict)
        #expect(try await results.next()?.first?.flag.get() == Data("a flag of A's".utf8))
        try await devices.check()
        #expect(try await devices.townB().flag.get() == Data("a flag of A's".utf8))
      }
      for sync in [devices.syncA, devices.syncB] { try await sync.acknowledge([conflict]) }
      for magic in [devices.a, devices.b] {
        let count = try await magic.database.read {
          try $0.firstRow(
            "SELECT count(*) FROM magicdata_asset_held WHERE file = \(file) AND number = -2",
            as: Int.self)
        }
        #expect(count == 0)
      }
      try await devices.check()
    }
  }

  @Test func `an asset that was chosen twice is restored`() async throws {
    let devices = try await devices()
    let (townA, townB) = (try await devices.townA(), try await devices.townB())
    townA.flag = MagicAsset(value: Data("a flag of A's".utf8))
    try await devices.a.update(townA)
    tick()
    townB.flag = MagicAsset(value: Data("another flag of B's".utf8))
    try await devices.b.update(townB)
    let conflict = try await devices.conflict()
    #expect(conflict.kind == .value && conflict.table == "Town")
    try await devices.syncB.restore(conflict)
    try await devices.syncA.acknowledge([conflict])
    try await devices.check()
    for town in [try await devices.townA(), try await devices.townB()] {
      #expect(try await town.flag.get() == Data("a flag of A's".utf8))
    }
    for magic in [devices.a, devices.b] {
      let count = try await magic.database.read {
        try $0.firstRow("SELECT count(*) FROM magicdata_asset", as: Int.self)
      }
      #expect(count == 1)
    }
  }

  @Test func `a removal is made again when nothing requires the row any more`() async throws {
    let town = Town("Vis")
    town.guests = [Resident("Ana")]
    let devices = try await devices(town)
    let ana = try #require(try await devices.a.fetch(Resident.all).first)
    let anaB = try #require(try await devices.b.fetch(Resident.all).first)
    try await devices.a.remove(ana)
    tick()
    let house = House(anaB)
    try await devices.b.update(house)
    let conflict = try await devices.conflict()
    #expect(conflict.kind == .removal && conflict.table == "Resident")
    #expect(conflict.lost == [:])
    let error = await #expect(throws: SyncError.self) {
      try await devices.syncA.restore(conflict)
    }
    guard case .notRestorable = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try await devices.syncA.conflicts() == [conflict])
    try await devices.b.remove(house)
    try await devices.exchange()
    try await devices.syncA.restore(conflict)
    try await devices.check()
    #expect(try await devices.b.fetch(Resident.all).isEmpty)
  }

  @Test func `a unique value is restored only when it is free`() async throws {
    let devices = try await devices()
    let krk = Town("Krk")
    try await devices.b.update(krk)
    try await devices.exchange()
    let vis = try await devices.townA()
    vis.code = "X"
    try await devices.a.update(vis)
    tick()
    krk.code = "X"
    krk.population = 4
    try await devices.b.update(krk)
    let conflict = try await devices.conflict()
    #expect(conflict.kind == .uniqueValue && conflict.lost == ["code": .text("X")])
    #expect(conflict.message == "UNIQUE constraint failed: Town.code")
    #expect(try await devices.a.object(of: Town.self, primary: "Krk").population == 4)
    await #expect(throws: SyncError.notRestorable("UNIQUE constraint failed: Town.code")) {
      try await devices.syncB.restore(conflict)
    }
    #expect(try await devices.syncB.conflicts() == [conflict])
    let visB = try await devices.townB()
    visB.code = nil
    try await devices.b.update(visB)
    try await devices.syncB.restore(conflict)
    try await devices.check()
    #expect(try await devices.a.object(of: Town.self, primary: "Krk").code == "X")
  }

  @Test func `a reference to a removed row is restored only with the row`() async throws {
    let town = Town("Vis")
    town.guests = [Resident("Ana")]
    let devices = try await devices(town)
    try await devices.a.remove(try #require(try await devices.a.fetch(Resident.all).first))
    tick()
    let townB = try await devices.townB()
    townB.mayor = try await devices.b.fetch(Resident.all).first
    try await devices.b.update(townB)
    let conflict = try await devices.conflict()
    #expect(conflict.kind == .reference && Set(conflict.lost.keys) == ["mayor"])
    await #expect(
      throws: SyncError.notRestorable("a row that “Town” references was removed")
    ) { try await devices.syncB.restore(conflict) }
    #expect(try await devices.townB().mayor == nil)
    try await devices.check()
  }

  @Test func `a link that two devices moved is reported, and moved back`() async throws {
    let town = Town("Vis")
    town.residents = ["Ana", "Ivo", "Mia", "Pero"].map { Resident($0) }
    let devices = try await devices(town)
    let (townA, townB) = (try await devices.townA(), try await devices.townB())
    townA.residents.insert(townA.residents.remove(at: 1), at: 0)
    try await devices.a.update(townA)
    tick()
    townB.residents.append(townB.residents.remove(at: 1))
    try await devices.b.update(townB)
    let conflict = try await devices.conflict()
    #expect(conflict.kind == .value && conflict.table == "Town_residents")
    #expect(Set(conflict.lost.keys) == ["position"] && Set(conflict.kept.keys) == ["position"])
    #expect(try await devices.townA().residents.map(\.name) == ["Ana", "Mia", "Pero", "Ivo"])
    try await devices.syncB.restore(conflict)
    try await devices.check()
    #expect(try await devices.townA().residents.map(\.name) == ["Ivo", "Ana", "Mia", "Pero"])
  }

  @Test func `a link that one device moved and another removed is inserted again`() async throws {
    let town = Town("Vis")
    town.residents = ["Ana", "Ivo", "Mia"].map { Resident($0) }
    let devices = try await devices(town)
    let (townA, townB) = (try await devices.townA(), try await devices.townB())
    townA.residents.insert(townA.residents.remove(at: 2), at: 0)
    try await devices.a.update(townA)
    tick()
    townB.residents.remove(at: 2)
    try await devices.b.update(townB)
    let conflict = try await devices.conflict()
    #expect(conflict.kind == .removalOfChanged && conflict.table == "Town_residents")
    #expect(try await devices.townA().residents.map(\.name) == ["Ana", "Ivo"])
    try await devices.syncA.restore(conflict)
    try await devices.check()
    #expect(try await devices.townB().residents.map(\.name) == ["Mia", "Ana", "Ivo"])
  }

  @Test func `links that were removed with their target are not restored without it`()
    async throws
  {
    let town = Town("Vis")
    town.residents = [Resident("Ana")]
    let devices = try await devices(town)
    try await devices.a.remove(try #require(try await devices.a.fetch(Resident.all).first))
    tick()
    let townB = try await devices.townB()
    townB.offices["harbour"] = townB.residents[0]
    townB.guests = [townB.residents[0]]
    try await devices.b.update(townB)
    try await devices.exchange()
    let conflicts = try await devices.syncB.conflicts()
    #expect(Set(conflicts.map(\.table)) == ["Town_offices", "Town_guests"])
    #expect(conflicts.allSatisfy { $0.kind == .row })
    for conflict in conflicts {
      await #expect(throws: SyncError.self) { try await devices.syncB.restore(conflict) }
    }
    try await devices.check()
  }

  @Test func `records are restored, too`() async throws {
    let devices = try await devices()
    try await devices.a.database.write { try $0.insert(Note(id: 1, text: "first")) }
    tick()
    try await devices.b.database.write { try $0.insert(Note(id: 1, text: "second")) }
    let same = try await devices.conflict()
    #expect(same.kind == .sameKey && same.table == "Note" && same.key == [.integer(1)])
    try await devices.syncA.restore(same)
    try await devices.syncB.acknowledge([same])
    try await devices.check()
    func notes(_ magic: MagicData) async throws -> [Note] {
      try await magic.database.read { try $0.objects(of: Note.self) }
    }
    #expect(try await notes(devices.b) == [Note(id: 1, text: "first")])

    try await devices.a.database.write { try $0.update(Note(id: 1, text: "third")) }
    tick()
    try await devices.b.database.write { try $0.remove(Note(id: 1, text: "first")) }
    let removed = try await devices.conflict()
    #expect(removed.kind == .removalOfChanged && removed.lost == ["text": .text("third")])
    try await devices.syncB.restore(removed)
    try await devices.check()
    #expect(try await notes(devices.a) == [Note(id: 1, text: "third")])
  }

  @Test func `an unknown table or column can't be restored`() async throws {
    let devices = try await devices()
    try await devices.a.database.write { try $0.insert(Note(id: 1, text: "first")) }
    tick()
    try await devices.b.database.write { try $0.insert(Note(id: 1, text: "second")) }
    let conflict = try await devices.conflict()
    try await devices.a.database.write { try $0.executeChange("DROP TABLE Note") }
    await #expect(
      throws: SyncError.notRestorable("the table “Note” no longer exists")
    ) { try await devices.syncA.restore(conflict) }
    #expect(try await devices.syncA.conflicts() == [conflict])
  }
}
