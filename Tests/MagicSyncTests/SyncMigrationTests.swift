import Foundation
import MagicData
import MagicSync
import MagicTemplates
import TestSupport
import Testing

private protocol AnyPerson: MagicObject {
  init(_ name: String)
  var name: String { get nonmutating set }
}

private protocol AnyCity: MagicObject {
  associatedtype Person: AnyPerson
  init(_ name: String)
  var name: String { get }
  var head: String { get nonmutating set }
  var population: Int { get nonmutating set }
  var members: [Person] { get nonmutating set }
  /// Sets a property that only this version has.
  func setOwn(_ number: Int)
}

/// The types of the first version.
private enum V1 {
  struct Human: AnyPerson {
    @MagicValue var name: String
    init() {}
    init(_ name: String) { self.name = name }
  }

  struct City: AnyCity {
    @PrimaryMagicValue var name: String
    @MagicValue var mayor: String
    @MagicValue var population: Int
    @MagicValue var nickname: String
    @MagicValue var people: [Human]
    init() {}
    init(_ name: String) {
      self.name = name
      mayor = ""
      population = 0
      nickname = ""
      people = []
    }
    var head: String {
      get { mayor }
      nonmutating set { mayor = newValue }
    }
    var members: [Human] {
      get { people }
      nonmutating set { people = newValue }
    }
    func setOwn(_ number: Int) { nickname = "\(number)" }
  }
}

/// `mayor` was renamed, `nickname` dropped, and `area` added.
private enum V2 {
  struct Human: AnyPerson {
    @MagicValue var name: String
    init() {}
    init(_ name: String) { self.name = name }
  }

  struct City: AnyCity {
    @PrimaryMagicValue var name: String
    @MagicValue var leader: String
    @MagicValue var population: Int
    @MagicValue var area: Int
    @MagicValue var people: [Human]
    init() { area = 7 }
    init(_ name: String) {
      self.name = name
      leader = ""
      population = 0
      area = 7
      people = []
    }
    var head: String {
      get { leader }
      nonmutating set { leader = newValue }
    }
    var members: [Human] {
      get { people }
      nonmutating set { people = newValue }
    }
    func setOwn(_ number: Int) { area = number }
  }
}

/// The table and the list were renamed, the unit of `population` has changed, `email` was added, and
/// there is a new type.
private enum V3 {
  struct Human: AnyPerson {
    @MagicValue var name: String
    @OptionalMagicValue var email: String?
    init() {}
    init(_ name: String) { self.name = name }
  }

  struct Town: AnyCity {
    @PrimaryMagicValue var name: String
    @MagicValue var leader: String
    @MagicValue var population: Int
    @MagicValue var area: Int
    @MagicValue var residents: [Human]
    init() { area = 7 }
    init(_ name: String) {
      self.name = name
      leader = ""
      population = 0
      area = 7
      residents = []
    }
    var head: String {
      get { leader }
      nonmutating set { leader = newValue }
    }
    var members: [Human] {
      get { residents }
      nonmutating set { residents = newValue }
    }
    func setOwn(_ number: Int) {
      area = number
      residents.first?.email = "\(number)@x"
    }
  }

  struct Bridge: MagicObject {
    @MagicValue var name: String
    init() {}
    init(_ name: String) { self.name = name }
  }
}

private let migrations = [
  Migration(
    "leaders", .renameProperty("mayor", to: "leader", of: "City"),
    .dropProperty("nickname", of: "City")),
  Migration(
    "towns",
    .transform("City") { row in
      ["population": try row.get("population", as: Int.self) * 10]
    },
    .renameObjects("City", to: "Town"), .renameProperty("people", to: "residents", of: "Town")),
]

/// A device with a program of some version.
private final class Device {
  let path: String
  let folder: String
  private(set) var version: Int
  private(set) var magic: MagicData
  private(set) var sync: Sync

  init(_ name: String, _ files: TestFolder, version: Int) async throws {
    path = "\(files.path)/\(name)"
    folder = "\(files.path)/shared"
    self.version = version
    (magic, sync) = try await Device.open(path, folder, version)
  }

  /// Replaces the program by another version.
  ///
  /// - Parameters:
  ///   - version: The version.
  ///   - isRecorded: Whether the sync runs the migrations, or the program does before it.
  func open(_ version: Int, isRecorded: Bool = true) async throws {
    self.version = version
    try await magic.close()
    (magic, sync) = try await Device.open(path, folder, version, isRecorded: isRecorded)
  }

  private static func open(
    _ path: String, _ folder: String, _ version: Int, isRecorded: Bool = true
  ) async throws -> (MagicData, Sync) {
    let magic = try await MagicData(path: path)
    let migrations = Array(migrations.prefix(version - 1))
    if !isRecorded { try await magic.migrate(migrations) }
    let types: [any MagicObject.Type] =
      switch version {
      case 1: [V1.City.self, V1.Human.self]
      case 2: [V2.City.self, V2.Human.self]
      default: [V3.Town.self, V3.Human.self, V3.Bridge.self]
      }
    let sync = try await Sync(
      magic, through: .folder(folder), objects: types,
      migrations: isRecorded ? migrations : [])
    return (magic, sync)
  }

  func edit(_ random: inout SplitMix64) async throws {
    switch version {
    case 1: try await edit(V1.City.self, &random)
    case 2: try await edit(V2.City.self, &random)
    default: try await edit(V3.Town.self, &random)
    }
  }

  private func edit<City: AnyCity>(_ type: City.Type, _ random: inout SplitMix64) async throws {
    let cities = try await magic.object(of: City.self)
    let name = ["Vis", "Hvar", "Krk", "Rab"][Int.random(in: 0..<4, using: &random)]
    let city = cities.first { $0.name == name } ?? City(name)
    switch Int.random(in: 0..<10, using: &random) {
    case 0:
      if cities.contains(where: { $0.name == name }) { return try await magic.remove(city) }
    case 1:
      let people = try await magic.object(of: City.Person.self)
      if let person = people.randomElement(using: &random) { return try await magic.remove(person) }
    case 2, 3: city.head = "head \(Int.random(in: 0..<100, using: &random))"
    case 4, 5: city.setOwn(Int.random(in: 0..<100, using: &random))
    case 6:
      if !city.members.isEmpty {
        city.members.remove(at: Int.random(in: city.members.indices, using: &random))
      }
    default:
      city.population = Int.random(in: 0..<100, using: &random)
      city.members.append(City.Person("person \(Int.random(in: 0..<100, using: &random))"))
    }
    try await magic.update(city)
  }
}

/// Devices with different versions of a program have equal stores after all were migrated.
@Suite struct SyncMigrationTests {
  let files: TestFolder
  init() throws { files = try TestFolder() }

  private func device(_ name: String, _ version: Int = 1) async throws -> Device {
    try await Device(name, files, version: version)
  }

  private func exchange(_ devices: Device...) async throws { try await settle(devices.map(\.sync)) }

  private func check(_ devices: [Device], _ comment: Comment? = nil) async throws {
    try await settle(devices.map(\.sync))
    for device in devices {
      #expect(try await device.sync.once().problems == [], comment)
      let difference = try await device.magic.difference(from: devices[0].magic)
      #expect(difference.isEmpty, "\(difference) \(comment ?? "")")
      let faults = try await device.magic.database.read { connection in
        try connection.rows("PRAGMA integrity_check", as: String.self)
          + connection.rows(
            "SELECT 'foreign key of ' || \"table\" FROM pragma_foreign_key_check", as: String.self)
      }
      #expect(faults == ["ok"], comment)
    }
  }

  @Test func `an older device waits for a newer schema, and loses nothing`() async throws {
    let (a, b) = (try await device("a"), try await device("b"))
    let vis = V1.City("Vis")
    (vis.mayor, vis.nickname, vis.people) = ("Ana", "the far one", [V1.Human("Ivo")])
    try await a.magic.update(vis)
    try await exchange(a, b)
    let visB = try await b.magic.object(of: V1.City.self, primary: "Vis")
    // Both change the row before the migration of A, and B again after it.
    vis.population = 1
    try await a.magic.update(vis)
    visB.mayor = "Mia"
    try await b.magic.update(visB)
    try await a.open(2)
    let newer = try await a.magic.object(of: V2.City.self, primary: "Vis")
    #expect(newer.leader == "Ana" && newer.area == 7 && newer.population == 1)
    newer.area = 8
    try await a.magic.update(newer)
    try await a.sync.once()
    let report = try await b.sync.once()
    guard case .newerSchema(_, let table, _)? = report.problems.first else {
      Issue.record("\(report.problems)")
      return
    }
    #expect(table == "City" && report.receivedCount == 0)
    visB.nickname = "dropped"
    visB.people.append(V1.Human("Pero"))
    try await b.magic.update(visB)
    try await b.sync.once()
    // A doesn't have to wait for the older device.
    #expect(try await a.sync.once().problems == [])
    let merged = try await a.magic.object(of: V2.City.self, primary: "Vis")
    #expect(merged.leader == "Mia" && merged.area == 8)
    #expect(merged.people.map(\.name) == ["Ivo", "Pero"])
    try await b.open(2)
    try await check([a, b])
    let found = try await b.magic.object(of: V2.City.self, primary: "Vis")
    #expect(found.leader == "Mia" && found.area == 8 && found.population == 1)
    #expect(found.people.map(\.name) == ["Ivo", "Pero"])
  }

  @Test(arguments: [true, false])
  func `changes of a migration are applied once`(isRecorded: Bool) async throws {
    let (a, b) = (try await device("a"), try await device("b"))
    let vis = V1.City("Vis")
    vis.population = 5
    try await a.magic.update(vis)
    try await exchange(a, b)
    let hvar = V1.City("Hvar")
    hvar.population = 6
    hvar.people = [V1.Human("Ana")]
    try await b.magic.update(hvar)
    try await a.open(3, isRecorded: isRecorded)
    try await exchange(a, b)
    // A has the value of the older device until that device is migrated.
    #expect(try await a.magic.object(of: V3.Town.self, primary: "Hvar").population == 6)
    #expect(try await a.magic.object(of: V3.Town.self, primary: "Vis").population == 50)
    try await a.magic.update(V3.Bridge("the old one"))
    try await b.open(3, isRecorded: isRecorded)
    try await check([a, b])
    for device in [a, b] {
      #expect(try await device.magic.object(of: V3.Town.self, primary: "Vis").population == 50)
      let hvar = try await device.magic.object(of: V3.Town.self, primary: "Hvar")
      #expect(hvar.population == 60 && hvar.residents.map(\.name) == ["Ana"])
      #expect(try await device.magic.count(of: V3.Bridge.self) == 1)
      #expect(try await device.sync.conflicts() == [])
    }
  }

  @Test func `a migration between writing a file and noting it makes no new device`() async throws {
    let (a, b) = (try await device("a"), try await device("b"))
    try await exchange(a, b)
    let vis = V1.City("Vis")
    (vis.mayor, vis.nickname, vis.population) = ("Ana", "the far one", 5)
    try await a.magic.update(vis)
    for isLost in [false, true] {
      let identity = a.sync.device
      try await a.sync.once()
      // The process dies, or something deletes the file.
      try await a.magic.database.executeChange("UPDATE magicdata_sync_batch SET isWritten = 0")
      if isLost {
        let folder = DirectorySyncFolder(path: files.file("shared"))
        for name in try await folder.list() where name.hasPrefix("c-\(identity)") {
          try await folder.remove(name)
        }
      }
      try await a.open(3)
      try await a.sync.once()
      #expect(a.sync.device == identity)
    }
    try await exchange(a, b)
    try await b.open(3)
    try await check([a, b])
    #expect(try await b.magic.object(of: V3.Town.self, primary: "Vis").leader == "Ana")
  }

  @Test func `a new installation receives the changes of older devices`() async throws {
    let a = try await device("a")
    let vis = V1.City("Vis")
    (vis.mayor, vis.nickname, vis.people) = ("Ana", "the far one", [V1.Human("Ivo")])
    try await a.magic.update(vis)
    try await a.sync.once()
    let b = try await device("b", 3)
    try await exchange(a, b)
    let found = try await b.magic.object(of: V3.Town.self, primary: "Vis")
    #expect(found.leader == "Ana" && found.area == 7 && found.residents.map(\.name) == ["Ivo"])
    found.leader = "Mia"
    try await b.magic.update(found)
    vis.population = 3
    try await a.magic.update(vis)
    try await exchange(a, b)
    try await a.open(3)
    try await check([a, b])
    #expect(try await a.magic.object(of: V3.Town.self, primary: "Vis").leader == "Mia")
    #expect(try await b.magic.object(of: V3.Town.self, primary: "Vis").population == 30)
  }

  @Test func `the objects of a type that was local are sent when it is synced`() async throws {
    let (a, b) = (try await device("a"), try await device("b"))
    try await exchange(a, b)
    try await a.magic.update(V3.Bridge("the old one"))
    try await exchange(a, b)
    #expect(try await b.sync.once().problems == [])
    try await a.open(3)
    try await exchange(a, b)
    try await b.open(3)
    try await check([a, b])
    #expect(try await b.magic.object(of: V3.Bridge.self).map(\.name) == ["the old one"])
  }

  @Test func `a former name can be the name of another column`() async throws {
    let (a, b) = (
      try await MagicData(path: files.file("a")), try await MagicData(path: files.file("b"))
    )
    func sync(_ magic: MagicData, _ migrations: [Migration] = []) async throws -> Sync {
      try await Sync(magic, through: .folder(files.file("shared")), migrations: migrations)
    }
    let create: SQL = "CREATE TABLE pot (id INTEGER PRIMARY KEY, name TEXT, size INTEGER)"
    for magic in [a, b] { try await magic.database.executeChange(create) }
    var (syncA, syncB) = (try await sync(a), try await sync(b))
    try await settle([syncA, syncB])
    try await b.database.executeChange("INSERT INTO pot VALUES (1, 'old', 1)")
    let migrations = [
      Migration(
        "titles", .renameColumn("name", to: "title", in: "pot"),
        .addColumn(ColumnDefinition("name", .text, isOptional: true), in: "pot"))
    ]
    syncA = try await sync(a, migrations)
    try await a.database.executeChange("INSERT INTO pot VALUES (2, 'a title', 2, 'a name')")
    try await settle([syncA, syncB])
    let rows: SQL = "SELECT quote(title) || quote(size) || quote(name) FROM pot ORDER BY id"
    #expect(
      try await a.database.read { try $0.rows(rows, as: String.self) }
        == ["'old'1NULL", "'a title'2'a name'"])
    try await b.database.executeChange("UPDATE pot SET name = 'new' WHERE id = 1")
    syncB = try await sync(b, migrations)
    try await settle([syncA, syncB])
    for magic in [a, b] {
      #expect(
        try await magic.database.read { try $0.rows(rows, as: String.self) }
          == ["'new'1NULL", "'a title'2'a name'"])
    }
  }

  @Test func `conflicts and acknowledgements follow the renames`() async throws {
    let (a, b) = (try await device("a"), try await device("b"))
    let vis = V1.City("Vis")
    try await a.magic.update(vis)
    try await exchange(a, b)
    let visB = try await b.magic.object(of: V1.City.self, primary: "Vis")
    vis.mayor = "Ana"
    try await a.magic.update(vis)
    visB.mayor = "Mia"
    try await b.magic.update(visB)
    try await exchange(a, b)
    var conflicts = try await a.sync.conflicts()
    #expect(conflicts.count == 1)
    try await b.sync.acknowledge(conflicts)
    try await a.open(3)
    try await b.open(3)
    try await check([a, b])
    conflicts = try await a.sync.conflicts()
    let lost = try #require(conflicts.first?.lost["leader"])
    #expect(conflicts.map(\.table) == ["Town"])
    #expect(try await b.sync.conflicts() == [])
    try await a.sync.restore(try #require(conflicts.first))
    try await check([a, b])
    let found = try await b.magic.object(of: V3.Town.self, primary: "Vis")
    #expect(lost == .text(found.leader))
  }

  @Test(.timeLimit(.minutes(40)), arguments: seeds(1...(HistoryTests.count ?? 6)))
  func `random histories with two migrations converge`(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    var devices: [Device] = []
    for name in ["a", "b", "c"] { devices.append(try await device(name)) }
    try await settle(devices.map(\.sync))
    for step in 0..<90 {
      let device = devices.randomElement(using: &random)!
      switch Int.random(in: 0..<12, using: &random) {
      case 0, 1, 2: try await device.sync.once()
      case 3 where step > 15 && device.version < 3:
        // A version may be skipped.
        let next = device.version == 1 && Bool.random(using: &random) ? 3 : device.version + 1
        try await device.open(next, isRecorded: Bool.random(using: &random))
      default: try await device.edit(&random)
      }
    }
    if Bool.random(using: &random) { devices.append(try await device("d", 3)) }
    for device in devices.shuffled(using: &random) where device.version < 3 {
      if Bool.random(using: &random) { try await device.sync.once() }
      try await device.open(3, isRecorded: Bool.random(using: &random))
    }
    try await check(devices, "seed \(seed)")
  }
}
