import Conformance
import Foundation
import MagicData
import Testing

/// The examples of the articles on migrations, observation, transactions and errors, line by line.
@Suite(.everyEngine) struct ReadmeGuideTests {
  private struct Ship: MagicObject {
    @PrimaryMagicValue var name: String
    @MagicValue var tons: Int
    @OptionalMagicValue var captain: String?

    init() {}

    init(_ name: String, tons: Int) {
      self.name = name
      self.tons = tons
    }
  }

  let magic: MagicData

  init() throws {
    magic = try SQLiteObjects.MagicData.fresh()
    try magic.update([Ship("Beagle", tons: 242), Ship("Titanic", tons: 46_328)])
  }

  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// Opens a store on the test's engine when the article's code calls `MagicData(path:options:)`.
  private func MagicData(
    path: String, options: Database.Options
  ) async throws -> SQLiteObjects.MagicData { try await .at(path, options: options) }

  @Test func `transactions and reads combine several calls`() async throws {
    let magic = magic
    let tons = try await magic.transaction {
      let ship = try magic.object(of: Ship.self, primary: "Beagle")
      ship.tons += 10
      try magic.update(ship)
      return ship.tons
    }
    let (all, heavy) = try await magic.read {
      (try magic.count(of: Ship.self), try magic.count(of: Ship.self, where: \.$tons > 1_000))
    }
    #expect((tons, all, heavy) == (252, 2, 1))
    let count = try await magic.read(deadline: .now + .seconds(60)) {
      try magic.count(of: Ship.self, where: \.$name != "")
    }
    #expect(count == 2)
    try await magic.updateAll(Ship.where(\.$captain == nil), set: [\.$tons += 1])
    #expect(try await magic.object(of: Ship.self, primary: "Beagle").tons == 253)
  }

  @Test func `tasks that share an object lose no increment in transactions`() async throws {
    let magic = magic
    let ship = try await magic.object(of: Ship.self, primary: "Beagle")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          try await magic.transaction {
            ship.tons += 1
            try magic.update(ship)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(ship.tons == 246)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          try await magic.updateAll(Ship.where(\.$name == "Beagle"), set: [\.$tons += 1])
        }
      }
      try await group.waitForAll()
    }
    #expect(try await magic.object(of: Ship.self, primary: "Beagle").tons == 250)
  }

  @Test func `a store is opened with options and closed`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.path
    var options = Database.Options()
    options.groupCommit.includesAsyncWrites = true
    let magic = try await MagicData(path: path, options: options)
    try await magic.update(Ship("Beagle", tons: 242))
    try await magic.close()
    await #expect(throws: MagicError.closed) { try await magic.count(of: Ship.self) }
  }

  @Test func `results, closures and changes can be observed`() async throws {
    let magic = magic
    let remover = Task { _ = try await magic.removeAll(Ship.all) }
    for try await ships in magic.observe(Ship.where(\.$tons > 100).limit(20)) {
      print(ships.map(\.name))
      if ships.isEmpty { break }
    }
    try await remover.value
    let states = magic.observe { magic in
      [try magic.count(of: Ship.self), try magic.count(of: Ship.self, where: \.$captain == nil)]
    }
    for try await state in states {
      #expect(state == [0, 0])
      break
    }
    let writer = Task {
      while !Task.isCancelled { try await magic.update(Ship("Victory", tons: 3_500)) }
    }
    for try await _ in magic.changes(of: Ship.self) {
      print(try await magic.count(of: Ship.self))
      break
    }
    writer.cancel()
  }

  @Test func `migrations can be planned, run and listed`() async throws {
    try await magic.database.executeChange("ALTER TABLE Ship RENAME COLUMN captain TO master")
    let migrations = [
      Migration("ships have captains", .renameProperty("master", to: "captain", of: "Ship")),
      Migration(
        "names in capitals",
        .transform("Ship") { row in
          ["name": try row.get("name", as: String.self).uppercased()]
        }),
    ]
    let pending = try await magic.database.migrationPlan(of: migrations)
    #expect(pending.count == 4)
    try await magic.migrate([
      Migration("ships have captains", .renameProperty("master", to: "captain", of: "Ship")),
      Migration(
        "names in capitals",
        .transform("Ship") { row in
          ["name": try row.get("name", as: String.self).uppercased()]
        }),
    ])
    let made = try await magic.database.appliedMigrations()
    #expect(made == ["ships have captains", "names in capitals"])
    #expect(try await magic.object(of: Ship.self, primary: "BEAGLE").tons == 242)
  }

  @Test func `check lists the differences between a type and its table`() throws {
    for difference in try magic.check(of: Ship.self) {
      print(difference, difference.isResolvedByWriting)
    }
    #expect(try magic.check(of: Ship.self).isEmpty)
  }

  @Test func `a constraint error reports its columns, SQL and offset`() async throws {
    let name = "Beagle"
    do {
      try await magic.database.executeChange("INSERT INTO Ship (name, tons) VALUES (\(name), 1)")
    } catch let error as SQLiteError where error.code == .uniqueConstraint {
      print(error.constraint?.columns ?? [], error.sql ?? "", error.offset ?? 0)
    }
    #expect(try await magic.count(of: Ship.self) == 2)
  }
}
