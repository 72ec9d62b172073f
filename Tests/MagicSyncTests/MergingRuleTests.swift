import Foundation
import MagicData
@testable import MagicSync
import MagicTemplates
import TestSupport
import Testing

/// The results of concurrent changes. The article “What happens to concurrent changes” describes
/// the same rules, in the same order.
///
/// In each test, `first` changes one device and `then` changes the other one, which doesn't know
/// the first change. The second change is the later one. Each history is merged twice, with each
/// device sending first, and both devices must have the same rows and conflicts.
@Suite struct MergingRuleTests {
  struct Town: MagicObject {
    static var traits: [PropertyTrait] { [.unique(\Self.$code), .searched(\Self.$motto)] }

    @PrimaryMagicValue var name: String
    @MagicValue var population = 0
    @MagicValue var height = 0
    @MagicValue var motto = ""
    @OptionalMagicValue var code: String?
    @OptionalMagicValue var mayor: Citizen?
    @MagicValue var streets: [Street] = []
    @MagicValue var guests: MagicalSet<Citizen> = []
    @MagicValue var offices: [String: Citizen] = [:]
    @MagicValue var map: MagicAsset<String> = MagicAsset()

    init() {}
    init(_ name: String, population: Int = 0) {
      self.name = name
      self.population = population
    }
  }

  struct Citizen: MagicObject {
    @PrimaryMagicValue var id: UUID
    @MagicValue var name: String
    @MagicValue var friends: [Citizen] = []
    @OptionalMagicValue var photo: MagicAsset<String>?

    init() {}
    init(_ name: String) { self.name = name }
  }

  struct Street: MagicObject {
    @MagicValue var name: String

    init() {}
    init(_ name: String) { self.name = name }
  }

  /// A house can't exist without its owner.
  struct House: MagicObject {
    @PrimaryMagicValue var number: Int
    @MagicValue var owner: Citizen

    init() {}
    init(of owner: Citizen) { self.owner = owner }
  }

  /// A pet is removed together with its keeper.
  struct Pet: MagicObject {
    static var traits: [PropertyTrait] { [.onDelete(\Self.$keeper, .cascade)] }

    @MagicValue var name: String
    @MagicValue var keeper: Citizen

    init() {}
    init(_ name: String, of keeper: Citizen) {
      self.name = name
      self.keeper = keeper
    }
  }

  struct Licence: MagicObject {
    static var traits: [PropertyTrait] { [.unique(\Self.$plate)] }

    @MagicValue var plate: String
    @MagicValue var holder: String

    init() {}
    init(_ plate: String, _ holder: String) {
      self.plate = plate
      self.holder = holder
    }
  }

  struct Visit: Record {
    static let primaryKeyType = PrimaryKeyType.autoIncrement
    var id: Int?
    var place: String
  }

  struct Setting: Record {
    var id: String
    var value: Int
  }

  typealias Conflict = MergingConflict

  /// Merges two concurrent changes, and calls `check` with each device and all conflicts.
  private func merge(
    after start: @Sendable (MagicData) throws -> Void = { _ in },
    first: @Sendable (MagicData) throws -> Void, then: @Sendable (MagicData) throws -> Void,
    location: SourceLocation = #_sourceLocation,
    check: (MagicData, [Conflict]) throws -> Void
  ) async throws {
    for sendsFirst in [true, false] {
      let pair = try await MergingPair(start)
      try first(pair.a)
      try await pair.makeLater()
      try then(pair.b)
      try await pair.settle(sendsFirst ? [pair.syncA, pair.syncB] : [pair.syncB, pair.syncA])
      try await pair.expectEqual(location)
      for magic in [pair.a, pair.b] {
        let conflicts = try await pair.conflicts(magic)
        try check(magic, conflicts)
      }
    }
  }

  private func town(_ magic: MagicData) throws -> Town {
    try magic.object(of: Town.self, primary: "Vis")
  }

  // MARK: - Properties

  @Test func `the later of two values for one property is kept`() async throws {
    try await merge {
      try $0.update(Town("Vis", population: 1))
    } first: {
      let town = try town($0)
      town.population = 2
      try $0.update(town)
    } then: {
      let town = try town($0)
      town.population = 3
      try $0.update(town)
    } check: { (magic, conflicts) throws in
      #expect(try town(magic).population == 3)
      #expect(
        conflicts == [
          Conflict(
            .value, "Town", lost: ["population": .integer(2)], kept: ["population": .integer(3)])
        ])
    }
  }

  @Test func `two properties of an object keep both values`() async throws {
    try await merge {
      try $0.update(Town("Vis"))
    } first: {
      let town = try town($0)
      town.population = 2
      try $0.update(town)
    } then: {
      let town = try town($0)
      town.height = 3
      try $0.update(town)
    } check: { (magic, conflicts) throws in
      let town = try town(magic)
      #expect(town.population == 2 && town.height == 3)
      #expect(conflicts == [])
    }
  }

  @Test func `additions to a number are merged as values`() async throws {
    try await merge {
      try $0.update(Town("Vis"))
    } first: {
      _ = try $0.updateAll(Town.all, set: [\.$population += 1])
    } then: {
      _ = try $0.updateAll(Town.all, set: [\.$population += 1])
    } check: { (magic, conflicts) throws in
      #expect(try town(magic).population == 1)
      #expect(conflicts == [])
    }
  }

  @Test func `two equal values are no conflict`() async throws {
    try await merge {
      try $0.update(Town("Vis"))
    } first: {
      let town = try town($0)
      town.population = 2
      try $0.update(town)
    } then: {
      let town = try town($0)
      town.population = 2
      try $0.update(town)
    } check: { (magic, conflicts) throws in
      #expect(try town(magic).population == 2)
      #expect(conflicts == [])
    }
  }

  @Test func `the full-text index has the value that is kept`() async throws {
    try await merge {
      try $0.update(Town("Vis"))
    } first: {
      let town = try town($0)
      town.motto = "sun"
      try $0.update(town)
    } then: {
      let town = try town($0)
      town.motto = "sea"
      try $0.update(town)
    } check: { (magic, conflicts) throws in
      #expect(try magic.fetch(Town.all.search(.prefix("sea"))).count == 1)
      #expect(try magic.fetch(Town.all.search(.prefix("sun"))).isEmpty)
      #expect(conflicts.map(\.kind) == [.value])
    }
  }

  @Test func `a value that replaces a received one is no conflict`() async throws {
    let pair = try await MergingPair { try $0.update(Town("Vis")) }
    for value in 1...3 {
      for magic in [pair.a, pair.b] {
        try await magic.transaction {
          let town = try town(magic)
          town.population += value
          try magic.update(town)
        }
        try await pair.settle()
      }
    }
    for magic in [pair.a, pair.b] {
      #expect(try town(magic).population == 12)
      #expect(try await pair.conflicts(magic) == [])
    }
  }

  // MARK: - Lists

  private static func addStreets(_ magic: MagicData) throws {
    let town = Town("Vis")
    town.streets = ["1", "2", "3", "4"].map(Street.init)
    try magic.update(town)
  }

  private func streets(_ magic: MagicData) throws -> [String] {
    try town(magic).streets.map(\.name)
  }

  private func changeStreets(
    _ magic: MagicData, _ body: (inout [Street]) throws -> Void
  ) throws {
    let town = try town(magic)
    try body(&town.streets)
    try magic.update(town)
  }

  @Test func `elements that two devices append are all in the list`() async throws {
    try await merge(after: Self.addStreets) {
      try changeStreets($0) { $0 += [Street("a"), Street("b")] }
    } then: {
      try changeStreets($0) { $0 += [Street("c"), Street("d")] }
    } check: { (magic, conflicts) throws in
      // Each device's elements keep their order.
      #expect(try streets(magic) == ["1", "2", "3", "4", "a", "c", "b", "d"])
      #expect(conflicts == [])
    }
  }

  @Test func `elements that two devices insert at one place are all there`() async throws {
    try await merge(after: Self.addStreets) {
      try changeStreets($0) { $0.insert(Street("a"), at: 1) }
    } then: {
      try changeStreets($0) { $0.insert(Street("b"), at: 1) }
    } check: { (magic, conflicts) throws in
      #expect(try streets(magic) == ["1", "a", "b", "2", "3", "4"])
      #expect(conflicts == [])
    }
  }

  @Test func `an element is removed while others are added`() async throws {
    try await merge(after: Self.addStreets) {
      try changeStreets($0) { $0.remove(at: 1) }
    } then: {
      try changeStreets($0) { $0.insert(Street("b"), at: 2) }
    } check: { (magic, conflicts) throws in
      #expect(try streets(magic) == ["1", "b", "3", "4"])
      #expect(conflicts == [])
    }
  }

  @Test func `an element that both devices remove is removed once`() async throws {
    try await merge(after: Self.addStreets) {
      try changeStreets($0) { $0.removeFirst(2) }
    } then: {
      try changeStreets($0) { $0.remove(at: 1) }
    } check: { (magic, conflicts) throws in
      #expect(try streets(magic) == ["3", "4"])
      #expect(conflicts == [])
    }
  }

  @Test func `a link that both devices remove is removed once if the object is twice in the list`()
    async throws
  {
    try await merge {
      let (town, street) = (Town("Vis"), Street("a"))
      town.streets = [street, street, Street("b")]
      try $0.update(town)
    } first: {
      try changeStreets($0) { $0.removeFirst() }
    } then: {
      try changeStreets($0) { $0.removeFirst() }
    } check: { (magic, conflicts) throws in
      #expect(try streets(magic) == ["a", "b"])
      #expect(conflicts == [])
    }
  }

  @Test func `an object that both devices append is in the list twice`() async throws {
    try await merge {
      try $0.update(Town("Vis"))
      try $0.update(Street("a"))
    } first: { magic in
      let street = try #require(try magic.fetch(Street.all).first)
      try changeStreets(magic) { $0.append(street) }
    } then: { magic in
      let street = try #require(try magic.fetch(Street.all).first)
      try changeStreets(magic) { $0.append(street) }
    } check: { (magic, conflicts) throws in
      #expect(try streets(magic) == ["a", "a"])
      #expect(conflicts == [])
    }
  }

  @Test func `an element that two devices move has the later place`() async throws {
    try await merge(after: Self.addStreets) {
      try changeStreets($0) { $0.append($0.removeFirst()) }
    } then: {
      try changeStreets($0) { $0.insert($0.removeFirst(), at: 2) }
    } check: { (magic, conflicts) throws in
      #expect(try streets(magic) == ["2", "3", "1", "4"])
      #expect(conflicts.map(\.kind) == [.value] && conflicts.map(\.table) == ["Town_streets"])
      #expect(conflicts.first?.lost.keys.sorted() == ["position"])
    }
  }

  @Test func `an element that is moved and later removed is removed`() async throws {
    try await merge(after: Self.addStreets) {
      try changeStreets($0) { $0.append($0.removeFirst()) }
    } then: {
      try changeStreets($0) { $0.removeFirst() }
    } check: { (magic, conflicts) throws in
      #expect(try streets(magic) == ["2", "3", "4"])
      #expect(conflicts.map(\.kind) == [.removalOfChanged])
      #expect(conflicts.map(\.table) == ["Town_streets"])
    }
  }

  @Test func `an element that is removed and later moved stays removed`() async throws {
    try await merge(after: Self.addStreets) {
      try changeStreets($0) { $0.removeFirst() }
    } then: {
      try changeStreets($0) { $0.append($0.removeFirst()) }
    } check: { (magic, conflicts) throws in
      #expect(try streets(magic) == ["2", "3", "4"])
      #expect(conflicts.map(\.kind) == [.changeOfRemoved])
      #expect(conflicts.map(\.table) == ["Town_streets"])
    }
  }

  // MARK: - Sets and dictionaries

  private static func addGuests(_ magic: MagicData) throws {
    let town = Town("Vis")
    for name in ["ann", "bob", "cleo"] {
      let citizen = Citizen(name)
      if name != "cleo" { town.guests.insert(citizen) }
      if name == "ann" { town.offices["till"] = citizen }
      try magic.update(citizen)
    }
    try magic.update(town)
  }

  private func citizen(_ name: String, _ magic: MagicData) throws -> Citizen {
    try #require(try magic.fetch(Citizen.where(\.$name == name).first))
  }

  private func key(_ name: String, _ magic: MagicData) throws -> Value {
    try #require(
      try magic.database.rows(
        "SELECT z_index FROM Citizen WHERE name = \(name)", as: Value.self
      ).first)
  }

  @Test func `an addition to a set that the device of a removal didn't know is reported`()
    async throws
  {
    let files = try TestFolder()
    var devices: [(magic: MagicData, sync: Sync)] = []
    for name in ["a", "b", "c"] {
      let magic = try await MagicData(path: "\(files.path)/\(name)")
      let sync = try await Sync(
        magic, through: .folder("\(files.path)/shared"),
        objects: [Town.self, Citizen.self, Street.self])
      devices.append((magic, sync))
    }
    let bob = Citizen("Bob")
    try await devices[0].magic.update(Town("Vis"))
    try await devices[0].magic.update(bob)
    try await settle(devices.map(\.sync))
    func add(_ magic: MagicData) async throws {
      let town = try await magic.object(of: Town.self, primary: "Vis")
      town.guests.insert(try await magic.object(of: Citizen.self, primary: bob.id))
      try await magic.update(town)
    }
    try await add(devices[1].magic)
    try await devices[1].sync.once()
    try await devices[0].sync.once()
    try await add(devices[2].magic)
    // The removal is the last edit.
    try await devices[0].magic.database.executeChange(
      "UPDATE magicdata_sync SET value = value + \(Int64(1) << 26) WHERE key = 'clock'")
    let town = try await devices[0].magic.object(of: Town.self, primary: "Vis")
    town.guests = []
    try await devices[0].magic.update(town)
    try await settle(devices.map(\.sync))
    for (magic, sync) in devices {
      #expect(try await magic.object(of: Town.self, primary: "Vis").guests.isEmpty)
      let conflicts = try await sync.conflicts()
      #expect(conflicts.map(\.kind) == [.removalOfChanged])
    }
    let conflict = try #require(try await devices[1].sync.conflicts().first)
    try await devices[1].sync.restore(conflict)
    try await settle(devices.map(\.sync))
    for (magic, _) in devices {
      #expect(try await magic.object(of: Town.self, primary: "Vis").guests.count == 1)
    }
  }

  @Test func `additions to a set and removals from it all count`() async throws {
    try await merge(after: Self.addGuests) {
      let town = try town($0)
      town.guests.remove(try citizen("ann", $0))
      town.guests.insert(try citizen("cleo", $0))
      try $0.update(town)
    } then: {
      let town = try town($0)
      town.guests.remove(try citizen("bob", $0))
      town.guests.insert(try citizen("cleo", $0))
      try $0.update(town)
    } check: { (magic, conflicts) throws in
      #expect(try town(magic).guests.map(\.name) == ["cleo"])
      #expect(conflicts == [])
    }
  }

  @Test func `two keys of a dictionary keep both objects`() async throws {
    try await merge(after: Self.addGuests) {
      let town = try town($0)
      town.offices["post"] = try citizen("bob", $0)
      try $0.update(town)
    } then: {
      let town = try town($0)
      town.offices["port"] = try citizen("cleo", $0)
      try $0.update(town)
    } check: { (magic, conflicts) throws in
      #expect(
        try town(magic).offices.mapValues(\.name) == ["till": "ann", "post": "bob", "port": "cleo"])
      #expect(conflicts == [])
    }
  }

  @Test func `the later of two objects for one key of a dictionary is kept`() async throws {
    try await merge(after: Self.addGuests) {
      let town = try town($0)
      town.offices["till"] = try citizen("bob", $0)
      town.offices["post"] = try citizen("bob", $0)
      try $0.update(town)
    } then: {
      let town = try town($0)
      town.offices["till"] = try citizen("cleo", $0)
      town.offices["post"] = try citizen("cleo", $0)
      try $0.update(town)
    } check: { (magic, conflicts) throws in
      #expect(try town(magic).offices.mapValues(\.name) == ["till": "cleo", "post": "cleo"])
      let bob: Value = try key("bob", magic)
      let cleo: Value = try key("cleo", magic)
      let values = Conflict(
        .value, "Town_offices", lost: ["target": bob], kept: ["target": cleo])
      let same = Conflict(
        .sameKey, "Town_offices", lost: ["target": bob], kept: ["target": cleo])
      #expect(Set(conflicts) == [values, same])
    }
  }

  @Test func `a key of a dictionary that one device removes stays removed`() async throws {
    for isRemovedFirst in [true, false] {
      let remove: @Sendable (MagicData) throws -> Void = {
        let town = try town($0)
        town.offices["till"] = nil
        try $0.update(town)
      }
      let change: @Sendable (MagicData) throws -> Void = {
        let town = try town($0)
        town.offices["till"] = try citizen("bob", $0)
        try $0.update(town)
      }
      try await merge(
        after: Self.addGuests, first: isRemovedFirst ? remove : change,
        then: isRemovedFirst ? change : remove
      ) { (magic, conflicts) throws in
        #expect(try town(magic).offices.isEmpty)
        let bob: Value = try key("bob", magic)
        #expect(
          conflicts == [
            Conflict(
              isRemovedFirst ? .changeOfRemoved : .removalOfChanged, "Town_offices",
              lost: ["target": bob])
          ])
      }
    }
  }

  // MARK: - Removed objects

  @Test func `an object that is changed and later removed is removed`() async throws {
    try await merge {
      try $0.update(Town("Vis", population: 1))
    } first: {
      let town = try town($0)
      town.population = 2
      try $0.update(town)
    } then: {
      try $0.remove(try town($0))
    } check: { (magic, conflicts) throws in
      #expect(try magic.count(of: Town.self) == 0)
      #expect(conflicts == [Conflict(.removalOfChanged, "Town", lost: ["population": .integer(2)])])
    }
  }

  @Test func `an object that is removed and later changed stays removed`() async throws {
    try await merge {
      try $0.update(Town("Vis", population: 1))
    } first: {
      try $0.remove(try town($0))
    } then: {
      let town = try town($0)
      town.population = 2
      try $0.update(town)
    } check: { (magic, conflicts) throws in
      #expect(try magic.count(of: Town.self) == 0)
      #expect(conflicts == [Conflict(.changeOfRemoved, "Town", lost: ["population": .integer(2)])])
    }
  }

  @Test func `a change of an object that was removed and inserted again is applied`() async throws {
    try await merge {
      try $0.update(Town("Vis", population: 1))
    } first: {
      try $0.remove(try town($0))
      try $0.update(Town("Vis", population: 1))
    } then: {
      let town = try town($0)
      town.height = 2
      try $0.update(town)
    } check: { (magic, conflicts) throws in
      let town = try town(magic)
      #expect(town.population == 1 && town.height == 2)
      #expect(conflicts == [])
    }
  }

  @Test func `links of an object that was removed and inserted again can be removed`() async throws
  {
    try await merge {
      let town = Town("Vis")
      town.guests = [Citizen("Ana")]
      town.offices["harbour"] = Citizen("Ivo")
      town.streets = [Street("First")]
      try $0.update(town)
    } first: {
      try $0.remove(try town($0))
      try $0.update(Town("Vis", population: 5))
    } then: {
      let town = try town($0)
      let ana = try #require(town.guests.first)
      town.streets.append(Street("New"))
      town.guests.insert(Citizen("Mia"))
      town.offices["library"] = ana
      try $0.update(town)
      town.streets.removeLast()
      town.guests = [ana]
      town.offices["library"] = nil
      try $0.update(town)
    } check: { (magic, conflicts) throws in
      let town = try town(magic)
      #expect(town.population == 5)
      #expect(town.streets.isEmpty && town.guests.isEmpty && town.offices.isEmpty)
      #expect(conflicts == [])
    }
  }

  @Test func `an object that both devices remove is no conflict`() async throws {
    try await merge(after: Self.addStreets) {
      try $0.remove(try town($0))
    } then: {
      try $0.remove(try town($0))
    } check: { (magic, conflicts) throws in
      #expect(try magic.count(of: Town.self) == 0)
      #expect(conflicts == [])
    }
  }

  @Test func `an element that is added to a removed object is reported`() async throws {
    for isRemovedFirst in [true, false] {
      let remove: @Sendable (MagicData) throws -> Void = { try $0.remove(try town($0)) }
      let append: @Sendable (MagicData) throws -> Void = {
        try changeStreets($0) { $0.append(Street("a")) }
      }
      try await merge(
        after: Self.addStreets, first: isRemovedFirst ? remove : append,
        then: isRemovedFirst ? append : remove
      ) { (magic, conflicts) throws in
        #expect(try magic.count(of: Town.self) == 0)
        // The element itself is an object, and exists.
        #expect(try magic.count(of: Street.self) == 5)
        #expect(conflicts.map(\.kind) == [isRemovedFirst ? .row : .removalOfChanged])
        #expect(conflicts.map(\.table) == ["Town_streets"])
      }
    }
  }

  // MARK: - References

  private static func addCitizen(_ magic: MagicData) throws {
    let ann = Citizen("ann")
    ann.photo = MagicAsset(value: "ann’s photo")
    let bob = Citizen("bob")
    ann.friends = [bob]
    try magic.update(ann)
    try magic.update(Town("Vis"))
  }

  private func merge(
    removing name: String, isRemovedFirst: Bool,
    referencing: @escaping @Sendable (MagicData) throws -> Void,
    location: SourceLocation = #_sourceLocation,
    check: (MagicData, [Conflict]) throws -> Void
  ) async throws {
    let remove: @Sendable (MagicData) throws -> Void = { try $0.remove(try citizen(name, $0)) }
    try await merge(
      after: Self.addCitizen, first: isRemovedFirst ? remove : referencing,
      then: isRemovedFirst ? referencing : remove, location: location, check: check)
  }

  @Test(arguments: [true, false])
  func `an optional reference to a removed object becomes nil`(isRemovedFirst: Bool) async throws {
    try await merge(removing: "ann", isRemovedFirst: isRemovedFirst) {
      let town = try town($0)
      town.mayor = try citizen("ann", $0)
      try $0.update(town)
    } check: { (magic, conflicts) throws in
      #expect(try town(magic).mayor == nil)
      #expect(try magic.fetch(Citizen.all).map(\.name) == ["bob"])
      #expect(conflicts.map(\.kind) == [.reference] && conflicts.map(\.table) == ["Town"])
      #expect(conflicts.first?.lost.keys.sorted() == ["mayor"])
    }
  }

  @Test(arguments: [true, false])
  func `a removed object that another device requires is kept`(isRemovedFirst: Bool) async throws {
    try await merge(removing: "ann", isRemovedFirst: isRemovedFirst) {
      try $0.update(House(of: try citizen("ann", $0)))
    } check: { (magic, conflicts) throws in
      let houses = try magic.fetch(House.all)
      #expect(houses.map(\.owner.name) == ["ann"])
      #expect(conflicts.map(\.kind) == [.removal] && conflicts.map(\.table) == ["Citizen"])
      // It has its links and its assets again.
      #expect(houses.first?.owner.friends.map(\.name) == ["bob"])
      #expect(try houses.first?.owner.photo?.get() == "ann’s photo")
    }
  }

  @Test(arguments: [true, false])
  func `a removal that is undone restores what it has removed`(isRemovedFirst: Bool) async throws {
    let remove: @Sendable (MagicData) throws -> Void = { try $0.remove(try citizen("ann", $0)) }
    let reference: @Sendable (MagicData) throws -> Void = {
      try $0.update(House(of: try citizen("ann", $0)))
    }
    try await merge(
      after: {
        let ann = Citizen("ann")
        let town = Town("Vis")
        town.mayor = ann
        town.guests = [ann]
        try $0.update(town)
        try $0.update(Pet("Rex", of: ann))
      }, first: isRemovedFirst ? remove : reference, then: isRemovedFirst ? reference : remove
    ) { (magic, conflicts) throws in
      #expect(try magic.fetch(Pet.all).map(\.keeper.name) == ["ann"])
      #expect(try town(magic).guests.map(\.name) == ["ann"])
      // References that the removal has set to NULL stay so.
      #expect(try town(magic).mayor == nil)
      #expect(Set(conflicts.map(\.kind)) == [.removal])
      #expect(conflicts.map(\.table).sorted() == ["Citizen", "Pet"])
    }
  }

  @Test(arguments: [true, false])
  func `a cascade removes what another device has added`(isRemovedFirst: Bool) async throws {
    try await merge(removing: "ann", isRemovedFirst: isRemovedFirst) {
      try $0.update(Pet("Rex", of: try citizen("ann", $0)))
    } check: { (magic, conflicts) throws in
      #expect(try magic.count(of: Pet.self) == 0)
      #expect(conflicts.map(\.kind) == [isRemovedFirst ? .row : .removalOfChanged])
      #expect(conflicts.map(\.table) == ["Pet"])
      #expect(conflicts.first?.lost["name"] == .text("Rex"))
    }
  }

  @Test(arguments: [true, false])
  func `a link to a removed object is reported`(isRemovedFirst: Bool) async throws {
    try await merge(removing: "ann", isRemovedFirst: isRemovedFirst) {
      let town = try town($0)
      town.guests.insert(try citizen("ann", $0))
      try $0.update(town)
    } check: { (magic, conflicts) throws in
      #expect(try town(magic).guests.isEmpty)
      #expect(conflicts.map(\.kind) == [isRemovedFirst ? .row : .removalOfChanged])
      #expect(conflicts.map(\.table) == ["Town_guests"])
    }
  }

  // MARK: - Unique values and keys

  @Test func `the later of two new objects has no unique value`() async throws {
    try await merge {
      let town = Town("Vis")
      town.code = "V"
      try $0.update(town)
    } then: {
      let town = Town("Hvar")
      town.code = "V"
      try $0.update(town)
    } check: { (magic, conflicts) throws in
      #expect(try town(magic).code == "V")
      #expect(try magic.object(of: Town.self, primary: "Hvar").code == nil)
      #expect(conflicts == [Conflict(.uniqueValue, "Town", lost: ["code": .text("V")])])
    }
  }

  @Test func `the later of two objects keeps its previous unique value`() async throws {
    try await merge {
      for name in ["Vis", "Hvar"] {
        let town = Town(name)
        town.code = name
        try $0.update(town)
      }
    } first: {
      let town = try town($0)
      town.code = "X"
      town.height = 1
      try $0.update(town)
    } then: {
      let town = try $0.object(of: Town.self, primary: "Hvar")
      town.code = "X"
      town.height = 2
      try $0.update(town)
    } check: { (magic, conflicts) throws in
      #expect(try town(magic).code == "X")
      let hvar = try magic.object(of: Town.self, primary: "Hvar")
      #expect(hvar.code == "Hvar" && hvar.height == 2)
      #expect(
        conflicts == [
          Conflict(.uniqueValue, "Town", lost: ["code": .text("X")], kept: ["code": .text("Hvar")])
        ])
    }
  }

  @Test func `the later of two new objects with one required unique value is lost`() async throws {
    try await merge {
      try $0.update(Licence("ZG 1", "ann"))
    } then: {
      try $0.update(Licence("ZG 1", "bob"))
    } check: { (magic, conflicts) throws in
      #expect(try magic.fetch(Licence.all).map(\.holder) == ["ann"])
      #expect(conflicts.map(\.kind) == [.row] && conflicts.map(\.table) == ["Licence"])
      #expect(conflicts.first?.lost["holder"] == .text("bob"))
    }
  }

  @Test func `a unique value that one device gives up and another takes is no conflict`()
    async throws
  {
    try await merge {
      let town = Town("Vis")
      town.code = "V"
      try $0.update(town)
    } first: {
      let town = try town($0)
      town.code = nil
      try $0.update(town)
      let other = Town("Hvar")
      other.code = "V"
      try $0.update(other)
    } then: {
      let town = try town($0)
      town.height = 2
      try $0.update(town)
    } check: { (magic, conflicts) throws in
      #expect(try town(magic).code == nil && town(magic).height == 2)
      #expect(try magic.object(of: Town.self, primary: "Hvar").code == "V")
      #expect(conflicts == [])
    }
  }

  @Test func `two new objects with one natural key become one object`() async throws {
    try await merge {
      let town = Town("Vis", population: 1)
      town.streets = [Street("a")]
      town.height = 7
      try $0.update(town)
    } then: {
      let town = Town("Vis", population: 2)
      town.streets = [Street("b")]
      town.height = 7
      try $0.update(town)
    } check: { (magic, conflicts) throws in
      #expect(try magic.count(of: Town.self) == 1)
      let town = try town(magic)
      #expect(town.population == 2 && town.height == 7)
      #expect(town.streets.map(\.name) == ["a", "b"])
      #expect(conflicts.map(\.kind) == [.sameKey] && conflicts.map(\.table) == ["Town"])
      #expect(conflicts.first?.lost["population"] == .integer(1))
      #expect(conflicts.first?.kept["population"] == .integer(2))
    }
  }

  @Test func `an object that was merged by its natural key can be changed`() async throws {
    let pair = try await MergingPair()
    try await pair.a.update(Town("Vis"))
    try await pair.makeLater()
    let other = Town("Vis")
    try await pair.b.update(other)
    other.height = 5
    try await pair.b.update(other)
    try await pair.settle()
    for (magic, height) in [(pair.a, 6), (pair.b, 7)] {
      let town = try town(magic)
      town.height = height
      try await magic.update(town)
      try await pair.settle()
    }
    try await pair.expectEqual()
    #expect(try town(pair.a).height == 7)
    #expect(try await pair.conflicts(pair.a) == [])
  }

  @Test func `two records with one natural key become one record`() async throws {
    try await merge {
      try $0.database.write { _ = try $0.insert(Setting(id: "size", value: 1)) }
    } then: {
      try $0.database.write { _ = try $0.insert(Setting(id: "size", value: 2)) }
    } check: { (magic, conflicts) throws in
      #expect(try magic.database.fetch(Setting.all).map(\.value) == [2])
      #expect(
        conflicts == [
          Conflict(.sameKey, "Setting", lost: ["value": .integer(1)], kept: ["value": .integer(2)])
        ])
    }
  }

  @Test func `objects with UUIDs are never the same`() async throws {
    try await merge {
      try $0.update(Citizen("ann"))
    } then: {
      try $0.update(Citizen("ann"))
    } check: { (magic, conflicts) throws in
      #expect(try magic.fetch(Citizen.all).map(\.name) == ["ann", "ann"])
      #expect(conflicts == [])
    }
  }

  @Test func `keys that the library assigns are different on each device`() async throws {
    try await merge {
      let ann = Citizen("ann")
      try $0.update([House(of: ann), House(of: ann)])
      try $0.database.write { for place in 1...3 { _ = try $0.insert(Visit(place: "a\(place)")) } }
    } then: {
      let bob = Citizen("bob")
      try $0.update([House(of: bob), House(of: bob)])
      try $0.database.write { for place in 1...3 { _ = try $0.insert(Visit(place: "b\(place)")) } }
    } check: { (magic, conflicts) throws in
      let houses = try magic.fetch(House.all)
      #expect(Set(houses.map(\.number)).count == 4)
      #expect(houses.map(\.owner.name).sorted() == ["ann", "ann", "bob", "bob"])
      #expect(
        try magic.database.fetch(Visit.all).map(\.place).sorted() == [
          "a1", "a2", "a3", "b1", "b2", "b3",
        ])
      #expect(conflicts == [])
    }
  }

  @Test func `rows to which two programs give one integer key become one row`() async throws {
    try await merge {
      try $0.database.executeChange("INSERT INTO span (id, low, high) VALUES (1, 1, 5)")
    } then: {
      try $0.database.executeChange("INSERT INTO span (id, low, high) VALUES (1, 2, 5)")
    } check: { (magic, conflicts) throws in
      #expect(try spans(magic) == ["2...5"])
      #expect(
        conflicts == [
          Conflict(.sameKey, "span", lost: ["low": .integer(1)], kept: ["low": .integer(2)])
        ])
    }
  }

  // MARK: - CHECK

  private func spans(_ magic: MagicData) throws -> [String] {
    try magic.database.rows("SELECT low, high FROM span ORDER BY id", as: Int.self, Int.self)
      .map { "\($0)...\($1)" }
  }

  @Test func `a value that a CHECK forbids together with an earlier one is lost`() async throws {
    try await merge {
      try $0.database.executeChange("INSERT INTO span (id, low, high) VALUES (1, 1, 5)")
    } first: {
      try $0.database.executeChange("UPDATE span SET low = 4")
    } then: {
      try $0.database.executeChange("UPDATE span SET high = 3")
    } check: { (magic, conflicts) throws in
      #expect(try spans(magic) == ["4...5"])
      #expect(
        conflicts == [
          Conflict(.constraint, "span", lost: ["high": .integer(3)], kept: ["high": .integer(5)])
        ])
    }
  }

  // MARK: - Assets

  private func assetCount(_ magic: MagicData) throws -> Int? {
    try magic.database.rows("SELECT count(*) FROM magicdata_asset", as: Int.self).first
  }

  private func changeMap(_ magic: MagicData, _ text: String) throws {
    let town = try town(magic)
    town.map.set(text)
    try magic.update(town)
  }

  @Test func `the later of two contents of an asset is kept`() async throws {
    // The later content has the size of the content that both replace.
    for texts in [("an earlier map", "b map"), ("a", "a later map"), ("", "x map"), ("c", "d")] {
      try await merge {
        let town = Town("Vis")
        town.map.set("a map")
        try $0.update(town)
      } first: {
        try changeMap($0, texts.0)
      } then: {
        try changeMap($0, texts.1)
      } check: { (magic, conflicts) throws in
        #expect(try town(magic).map.get() == texts.1)
        #expect(!conflicts.isEmpty && Set(conflicts.map(\.kind)) == [.value])
        #expect(try assetCount(magic) == 1)
      }
    }
  }

  @Test func `two equal contents of an asset are one`() async throws {
    try await merge {
      let town = Town("Vis")
      town.map.set("a map")
      try $0.update(town)
    } first: {
      try changeMap($0, "the same map")
    } then: {
      try changeMap($0, "the same map")
    } check: { (magic, conflicts) throws in
      #expect(try town(magic).map.get() == "the same map")
    }
  }

  @Test(arguments: [true, false])
  func `a content of a removed object is removed`(isRemovedFirst: Bool) async throws {
    let remove: @Sendable (MagicData) throws -> Void = { try $0.remove(try town($0)) }
    let change: @Sendable (MagicData) throws -> Void = { try changeMap($0, "another map") }
    try await merge(
      after: {
        let town = Town("Vis")
        town.map.set("a map")
        try $0.update(town)
      }, first: isRemovedFirst ? remove : change, then: isRemovedFirst ? change : remove
    ) { (magic, conflicts) throws in
      #expect(try magic.count(of: Town.self) == 0)
      #expect(!conflicts.isEmpty)
      #expect(
        Set(conflicts.map(\.kind)) == [isRemovedFirst ? .changeOfRemoved : .removalOfChanged])
      #expect(try assetCount(magic) == 0)
    }
  }

  // MARK: - Migrations

  @Test func `an older device waits until it has the new column`() async throws {
    let pair = try await MergingPair { try $0.update(Town("Vis")) }
    try await pair.a.database.executeChange("ALTER TABLE Town ADD COLUMN island TEXT")
    try await pair.a.database.executeChange("UPDATE Town SET island = 'Vis', height = 1")
    try await pair.makeLater()
    // The older device can still send.
    let town = try town(pair.b)
    town.population = 9
    try await pair.b.update(town)
    try await pair.settle()
    let report = try await pair.syncB.once()
    #expect(
      report.problems == [
        .newerSchema(device: pair.syncA.device, table: "Town", column: "island")
      ])
    #expect(try self.town(pair.a).population == 9)
    #expect(try self.town(pair.b).height == 0)

    try await pair.b.database.executeChange("ALTER TABLE Town ADD COLUMN island TEXT")
    try await pair.settle()
    #expect(try await pair.syncB.once().problems == [])
    try await pair.expectEqual()
    let names = try await pair.b.database.rows("SELECT island FROM Town", as: String?.self)
    #expect(names == ["Vis"])
    #expect(try self.town(pair.b).height == 1)
  }

  // MARK: - Clocks

  @Test(arguments: [3.0, 10_000])
  func `a clock that is ahead by years wins, and is reported`(years: Double) async throws {
    let pair = try await MergingPair { try $0.update(Town("Vis")) }
    let future = SyncTime(after: .zero, wall: Date(timeIntervalSinceNow: years * 365 * 86_400))
    try await pair.a.database.write { try SyncClock.advance(to: future, $0) }
    for (magic, height) in [(pair.a, 1), (pair.b, 2)] {
      let town = try town(magic)
      town.height = height
      try await magic.update(town)
    }
    try await pair.syncA.once()
    let report = try await pair.syncB.once()
    #expect(report.problems.count == 1)
    guard case .wrongClock(pair.syncA.device, let ahead)? = report.problems.first else {
      Issue.record("\(report.problems)")
      return
    }
    #expect(ahead > .seconds(1_000 * 86_400))
    try await pair.settle()
    try await pair.expectEqual()
    #expect(try town(pair.b).height == 1)
    #expect(
      try await pair.conflicts(pair.b) == [
        Conflict(.value, "Town", lost: ["height": .integer(2)], kept: ["height": .integer(1)])
      ])
    // A change that knows the other one is later, whatever the clocks show.
    let town = try town(pair.b)
    town.height = 3
    try await pair.b.update(town)
    try await pair.settle()
    #expect(try self.town(pair.a).height == 3)
    #expect(try await pair.conflicts(pair.a).count == 1)
  }
}

/// A conflict without its id and the key of the row.
struct MergingConflict: Hashable, CustomStringConvertible {
  let kind: SyncConflict.Kind
  let table: String
  let lost: [String: Value]
  let kept: [String: Value]

  init(
    _ kind: SyncConflict.Kind, _ table: String, lost: [String: Value] = [:],
    kept: [String: Value] = [:]
  ) {
    (self.kind, self.table, self.lost, self.kept) = (kind, table, lost, kept)
  }

  var description: String { "\(kind) \(table) lost \(lost) kept \(kept)" }
}

/// Two devices that have exchanged the same content.
struct MergingPair {
  let files: TestFolder
  let a: MagicData
  let b: MagicData
  let syncA: Sync
  let syncB: Sync

  init(_ start: (MagicData) throws -> Void = { _ in }) async throws {
    files = try TestFolder()
    a = try await MergingPair.store("\(files.path)/a")
    try start(a)
    syncA = try await Sync(a, through: .folder("\(files.path)/shared"))
    try await syncA.once()
    b = try await MergingPair.store("\(files.path)/b")
    syncB = try await Sync(b, through: .folder("\(files.path)/shared"))
    try await settle()
  }

  /// Returns a store that has all tables.
  private static func store(_ path: String) async throws -> MagicData {
    let magic = try await MagicData(path: path)
    try await magic.database.executeChange(
      """
      CREATE TABLE span (
        id INTEGER PRIMARY KEY, low INTEGER, high INTEGER, CHECK (low <= high))
      """)
    _ = try await SyncedTables(
      [
        MergingRuleTests.Town.self, MergingRuleTests.Citizen.self, MergingRuleTests.Street.self,
        MergingRuleTests.House.self, MergingRuleTests.Pet.self, MergingRuleTests.Licence.self,
      ], [MergingRuleTests.Visit.self, MergingRuleTests.Setting.self], of: magic)
    return magic
  }

  /// Makes the next change of `b` later than all changes of `a`.
  func makeLater() async throws {
    let clock = try await a.database.read { try SyncClock.current($0) }
    try await b.database.write { try SyncClock.advance(to: clock, $0) }
  }

  /// Runs passes until nothing is sent or received any more.
  func settle(
    _ syncs: [Sync]? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    try await MagicSyncTests.settle(syncs ?? [syncA, syncB], sourceLocation: sourceLocation)
  }

  func conflicts(_ magic: MagicData) async throws -> [MergingConflict] {
    try await magic.database.read { try SyncConflict.all($0) }.map {
      MergingConflict($0.kind, $0.table, lost: $0.lost, kept: $0.kept)
    }
  }

  /// Verifies that both devices have the same content and conflicts, and that nothing is damaged.
  func expectEqual(_ location: SourceLocation = #_sourceLocation) async throws {
    let difference = try await b.difference(from: a)
    #expect(difference.isEmpty, "\(difference)", sourceLocation: location)
    #expect(try await conflicts(a) == conflicts(b), sourceLocation: location)
    for magic in [a, b] {
      let dangling = try await magic.database.rows(
        "SELECT \"table\" FROM pragma_foreign_key_check", as: String.self)
      #expect(dangling == [], sourceLocation: location)
      let integrity = try await magic.database.rows("PRAGMA integrity_check", as: String.self)
      #expect(integrity == ["ok"], sourceLocation: location)
      let faults = try await magic.assets.verify()
      #expect(faults.isEmpty, "\(faults)", sourceLocation: location)
    }
  }
}
