import Conformance
import MagicData
import Testing
import TestSupport

private struct Owner: MagicObject {
  @MagicValue var name: String

  init() {}
  init(_ name: String) { self.name = name }
}

private struct Pet: MagicObject {
  @MagicValue var name: String
  @MagicValue var owner: Owner
  @OptionalMagicValue var vet: Owner?

  init() {}
  init(_ name: String, of owner: Owner) {
    self.name = name
    self.owner = owner
  }
}

private struct Kennel: MagicObject {
  @MagicValue var keeper: AsyncMagical<Owner>

  init() {}
}

private struct Orphan: MagicObject {
  static var traits: [PropertyTrait] { [.onDelete(\Self.$owner, .nullify)] }

  @MagicValue var owner: Owner

  init() {}
}

/// Two types whose objects require each other.
private struct Key: MagicObject, Sendable {
  @PrimaryMagicValue var id: String
  @MagicValue var lock: Lock

  init() {}
  init(_ id: String) { self.id = id }
}

private struct Lock: MagicObject, Sendable {
  @PrimaryMagicValue var number: Int
  @MagicValue var key: Key

  init() {}
}

/// A type whose objects require an object of the same type.
private final class Link: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var next: Link
  @MagicValue var others: [Link]

  init() { others = [] }
  convenience init(_ id: String) {
    self.init()
    self.id = id
  }
}

/// The types of a program's earlier version.
private enum Old {
  struct Pet: MagicObject {
    @MagicValue var name: String

    init() {}
    init(_ name: String) { self.name = name }
  }
}

private enum Loose {
  struct Pet: MagicObject {
    @MagicValue var name: String
    @OptionalMagicValue var owner: Owner?
    @OptionalMagicValue var vet: Owner?

    init() {}
  }
}

@Suite(.everyEngine) struct RequiredRelationTests {
  let magic: MagicData

  init() throws { magic = try MagicData.fresh() }

  @Test func `a required object can't be removed`() throws {
    let (ann, bob) = (Owner("Ann"), Owner("Bob"))
    let (rex, tom) = (Pet("Rex", of: ann), Pet("Tom", of: bob))
    rex.vet = bob
    try magic.update([rex, tom])
    #expect(throws: MagicError.restricted(type: "Owner", by: ["Pet.owner"])) {
      try magic.remove(ann)
    }
    #expect(throws: MagicError.restricted(type: "Owner", by: ["Pet.owner"])) {
      try magic.removeAll(Owner.all)
    }
    #expect(throws: MagicError.restricted(type: "Owner", by: ["Pet.owner"])) {
      try magic.remove(contentsOf: [bob, ann])
    }
    #expect(try magic.object(of: Pet.self).map(\.owner.name) == ["Ann", "Bob"])
    // The rejected removals changed nothing.
    ann.name = "Anna"
    try magic.update(ann)
    try magic.remove(tom)
    try magic.remove(bob)
    let pet = try #require(try magic.object(of: Pet.self).first)
    #expect(pet.owner.name == "Anna" && pet.vet == nil)
    try magic.remove(rex)
    try magic.remove(ann)
  }

  @Test func `the column rejects NULL from any SQL`() throws {
    try magic.update(Pet("Rex", of: Owner("Ann")))
    let error = #expect(throws: SQLiteError.self) {
      try magic.database.executeChange("UPDATE Pet SET owner = NULL")
    }
    #expect(error?.code == .notNullConstraint)
    #expect(try magic.check(of: Pet.self) == [])
  }

  @Test func `the target of a required lazy relation can't be removed`() throws {
    let (kennel, ann) = (Kennel(), Owner("Ann"))
    kennel.keeper = AsyncMagical(value: ann)
    try magic.update(kennel)
    #expect(throws: MagicError.restricted(type: "Owner", by: ["Kennel.keeper"])) {
      try magic.remove(ann)
    }
    #expect(try magic.object(of: Kennel.self).first?.keeper.get().name == "Ann")
  }

  @Test func `a nullify rule for a non-optional relation throws when the type is used`() throws {
    let error = #expect(throws: MagicError.self) { try magic.count(of: Orphan.self) }
    #expect(error?.description.contains("“owner” cannot become nil") == true)
  }

  @Test func `new objects that require each other are saved`() throws {
    let (key, lock) = (Key("k"), Lock())
    (key.lock, lock.key) = (lock, key)
    try magic.update(lock)
    #expect(try magic.object(of: Key.self, primary: "k").lock.key.id == "k")
    #expect(try magic.object(of: Lock.self, primary: lock.number).key.lock.number == lock.number)
    #expect(try magic.violations() == 0)
    // Both objects are saved, so the next save writes only the changes.
    let new = Lock()
    new.key = key
    key.lock = new
    try magic.update(key)
    #expect(try magic.object(of: Key.self, primary: "k").lock.number == new.number)
    #expect(new.number == lock.number + 1)
  }

  @Test func `a saved cycle keeps its keys when new objects have its primary values`() throws {
    func cycle(_ count: Int) -> [Link] {
      let links = (0..<count).map { Link("\($0)") }
      for index in links.indices { links[index].next = links[(index + 1) % count] }
      return links
    }
    func keys() throws -> [Int] {
      try magic.database.rows("SELECT z_index FROM Link ORDER BY id", as: Int.self)
    }
    try magic.update(cycle(3))
    #expect(try keys() == [1, 2, 3])
    // The same cycle with new objects, and one object more.
    let links = cycle(4)
    links[3].others = links
    try magic.update(links[2])
    #expect(try keys().prefix(3) == [1, 2, 3])
    let found = try magic.object(of: Link.self, primary: "0")
    #expect(found.next.next.next.id == "3")
    #expect(found.next.next.next.next === found)
    #expect(found.next.next.next.others.map(\.id) == ["0", "1", "2", "3"])
    #expect(try magic.violations() == 0)
  }

  @Test func `objects of one type that require each other are removed by one call`() throws {
    func makeCycle(_ names: String...) throws -> [Link] {
      let links = names.map { Link($0) }
      for (index, link) in links.enumerated() { link.next = links[(index + 1) % links.count] }
      try magic.update(links)
      return links
    }
    let links = try makeCycle("a", "b", "c")
    let outsider = Link("d")
    outsider.next = links[1]
    try magic.update(outsider)
    let restriction = MagicError.restricted(type: "Link", by: ["Link.next"])
    #expect(throws: restriction) { try magic.remove(links[0]) }
    // `outsider` isn't removed and requires one of them.
    #expect(throws: restriction) { try magic.remove(contentsOf: links) }
    #expect(throws: restriction) { try magic.removeAll(Link.where(\.$id != "d")) }
    #expect(try magic.count(of: Link.self) == 4)
    #expect(try magic.remove(contentsOf: links + [outsider]) == 4)
    #expect(try magic.database.rows("PRAGMA defer_foreign_keys", as: Int.self).first == 0)
    try magic.update(links)
    #expect(throws: CancellationError.self) {
      try magic.transaction {
        #expect(try magic.removeAll(Link.where(\.$id < "d")) == 3)
        throw CancellationError()
      }
    }
    #expect(try magic.count(of: Link.self) == 3)
    let others = try makeCycle("x", "y")
    try magic.transaction {
      // The restriction also applies in a transaction, which continues after the error.
      #expect(throws: restriction) { try magic.remove(others[0]) }
      let count = try magic.remove(contentsOf: others)
      #expect(count == 2)
    }
    #expect(try magic.removeAll(Link.all) == 3)
    #expect(try magic.database.executeQuery("PRAGMA foreign_key_check").first == nil)
  }

  @Test func `an object may require itself and can be removed`() throws {
    let link = Link("self")
    link.next = link
    try magic.update(link)
    #expect(try magic.object(of: Link.self, primary: "self").next.id == "self")
    try magic.remove(link)
    #expect(try magic.count(of: Link.self) == 0)
    link.next = link
  }

  @Test func `each object of a random graph with required relations is saved once`() throws {
    var random = SplitMix64(seed: 15_01)
    try magic.update(Self.selfLinked("seed"))
    for round in 0..<20 {
      let links = (0..<30).map { Link("\(round).\($0)") }
      for link in links {
        link.next = links[Int.random(in: 0..<30, using: &random)]
        link.others = (0..<3).map { _ in links[Int.random(in: 0..<30, using: &random)] }
      }
      // Some objects are already saved with the same primary values.
      let known = links.filter { _ in Bool.random(using: &random) }.map { Self.selfLinked($0.id) }
      try magic.update(known)
      try magic.update(links.shuffled(using: &random))
      let found = try magic.object(of: Link.self)
      let byID = Dictionary(uniqueKeysWithValues: found.map { ($0.id, $0) })
      for link in links {
        #expect(byID[link.id]?.next.id == link.next.id)
        #expect(byID[link.id]?.others.map(\.id) == link.others.map(\.id))
        #expect(byID[link.id]?.next === byID[link.next.id])
        link.next = link
        link.others = []
      }
      #expect(try magic.violations() == 0)
      #expect(try magic.count(of: Link.self) == 30 * (round + 1) + 1)
    }
  }

  private static func selfLinked(_ id: String) -> Link {
    let link = Link(id)
    link.next = link
    return link
  }

  @Test func `rows that a trigger inserts don't take keys reserved by the save`() throws {
    try magic.update(Self.selfLinked("first"))
    try magic.database.executeMultipleChanges(
      """
      CREATE TRIGGER copies AFTER INSERT ON Link WHEN new.id NOT LIKE 'copy%'
      BEGIN INSERT INTO Link (id, next) VALUES ('copy of ' || new.id, new.next); END
      """)
    let (one, two) = (Link("one"), Link("two"))
    (one.next, two.next) = (two, one)
    try magic.update(one)
    #expect(try magic.object(of: Link.self, primary: "one").next.id == "two")
    #expect(try magic.object(of: Link.self, primary: "copy of two").next.id == "one")
    #expect(try magic.count(of: Link.self) == 5)
    (one.next, two.next) = (one, two)
  }

  @Test func `a cycle with an object that was deleted by SQL is saved again`() throws {
    let (one, two) = (Link("one"), Link("two"))
    (one.next, two.next) = (two, one)
    try magic.update(one)
    try magic.database.withoutTransaction { connection in
      try connection.executeChange("PRAGMA foreign_keys = 0")
      try connection.executeChange("DELETE FROM Link WHERE id = 'one'")
      try connection.executeChange("PRAGMA foreign_keys = 1")
    }
    two.next = one
    one.next = two
    try magic.update(one)
    #expect(try magic.object(of: Link.self, primary: "one").next.next.id == "one")
    #expect(try magic.violations() == 0)
    (one.next, two.next) = (one, two)
  }

  @Test func `a save that fails midway leaves new objects unsaved`() throws {
    let (one, two) = (Link("one"), Link("two"))
    (one.next, two.next) = (two, Link("without"))
    #expect(throws: MagicError.missingValue(type: "Link", property: "next")) {
      try magic.update(one)
    }
    #expect(try magic.count(of: Link.self) == 0)
    two.next = one
    try magic.update(one)
    #expect(try magic.count(of: Link.self) == 2)
    (one.next, two.next) = (one, two)
  }

  @Test func `concurrent saves of overlapping cycles save each object once`() async throws {
    let magic = try await MagicData.fresh(.temporary)
    let keys = (0..<8).map { _ in Lock() }
    for (number, lock) in keys.enumerated() {
      let key = Key("\(number)")
      (key.lock, lock.key) = (keys[(number + 1) % 8], key)
    }
    let all = keys
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        let lock = all[number]
        group.addTask { try await magic.update(lock) }
      }
      try await group.waitForAll()
    }
    #expect(try await magic.count(of: Lock.self) == 8)
    #expect(try await magic.count(of: Key.self) == 8)
    #expect(try magic.violations() == 0)
  }

  // MARK: Keys

  @Test func `an object gets a lower key than the objects that it references`() throws {
    let nodes = (0..<4).map { Node("\($0)") }
    nodes[0].parent = nodes[1]
    nodes[1].parent = nodes[2]
    nodes[2].parent = nodes[3]
    try magic.update(nodes[0])
    #expect(try magic.object(of: Node.self).map(\.name) == ["0", "1", "2", "3"])
    // The other objects get keys in the order of the call.
    let more = (4..<8).map { Node("\($0)") }
    more[0].parent = more[3]
    more[1].children = [more[2], more[0]]
    try magic.update(more[0...2])
    #expect(try magic.object(of: Node.self).map(\.name) == (0..<8).map(String.init))
  }

  @Test func `objects with primary values also get lower keys than their targets`() throws {
    let (one, two) = (Link("b"), Link("a"))
    (one.next, two.next) = (two, two)
    try magic.update(one)
    #expect(try magic.object(of: Link.self).map(\.id) == ["b", "a"])
    two.next = Link("c")
    two.next.next = two
    try magic.update(one)
    #expect(try magic.object(of: Link.self).map(\.id) == ["b", "a", "c"])
    two.next = two
  }

  @Test func `explicit keys are kept, and generated keys follow them`() throws {
    let locks = (0..<3).map { _ in Lock() }
    for (number, lock) in locks.enumerated() {
      lock.key = Key("\(number)")
      lock.key.lock = locks[(number + 1) % 3]
    }
    locks[1].number = 100
    try magic.update(locks[0])
    #expect(locks.map(\.number) == [101, 100, 102])
    #expect(try magic.object(of: Lock.self, primary: 101).key.lock.number == 100)
  }

  // MARK: Existing tables

  @Test func `a new non-optional relation is rejected for a type with rows`() throws {
    let folder = try TestFolder()
    do { try MagicData.at(folder.path).update(Old.Pet("Rex")) }
    let magic = try MagicData.at(folder.path)
    let error = #expect(throws: SchemaError.self) { try magic.object(of: Pet.self) }
    #expect(error?.table == "Pet")
    #expect(
      error?.differences == [
        "“owner” INTEGER is new and has no default, but the table has rows"
      ])
    #expect(throws: SchemaError.self) { try magic.update(Pet("Tom", of: Owner("Ann"))) }
    #expect(try magic.database.rows("SELECT name FROM Pet", as: String.self) == ["Rex"])
  }

  @Test func `a new non-optional relation is added to a table without rows`() throws {
    let folder = try TestFolder()
    do {
      let magic = try MagicData.at(folder.path)
      let pet = Old.Pet("Rex")
      try magic.update(pet)
      try magic.remove(pet)
    }
    let magic = try MagicData.at(folder.path)
    let ann = Owner("Ann")
    try magic.update(Pet("Tom", of: ann))
    #expect(throws: MagicError.restricted(type: "Owner", by: ["Pet.owner"])) {
      try magic.remove(ann)
    }
    #expect(try magic.check(of: Pet.self) == [])
  }

  /// Creates a store as earlier versions of the library did: the relation's column is nullable, and
  /// removing the owner sets it to NULL.
  private static func formerStore(_ path: String) throws {
    let magic = try MagicData.at(path)
    try magic.update([Owner("Ann"), Owner("Bob")])
    try magic.database.executeMultipleChanges(
      """
      CREATE TABLE "Pet" ("z_index" INTEGER PRIMARY KEY AUTOINCREMENT, "name" TEXT NOT NULL,
      "owner" INTEGER REFERENCES "Owner" ("z_index") ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
      "vet" INTEGER REFERENCES "Owner" ("z_index") ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED);
      CREATE INDEX "Pet_owner" ON "Pet" ("owner");
      CREATE INDEX "Pet_vet" ON "Pet" ("vet");
      INSERT INTO Pet (name, owner, vet) VALUES ('Rex', 1, 2), ('Tom', 2, 2), ('Kit', 1, NULL)
      """)
    try magic.database.close()
  }

  @Test func `an older table is reported and restricts removals from then on`() throws {
    let folder = try TestFolder()
    try Self.formerStore(folder.path)
    let magic = try MagicData.at(folder.path)
    #expect(try magic.check(of: Pet.self).map(\.kind) == [.nullable, .deleteRule])
    #expect(try magic.object(of: Pet.self).map(\.owner.name) == ["Ann", "Bob", "Ann"])
    #expect(throws: MagicError.restricted(type: "Owner", by: ["Pet.owner"])) {
      try magic.removeAll(Owner.all)
    }
    #expect(try magic.check(of: Pet.self).map(\.kind) == [.nullable])
    let migration = Migration("owners", .makeRequired("owner", of: "Pet"))
    try magic.migrate([migration])
    #expect(try magic.check(of: Pet.self) == [])
    #expect(try magic.object(of: Pet.self).map(\.owner.name) == ["Ann", "Bob", "Ann"])
    #expect(try magic.object(of: Pet.self).map { $0.vet?.name } == ["Bob", "Bob", nil])
    #expect(throws: SQLiteError.self) {
      try magic.database.executeChange("UPDATE Pet SET owner = NULL")
    }
    let integrity = try magic.database.read {
      try $0.rows("PRAGMA integrity_check", as: String.self)
    }
    #expect(integrity == ["ok"])
    #expect(try magic.migrate([migration]) == [])
    // The same is true in the next process.
    try magic.database.close()
    let again = try MagicData.at(folder.path)
    try again.update(Pet("New", of: Owner("Cem")))
    #expect(try again.check(of: Pet.self) == [])
  }

  @Test func `rows without a required object are reported and prevent the migration`() throws {
    let folder = try TestFolder()
    try Self.formerStore(folder.path)
    let magic = try MagicData.at(folder.path)
    try magic.database.executeChange("DELETE FROM Owner WHERE name = 'Ann'")
    #expect(
      try magic.check(of: Pet.self).map(\.description).contains(
        "“owner” is NULL in 2 rows (z_index 1, 3), but its property is not optional"))
    let migration = Migration("owners", .makeRequired("owner", of: "Pet"))
    let error = #expect(throws: SchemaError.self) { try magic.migrate([migration]) }
    #expect(error?.differences == ["“owner” has no value in 2 rows (z_index 1, 3)"])
    try magic.database.executeChange("UPDATE Pet SET owner = 2 WHERE owner IS NULL")
    try magic.migrate([migration])
    #expect(try magic.object(of: Pet.self).map(\.owner.name) == ["Bob", "Bob", "Bob"])
  }

  @Test func `a migration that fails midway leaves the column nullable`() throws {
    let folder = try TestFolder()
    try Self.formerStore(folder.path)
    let magic = try MagicData.at(folder.path)
    #expect(throws: (any Error).self) {
      try magic.migrate([
        Migration(
          "half", .makeRequired("owner", of: "Pet"), .makeRequired("missing", of: "Pet"))
      ])
    }
    try magic.database.executeChange("UPDATE Pet SET owner = NULL WHERE name = 'Kit'")
    #expect(try magic.object(of: Loose.Pet.self).map { $0.owner?.name } == ["Ann", "Bob", nil])
  }

  @Test func `a relation that a migration makes optional can become nil`() throws {
    let folder = try TestFolder()
    do { try MagicData.at(folder.path).update(Pet("Rex", of: Owner("Ann"))) }
    let magic = try MagicData.at(folder.path)
    try magic.migrate([Migration("strays", .makeOptional("owner", of: "Pet"))])
    let pet = try #require(try magic.object(of: Loose.Pet.self).first)
    let ann = try #require(pet.owner)
    try magic.remove(ann)
    #expect(try magic.object(of: Loose.Pet.self).map { $0.owner == nil } == [true])
    #expect(try magic.check(of: Loose.Pet.self) == [])
  }
}
