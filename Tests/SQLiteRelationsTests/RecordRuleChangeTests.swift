import Conformance
import SQLiteCore
import SQLiteMapping
import SQLiteRelations
import Testing
import TestSupport

/// The record types of a program, and of its next version, which has other delete rules.
private enum Old {
  struct Owner: Record {
    static let primaryKeyType = PrimaryKeyType.autoIncrement
    var id: Int?
    var name: String
  }

  struct Pet: Record {
    static let primaryKeyType = PrimaryKeyType.autoIncrement
    static let traits: [PropertyTrait] = [
      .references("ownerID", Owner.self), .references("vetID", Owner.self),
    ]
    var id: Int?
    var ownerID: Int?
    var vetID: Int
  }

  struct Toy: Record {
    static let primaryKeyType = PrimaryKeyType.autoIncrement
    static let traits: [PropertyTrait] = [.references("petID", Pet.self)]
    var id: Int?
    var petID: Int?
  }
}

private enum New {
  struct Toy: Record {
    static let primaryKeyType = PrimaryKeyType.autoIncrement
    static let traits: [PropertyTrait] = [.references("petID", Old.Pet.self, onDelete: .cascade)]
    static let prototype: Toy? = Toy(petID: 0)
    var id: Int?
    var petID: Int?
  }

  struct Pet: Record {
    static let primaryKeyType = PrimaryKeyType.autoIncrement
    static let traits: [PropertyTrait] = [
      .references("ownerID", Old.Owner.self),
      .references("vetID", Old.Owner.self, onDelete: .cascade),
    ]
    var id: Int?
    var ownerID: Int?
    var vetID: Int
  }
}

@Suite(.everyEngine) struct RecordRuleChangeTests {
  let folder: TestFolder

  init() throws {
    folder = try TestFolder()
    let database = try open()
    try database.write { connection in
      let owner = try connection.update(Old.Owner(name: "Anna"))
      let pet = try connection.update(Old.Pet(ownerID: owner.id, vetID: owner.id ?? 0))
      let other = try connection.update(Old.Pet(ownerID: owner.id, vetID: owner.id ?? 0))
      try connection.update(Old.Toy(petID: pet.id))
      try connection.remove(other)
    }
    try database.close()
  }

  private func open() throws -> Database { try Database.at(folder.file()) }

  @Test func `an optional column is replaced by one with the new delete rule`()
    throws
  {
    let database = try open()
    #expect(
      try database.write { try $0.check(of: New.Toy.self) }.map(\.kind) == [.deleteRule])
    try database.write { try $0.update(New.Toy(petID: 1)) }
    #expect(try database.write { try $0.check(of: New.Toy.self) }.isEmpty)
    try database.write { try $0.remove(of: Old.Pet.self, primary: 1) }
    #expect(try database.read { try $0.count(of: New.Toy.self) } == 0)
  }

  @Test func `an unreferenced table is rebuilt with the rule and keeps its key counter`()
    throws
  {
    let database = try open()
    try database.executeChange("DROP TABLE Toy")
    let pet = try database.write { try $0.insert(New.Pet(ownerID: nil, vetID: 1)) }
    #expect(pet.id == 3)
    #expect(try database.read { try $0.objects(of: New.Pet.self) }.map(\.id) == [1, 3])
    try database.write { try $0.remove(of: Old.Owner.self, primary: 1) }
    #expect(try database.read { try $0.count(of: New.Pet.self) } == 0)
  }

  @Test func `a referenced table gets the rule, and rows that reference it are unchanged`() throws {
    let database = try open()
    try database.write { try $0.insert(New.Pet(ownerID: nil, vetID: 1)) }
    #expect(try database.write { try $0.check(of: New.Pet.self) }.isEmpty)
    #expect(try database.rows("SELECT id FROM Pet", as: Int.self) == [1, 3])
    #expect(try database.rows("SELECT petID FROM Toy", as: Int.self) == [1])
    try database.write { try $0.remove(of: Old.Owner.self, primary: 1) }
    #expect(try database.read { try $0.count(of: New.Pet.self) } == 0)
    #expect(try database.rows("SELECT petID FROM Toy", as: Int?.self) == [nil])
  }

  @Test(
    arguments: [
      "CREATE TABLE Toy (id INTEGER PRIMARY KEY AUTOINCREMENT, petID REFERENCES Pet)",
      "CREATE TABLE Toy (id INTEGER PRIMARY KEY AUTOINCREMENT, [petID] INT REFERENCES Pet(id) ON UPDATE SET NULL ON DELETE NO ACTION MATCH FULL)",
      "CREATE TABLE Toy (id INTEGER PRIMARY KEY AUTOINCREMENT /* , ( */, petID INT, FOREIGN KEY (`petid`) REFERENCES Pet (id) ON DELETE SET DEFAULT DEFERRABLE)",
      "CREATE TABLE Toy (id INTEGER PRIMARY KEY AUTOINCREMENT, \"a \"\"( ,\" TEXT DEFAULT ('x,(' || 'petID'), petID INT CHECK (petID <> 'REFERENCES') REFERENCES Pet -- ,\n)",
    ])
  func `a table that other code created gets the rule in its own SQL text`(sql: String) throws {
    let database = try open()
    try database.executeChange("DROP TABLE Toy")
    try database.executeChange(SQL(unchecked: sql))
    try database.write { try $0.update(New.Toy(petID: 1)) }
    #expect(try database.write { try $0.foreignKeys(of: "Toy") }.map(\.onDelete) == ["CASCADE"])
    try database.write { try $0.remove(of: Old.Pet.self, primary: 1) }
    #expect(try database.read { try $0.count(of: New.Toy.self) } == 0)
  }

  @Test func `a migration doesn't drop a table that rows reference`() throws {
    let database = try open()
    let error = #expect(throws: SQLiteError.self) {
      try database.migrate([Migration("no pets", .dropTable("Pet"))])
    }
    #expect(error?.message.contains("“petID” of “Toy” references it in 1 row") == true)
    #expect(try database.rows("SELECT petID FROM Toy", as: Int?.self) == [1])
    try database.migrate([Migration("no pets", .dropTable("Toy"), .dropTable("Pet"))])
    #expect(try database.read { try $0.existingTables() }.contains("Pet") == false)
  }
}
