import Conformance
import Foundation
import MagicData
import Testing
import TestSupport

/// The first of three versions of a type.
private enum Old {
  struct Item: MagicObject {
    @PrimaryMagicValue var id: String
    @MagicValue var name: String
    init() {}
    init(_ name: String) { self.name = name }
  }
}

private enum New {
  struct Item: MagicObject {
    @PrimaryMagicValue var id: String
    @MagicValue var name: String
    @MagicValue var stars: Int = 3
    @MagicValue var made: Date
    @MagicValue var tags: [String]
    @OptionalMagicValue var note: String?
    @OptionalMagicValue var parent: Item?
    @MagicValue var parts: [Item]
    @MagicValue var file: MagicAsset<String>

    static var traits: [PropertyTrait] {
      [.indexed(\Self.$stars), .default(\Self.$made, Date(timeIntervalSince1970: 7))]
    }

    init() {
      tags = ["old"]
      parts = []
      file = .init()
    }
  }
}

private enum Broken {
  struct Item: MagicObject {
    @PrimaryMagicValue var id: String
    @MagicValue var name: String
    @MagicValue var size: Int
    init() {}
  }
}

@Suite(.everyEngine) struct GrowthTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  func open() throws -> MagicData { try MagicData.at(folder.path) }

  @Test func `new properties with defaults are added to an old store automatically`() throws {
    try open().update(Old.Item("a"))
    let magic = try open()
    #expect(try !magic.check(of: New.Item.self).isEmpty)
    let item = try #require(try magic.object(of: New.Item.self).first)
    #expect(try magic.check(of: New.Item.self) == [])
    #expect(item.stars == 3)
    #expect(item.made == Date(timeIntervalSince1970: 7))
    #expect(item.tags == ["old"])
    #expect(item.note == nil)
    #expect(item.parent == nil)
    #expect(item.parts.isEmpty)
    #expect(try item.file.get() == nil)
    item.stars = 4
    item.parent = item
    item.file = MagicAsset(value: "content")
    try magic.update(item)
    #expect(try magic.count(of: New.Item.self, where: \.$parent.$stars == 4) == 1)
  }

  @Test func `an older program can use a store that a newer one has extended`() throws {
    let item = New.Item()
    item.name = "new"
    item.made = Date(timeIntervalSince1970: 1)
    // One after the other, because in one process a table belongs to one type.
    let newer = try open()
    try newer.update(item)
    try newer.database.close()
    let magic = try open()
    let old = try magic.object(of: Old.Item.self, primary: item.id)
    old.name = "changed"
    try magic.update(old)
    try magic.update(Old.Item("another"))
    try magic.database.close()
    let again = try open()
    #expect(try again.object(of: New.Item.self, primary: item.id).name == "changed")
    #expect(try again.objects(of: New.Item.self, where: \.$name == "another").first?.stars == 3)
  }

  @Test func `a new property without a default throws an error that names it`() throws {
    try open().update(Old.Item("a"))
    let error = #expect(throws: SchemaError.self) { try open().object(of: Broken.Item.self) }
    #expect(error?.table == "Item")
    #expect(error?.description.contains("size") == true)
    #expect(try open().object(of: Old.Item.self).map(\.name) == ["a"])
  }

  @Test func `before the first save, a type has no table and no objects`() throws {
    let magic = try open()
    #expect(try magic.object(of: Old.Item.self).isEmpty)
    #expect(try magic.count(of: Old.Item.self, where: \.$name == "a") == 0)
    #expect(try magic.removeAll(Old.Item.all) == 0)
    #expect(try magic.has(of: Old.Item.self, primary: "a") == false)
    #expect(try magic.check(of: Old.Item.self).map(\.kind) == [.missingTable])
  }

  @Test func `a second type that claims the same table throws`() throws {
    let magic = try open()
    try magic.update(Old.Item("a"))
    #expect(throws: MagicError.self) { try magic.object(of: New.Item.self) }
  }
}
