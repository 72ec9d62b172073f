import Conformance
import Foundation
import MagicData
import Testing
import TestSupport

/// The types of a program before its migrations.
private enum Old {
  struct Leaf: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var text: String
    init() {}
    init(_ text: String) { self.text = text }
  }

  struct Tree: MagicObject {
    @PrimaryMagicValue var id: String
    @MagicValue var name: String
    @MagicValue var height: Double
    @OptionalMagicValue var best: Leaf?
    @MagicValue var leaves: [Leaf]
    @MagicValue var byName: [String: Leaf]
    @MagicValue var photo: MagicAsset<String>
    @OptionalMagicValue var note: String?

    static var traits: [PropertyTrait] { [.indexed(\Self.$name), .unique(\Self.$height)] }

    init() {}
    init(_ id: String) {
      self.id = id
      name = "name of \(id)"
      height = Double(id.count)
      best = Leaf("best of \(id)")
      leaves = [Leaf("a"), Leaf("b")]
      byName = ["x": leaves[1]]
      photo = .init(value: "photo of \(id)", pathExtension: "txt")
      note = "note"
    }
  }
}

/// The types after everything has been renamed.
private enum New {
  struct Leaf: MagicObject {
    static var tableName: String { "Blade" }
    @PrimaryMagicValue var number: Int
    @MagicValue var words: String
  }

  struct Tree: MagicObject {
    static var tableName: String { "Plant" }
    @PrimaryMagicValue var key: String
    @MagicValue var title: String
    @MagicValue var size: Double
    @OptionalMagicValue var first: Leaf?
    @MagicValue var blades: [Leaf]
    @MagicValue var named: [String: Leaf]
    @MagicValue var picture: MagicAsset<String>
    @OptionalMagicValue var note: String?

    static var traits: [PropertyTrait] { [.indexed(\Self.$title), .unique(\Self.$size)] }
  }
}

/// The type after every property that can be dropped has been dropped.
private enum Bare {
  struct Tree: MagicObject {
    @PrimaryMagicValue var id: String
    @MagicValue var height: Double
    init() {}
  }
}

private struct Landlord: MagicObject {
  @MagicValue var name: String

  init() {}
  init(_ name: String) { self.name = name }
}

private struct Shop: MagicObject {
  static var traits: [PropertyTrait] { [.onDelete(\Self.$owner, .cascade)] }

  @MagicValue var title: String
  @OptionalMagicValue var owner: Landlord?
  @MagicValue var helpers: [Landlord]

  init() { helpers = [] }
  init(_ title: String) {
    self.title = title
    helpers = []
  }
}

private final class Spouse: MagicObject {
  @MagicValue var other: Spouse
  @MagicValue var friends: [Spouse]
  @MagicValue var photo: MagicAsset<String>

  init() {
    friends = []
    photo = MagicAsset()
  }
}

/// Migrations that rename and drop types and properties with relations and assets.
@Suite(.everyEngine) struct ObjectMigrationTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private static let renames = Migration(
    "plants",
    .renameProperty("text", to: "words", of: "Leaf"),
    .renameProperty("id", to: "number", of: "Leaf"),
    .renameObjects("Leaf", to: "Blade"),
    .renameProperty("id", to: "key", of: "Tree"),
    .renameProperty("name", to: "title", of: "Tree"),
    .renameProperty("best", to: "first", of: "Tree"),
    .renameObjects("Tree", to: "Plant"),
    .renameProperty("height", to: "size", of: "Plant"),
    .renameProperty("leaves", to: "blades", of: "Plant"),
    .renameProperty("byName", to: "named", of: "Plant"),
    .renameProperty("photo", to: "picture", of: "Plant"))

  private func fill() throws {
    let magic = try MagicData.at(folder.path)
    try magic.update(["oak", "beech"].map(Old.Tree.init))
  }

  private func files(_ magic: MagicData) throws -> [String] {
    try magic.assetFiles
  }

  private func names(_ type: String, _ magic: MagicData) throws -> [String] {
    try magic.database.read {
      try $0.rows(
        "SELECT name FROM sqlite_schema WHERE type = \(type) AND sql IS NOT NULL AND name NOT LIKE 'magicdata%' AND name NOT LIKE 'sqlite%' ORDER BY name",
        as: String.self)
    }
  }

  @Test func `objects keep all their data when everything is renamed`() throws {
    try fill()
    let magic = try MagicData.at(folder.path)
    #expect(try magic.migrate([ObjectMigrationTests.renames]) == ["plants"])
    let oak = try magic.object(of: New.Tree.self, primary: "oak")
    #expect(oak.title == "name of oak" && oak.size == 3 && oak.note == "note")
    #expect(oak.first?.words == "best of oak")
    #expect(oak.blades.map(\.words) == ["a", "b"])
    #expect(oak.named.mapValues(\.number) == ["x": oak.blades[1].number])
    #expect(try oak.picture.get() == "photo of oak")
    #expect(try magic.check(of: New.Tree.self) == [])
    // Nothing exists twice: every table, index and trigger is named as in a new store.
    let fresh = try MagicData.fresh()
    try fresh.update([New.Tree]())
    let sample = New.Tree()
    (sample.title, sample.size, sample.blades, sample.named) = ("", 0, [], [:])
    sample.picture = .init()
    try fresh.update(sample)
    oak.title += "!"
    try magic.update(oak)
    for type in ["table", "index", "trigger"] {
      #expect(try names(type, magic) == names(type, fresh))
    }
    // Auto-increment continues, and assets are deleted with their objects.
    let blade = New.Leaf()
    blade.words = "new"
    let last = try magic.object(of: New.Leaf.self).map(\.number).max() ?? 0
    #expect(try magic.update(blade) == last + 1)
    try magic.remove(oak)
    #expect(try files(magic).count == 1)
    #expect(throws: MagicError.notFound(type: "Tree", primary: "oak")) {
      try magic.object(of: New.Tree.self, primary: "oak")
    }
  }

  @Test func `a new store has nothing to migrate`() async throws {
    let migrations = [
      ObjectMigrationTests.renames,
      Migration("no notes", .dropProperty("note", of: "Plant"), .dropObjects("Shrub")),
      Migration(
        "rules", .makeRequired("first", of: "Plant"), .makeOptional("size", of: "Plant"),
        .transform("Plant") { _ in ["title": "a"] }),
    ]
    let magic: MagicData = try await .at(folder.path)
    #expect(try await magic.migrate(migrations) == migrations.map(\.name))
    try await magic.update([Bare.Tree]())
    let again: MagicData = try await .at(folder.path)
    #expect(try await again.migrate(migrations).isEmpty)
  }

  @Test func `the async migrate also runs each migration once`() async throws {
    func blocking(_ magic: MagicData) throws -> [String] {
      try magic.migrate([ObjectMigrationTests.renames])
    }
    try fill()
    let magic = try await MagicData.at(folder.path)
    #expect(try await magic.migrate([ObjectMigrationTests.renames]) == ["plants"])
    #expect(try await magic.migrate([ObjectMigrationTests.renames]) == [])
    #expect(try blocking(magic) == [])
    #expect(try await magic.object(of: New.Tree.self, primary: "oak").title == "name of oak")
  }

  @Test func `properties are dropped with their values, links and files`() throws {
    try fill()
    let magic = try MagicData.at(folder.path)
    #expect(try files(magic).count == 2)
    let removals = Migration(
      "bare",
      .dropProperty("name", of: "Tree"), .dropProperty("best", of: "Tree"),
      .dropProperty("leaves", of: "Tree"), .dropProperty("byName", of: "Tree"),
      .dropProperty("photo", of: "Tree"), .dropProperty("note", of: "Tree"),
      .dropObjects("Leaf"))
    try magic.migrate([removals])
    #expect(try magic.object(of: Bare.Tree.self).map(\.height) == [3, 5])
    #expect(try magic.check(of: Bare.Tree.self) == [])
    #expect(try names("table", magic) == ["Tree"])
    #expect(try names("trigger", magic) == [])
    #expect(try files(magic) == [])
    // A migration runs only once.
    #expect(try magic.migrate([removals]) == [])
  }

  @Test func `a type is dropped with its links and files`() throws {
    try fill()
    let magic = try MagicData.at(folder.path)
    try magic.migrate([Migration("no trees", .dropObjects("Tree"))])
    #expect(try files(magic) == [])
    #expect(try names("table", magic) == ["Leaf"])
    #expect(try magic.count(of: Old.Leaf.self) == 6)
    #expect(try magic.count(of: Old.Tree.self) == 0)
    try magic.update(Old.Tree("ash"))
    #expect(try magic.object(of: Old.Tree.self, primary: "ash").leaves.count == 2)
  }

  @Test func `a type that others reference isn't dropped, whatever their delete rules`() throws {
    let magic = try MagicData.at(folder.path)
    for name in ["a", "b"] {
      let shop = Shop(name)
      shop.owner = Landlord("owner of \(name)")
      shop.helpers = [Landlord("1"), Landlord("2")]
      try magic.update(shop)
    }
    try magic.update(Shop("empty"))
    func drop() throws { try magic.migrate([Migration("no owners", .dropObjects("Landlord"))]) }
    let error = #expect(throws: SQLiteError.self) { try drop() }
    #expect(error?.message.contains("“owner” of “Shop” references it in 2 rows") == true)
    #expect(error?.message.contains("“helpers” of “Shop” references it in 4 rows") == true)
    #expect(
      try magic.object(of: Shop.self).map { $0.owner?.name } == ["owner of a", "owner of b", nil])
    // It also throws without referencing rows, because shops couldn't be saved with such a column.
    try magic.removeAll(Shop.all)
    #expect(throws: SQLiteError.self) { try drop() }
    try magic.update(Shop("again"))
    // Together with the properties that reference it, the type is dropped, and nothing else.
    try magic.migrate([
      Migration(
        "no owners", .dropProperty("owner", of: "Shop"), .dropProperty("helpers", of: "Shop"),
        .dropObjects("Landlord"))
    ])
    #expect(try names("table", magic) == ["Shop"])
    #expect(try magic.database.rows("SELECT title FROM Shop", as: String.self) == ["again"])
  }

  @Test func `a type whose objects require one another can be dropped`() throws {
    let magic = try MagicData.at(folder.path)
    let (one, two) = (Spouse(), Spouse())
    (one.other, two.other) = (two, one)
    one.photo = MagicAsset(value: "photo")
    try magic.update(one)
    try magic.migrate([Migration("alone", .dropObjects("Spouse"))])
    #expect(try names("table", magic) == [])
    #expect(try files(magic) == [])
    (one.other, two.other) = (one, two)
  }

  @Test func `a failed migration changes nothing`() throws {
    try fill()
    let magic = try MagicData.at(folder.path)
    #expect(throws: (any Error).self) {
      try magic.migrate([
        Migration(
          "half", .renameObjects("Tree", to: "Plant"), .dropProperty("missing", of: "Plant"))
      ])
    }
    #expect(try magic.object(of: Old.Tree.self, primary: "oak").leaves.count == 2)
    #expect(try magic.check(of: Old.Tree.self) == [])
  }

  @Test func `a type that was used before a migration is checked again after it`() throws {
    try fill()
    let magic = try MagicData.at(folder.path)
    #expect(try magic.count(of: Old.Leaf.self) == 6)
    #expect(try magic.object(of: Old.Leaf.self).count == 6)
    try magic.migrate([Migration("no text", .dropProperty("text", of: "Leaf"))])
    // The property counts as new and has no default, so the fetch throws.
    #expect(throws: SchemaError.self) { try magic.object(of: Old.Leaf.self) }
  }

  @Test func `renaming a type keeps tables whose names only begin with its name`() throws {
    let magic = try MagicData.at(folder.path)
    try magic.update(Old.Tree("oak"))
    // Looks like the link table of a property `ring`, which the type doesn't have.
    try magic.database.executeMultipleChanges(
      """
      CREATE TABLE Tree_ring (owner INTEGER REFERENCES Tree (z_index), target INTEGER, width REAL);
      INSERT INTO Tree_ring SELECT z_index, 1, 2.5 FROM Tree
      """)
    try magic.migrate([Migration("plants", .renameObjects("Tree", to: "Plant"))])
    #expect(try names("table", magic).contains("Tree_ring"))
    #expect(try names("table", magic).contains("Plant_leaves"))
  }

  /// Opens a folder as two stores, drops `Shop` in one, and returns the other with its shop.
  private func dropped(
    in folder: TestFolder
  ) throws -> (store: MagicData, shop: Shop) {
    let (migrated, other) = (try MagicData.at(folder.path), try MagicData.at(folder.path))
    let shop = Shop("old")
    try other.update(shop)
    // From now on, the other store has cached the tables.
    #expect(try other.objects(of: Shop.self).count == 1)
    #expect(try other.objects(of: Landlord.self).isEmpty)
    try migrated.migrate([Migration("no shops", .dropObjects("Shop"))])
    return (other, shop)
  }

  @Test(arguments: 0..<5) func `another open store notices a dropped type`(call: Int) throws {
    let (store, shop) = try dropped(in: folder)
    switch call {
    case 0: #expect(try store.objects(of: Shop.self).isEmpty)
    case 1: #expect(try store.update(Shop("new")) > 0)
    case 2: #expect(throws: MagicError.notSaved(type: "Shop")) { try store.remove(shop) }
    case 3: #expect(try store.removeAll(Shop.where(\.$title == "old")) == 0)
    default:
      try store.transaction {
        try store.update(Landlord("Ann"))
        try store.update(Shop("new"))
      }
      #expect(try store.objects(of: Shop.self).map(\.title) == ["new"])
    }
  }

  @Test func `an async call of another open store notices a dropped type`() async throws {
    let (store, _) = try dropped(in: folder)
    #expect(try await store.objects(of: Shop.self).isEmpty)
    let another = try TestFolder()
    let (other, _) = try dropped(in: another)
    #expect(try await other.insert([Shop("new"), Shop("newer")]).count == 2)
  }

  @Test func `another open store notices a dropped type without relations`() throws {
    let (migrated, other) = (try MagicData.at(folder.path), try MagicData.at(folder.path))
    try other.update(Old.Leaf("a"))
    #expect(try other.object(of: Old.Leaf.self, primary: 1).text == "a")
    try migrated.migrate([Migration("no leaves", .dropObjects("Leaf"))])
    #expect(try other.object(of: Old.Leaf.self, ifPresent: 1) == nil)
  }

  @Test func `an asset can't be made required`() throws {
    let magic = try MagicData.at(folder.path)
    try magic.update(Old.Tree("oak"))
    let error = #expect(throws: SchemaError.self) {
      try magic.migrate([Migration("photos", .makeRequired("photo", of: "Tree"))])
    }
    #expect(error?.differences == ["“photo” is an asset, which is always optional"])
  }
}
