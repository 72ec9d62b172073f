import Conformance
import MagicData
import SQLiteSchema
import Testing

/// Tests the rebuilding of object tables.
@Suite(.everyEngine) struct ObjectRebuildTests {
  struct Town: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var name: String
    @MagicValue var size: Int
    @OptionalMagicValue var next: Town?

    init() {}

    init(_ name: String, _ size: Int) {
      self.name = name
      self.size = size
    }
  }

  @Test func `objects keep their identities and relations when their table is rebuilt`() throws {
    let magic =
      try Engine.current == .cluster
      ? MagicData(server: .fresh(), assetFolder: nil) : MagicData(type: .temporary)
    let ulm = Town("Ulm", 3)
    let bonn = Town("Bonn", 30)
    bonn.next = ulm
    try magic.update(bonn)
    try magic.migrate([
      Migration(
        "sizes", .changeType("size", to: "NUMERIC", in: "Town"),
        .addConstraint("CONSTRAINT positive CHECK (size > 0)", in: "Town"),
        .addConstraint("COLLATE NOCASE", of: "name", in: "Town"))
    ])
    let found = try magic.objects(of: Town.self, where: \.$name == "bonn")
    #expect(found.count == 1)
    #expect(found.first?.id == bonn.id)
    #expect(found.first?.next?.name == "Ulm")
    #expect(throws: SQLiteError.self) { try magic.update(Town("nowhere", -1)) }
    try magic.update(Town("Trier", 8))
    #expect(try magic.count(of: Town.self) == 3)
    // The relation is optional, so removing the target sets it to nil.
    try magic.remove(ulm)
    #expect(try magic.object(of: Town.self, primary: bonn.id).next == nil)
    #expect(try magic.check(of: Town.self).filter { !$0.isHarmless }.isEmpty)
  }
}
