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

/// The same after all has been renamed.
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

/// The same after all has been removed that can be.
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

/// Renames and removals by declared migrations, on objects with relations and assets.
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

  @Test func `objects keep everything when all of it is renamed`() throws {
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
    // Nothing was made twice: each thing has the name that it would have in a new store.
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
    // The counters go on, and assets go with their objects.
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

  @Test func `migrations are made once without blocking too`() async throws {
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

  @Test func `properties are removed with their values, links and files`() throws {
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
    // Made once, and never again.
    #expect(try magic.migrate([removals]) == [])
  }

  @Test func `objects are removed with their links and files`() throws {
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

  @Test func `a type that others lead to is not dropped, whatever their rules`() throws {
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
    #expect(error?.message.contains("“owner” of “Shop” leads to it in 2 rows") == true)
    #expect(error?.message.contains("“helpers” of “Shop” leads to it in 4 rows") == true)
    #expect(
      try magic.object(of: Shop.self).map { $0.owner?.name } == ["owner of a", "owner of b", nil])
    // Also if no row leads there: the column would keep its type from being written.
    try magic.removeAll(Shop.all)
    #expect(throws: SQLiteError.self) { try drop() }
    try magic.update(Shop("again"))
    // In one migration with what leads there it is fine, and takes nothing else along.
    try magic.migrate([
      Migration(
        "no owners", .dropProperty("owner", of: "Shop"), .dropProperty("helpers", of: "Shop"),
        .dropObjects("Landlord"))
    ])
    #expect(try names("table", magic) == ["Shop"])
    #expect(try magic.database.rows("SELECT title FROM Shop", as: String.self) == ["again"])
  }

  @Test func `objects that need one another are dropped with their type`() throws {
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

  @Test func `a migration that fails changes nothing`() throws {
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

  @Test func `a type that was used before its migration is looked at again`() throws {
    try fill()
    let magic = try MagicData.at(folder.path)
    #expect(try magic.count(of: Old.Leaf.self) == 6)
    #expect(try magic.object(of: Old.Leaf.self).count == 6)
    try magic.migrate([Migration("no text", .dropProperty("text", of: "Leaf"))])
    // The property is there again, as a new one that has no default: that is refused by name.
    #expect(throws: SchemaError.self) { try magic.object(of: Old.Leaf.self) }
  }

  @Test func `a type whose name begins with another's keeps its tables`() throws {
    let magic = try MagicData.at(folder.path)
    try magic.update(Old.Tree("oak"))
    // Looks like the links of a property “ring” of a type that is not asked about.
    try magic.database.executeMultipleChanges(
      """
      CREATE TABLE Tree_ring (owner INTEGER REFERENCES Tree (z_index), target INTEGER, width REAL);
      INSERT INTO Tree_ring SELECT z_index, 1, 2.5 FROM Tree
      """)
    try magic.migrate([Migration("plants", .renameObjects("Tree", to: "Plant"))])
    #expect(try names("table", magic).contains("Tree_ring"))
    #expect(try names("table", magic).contains("Plant_leaves"))
  }

  /// Two open stores with shops, one of which then drops their type.
  private func dropped(
    in folder: TestFolder
  ) throws -> (store: MagicData, shop: Shop) {
    let (here, there) = (try MagicData.at(folder.path), try MagicData.at(folder.path))
    let shop = Shop("old")
    try there.update(shop)
    // From now on the other store knows the tables.
    #expect(try there.objects(of: Shop.self).count == 1)
    #expect(try there.objects(of: Landlord.self).isEmpty)
    try here.migrate([Migration("no shops", .dropObjects("Shop"))])
    return (there, shop)
  }

  @Test(arguments: 0..<5) func `another open store learns that a type was dropped`(call: Int) throws
  {
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

  @Test func `another open store learns it without blocking too`() async throws {
    let (store, _) = try dropped(in: folder)
    #expect(try await store.objects(of: Shop.self).isEmpty)
    let another = try TestFolder()
    let (other, _) = try dropped(in: another)
    #expect(try await other.insert([Shop("new"), Shop("newer")]).count == 2)
  }

  @Test func `another open store learns that a plain type was dropped`() throws {
    let (here, there) = (try MagicData.at(folder.path), try MagicData.at(folder.path))
    try there.update(Old.Leaf("a"))
    #expect(try there.object(of: Old.Leaf.self, primary: 1).text == "a")
    try here.migrate([Migration("no leaves", .dropObjects("Leaf"))])
    #expect(try there.object(of: Old.Leaf.self, ifPresent: 1) == nil)
  }

  @Test func `an asset cannot be required`() throws {
    let magic = try MagicData.at(folder.path)
    try magic.update(Old.Tree("oak"))
    let error = #expect(throws: SchemaError.self) {
      try magic.migrate([Migration("photos", .makeRequired("photo", of: "Tree"))])
    }
    #expect(error?.differences == ["“photo” is an asset, which may always be without content"])
  }
}
