import Conformance
import MagicData
import Testing
import TestSupport

/// The types of a program before its delete rules change.
private enum Old {
  struct Boss: MagicObject {
    @MagicValue var name: String

    init() {}
    init(_ name: String) { self.name = name }
  }

  struct Worker: MagicObject {
    static var traits: [PropertyTrait] { [.indexed(\Self.$boss, \Self.$name)] }

    @PrimaryMagicValue var id: String
    @OptionalMagicValue var boss: Boss?
    @MagicValue var name: String
    @MagicValue var friends: [Boss]
    @MagicValue var peers: MagicalSet<Worker>
    @MagicValue var file: MagicAsset<String>

    init() {
      friends = []
      peers = []
      file = MagicAsset(value: "content")
    }
  }
}

private enum New {
  struct Boss: MagicObject {
    @MagicValue var name: String

    init() {}
  }

  struct Worker: MagicObject {
    static var traits: [PropertyTrait] {
      [
        .indexed(\Self.$boss, \Self.$name), .onDelete(\Self.$boss, .cascade),
        .onDelete(\Self.$friends, .restrict),
      ]
    }

    @PrimaryMagicValue var id: String
    @OptionalMagicValue var boss: Boss?
    @MagicValue var name: String
    @MagicValue var friends: [Boss]
    @MagicValue var peers: MagicalSet<Worker>
    @MagicValue var file: MagicAsset<String>

    init() {
      friends = []
      peers = []
      file = MagicAsset(value: "content")
    }
  }
}

@Suite(.everyEngine) struct DeleteRuleChangeTests {
  let folder: TestFolder

  /// Creates a store of the old types: three workers, two of them with the same boss. The boss is a
  /// friend of the third.
  init() throws {
    folder = try TestFolder()
    let magic = try MagicData.at(folder.path)
    let (anna, bert) = (Old.Boss("Anna"), Old.Boss("Bert"))
    let workers = ["x", "y", "z"].map { name in
      let worker = Old.Worker()
      worker.name = name
      worker.boss = name == "z" ? bert : anna
      return worker
    }
    workers[2].friends = [anna, bert, anna]
    workers[0].peers = MagicalSet(workers)
    try magic.update(workers)
    try magic.database.close()
  }

  private func open() throws -> MagicData { try MagicData.at(folder.path) }

  @Test func `check reports a changed delete rule`() throws {
    let magic = try open()
    #expect(try !magic.check(of: New.Worker.self).isEmpty)
  }

  @Test func `check reports no difference if the rules are the same`() throws {
    let magic = try open()
    #expect(try magic.check(of: Old.Worker.self) == [])
  }

  @Test func `the next save applies the new rules and keeps the data`() throws {
    let magic = try open()
    let worker = try #require(try magic.objects(of: New.Worker.self, where: \.$name == "x").first)
    worker.name = "X"
    try magic.update(worker)
    #expect(try magic.check(of: New.Worker.self) == [])
    let workers = try magic.object(of: New.Worker.self)
    #expect(workers.map(\.name) == ["X", "y", "z"])
    #expect(workers.map { $0.boss?.name } == ["Anna", "Anna", "Bert"])
    #expect(workers[2].friends.map(\.name) == ["Anna", "Bert", "Anna"])
    #expect(workers[0].peers.count == 3)
    #expect(try workers[0].file.get() == "content")
    #expect(try magic.violations() == 0)
    let integrity = try magic.database.read {
      try $0.rows("PRAGMA integrity_check", as: String.self)
    }
    #expect(integrity == ["ok"])
  }

  @Test func `the new rules are enforced`() throws {
    let magic = try open()
    let workers = try magic.object(of: New.Worker.self)
    let anna = try #require(workers[0].boss)
    workers[0].name = "X"
    try magic.update(workers[0])
    #expect(throws: MagicError.restricted(type: "Boss", by: ["Worker.friends"])) {
      try magic.remove(anna)
    }
    workers[2].friends = []
    try magic.update(workers[2])
    try magic.remove(anna)
    #expect(try magic.object(of: New.Worker.self).map(\.name) == ["z"])
    // Assets of workers that the cascade removed are deleted, too.
    let assets = try magic.database.rows("SELECT count(*) FROM magicdata_asset", as: Int.self)
    #expect(assets == [1])
  }

  @Test func `indexes and triggers are recreated`() throws {
    func objects(_ magic: MagicData) throws -> [String] {
      try magic.database.rows(
        "SELECT type || ' ' || name FROM sqlite_schema WHERE type IN ('index', 'trigger') AND name NOT LIKE 'sqlite_%' ORDER BY 1",
        as: String.self)
    }
    let magic = try open()
    try magic.database.executeChange("CREATE INDEX mine ON Worker (boss) WHERE name > 'm'")
    let before = try objects(magic)
    try magic.update(New.Worker.named("new"))
    #expect(try objects(magic) == before)
  }

  @Test func `a failed save leaves the rules unchanged`() throws {
    let magic = try open()
    #expect(throws: MagicError.self) { try magic.update(New.Worker()) }
    #expect(try !magic.check(of: New.Worker.self).isEmpty)
    #expect(try magic.database.rows("SELECT name FROM Worker", as: String.self).count == 3)
    try magic.update(New.Worker.named("new"))
    #expect(try magic.check(of: New.Worker.self) == [])
  }

  @Test func `a rule can be changed back`() throws {
    try open().update(New.Worker.named("new"))
    let magic = try open()
    #expect(try !magic.check(of: Old.Worker.self).isEmpty)
    let worker = try #require(try magic.object(of: Old.Worker.self).first)
    let anna = try #require(worker.boss)
    worker.name = "X"
    try magic.update(worker)
    try magic.remove(anna)
    #expect(try magic.object(of: Old.Worker.self).map { $0.boss?.name } == [nil, nil, "Bert", nil])
  }
}

extension New.Worker {
  fileprivate static func named(_ name: String) -> New.Worker {
    let worker = New.Worker()
    worker.name = name
    return worker
  }
}
