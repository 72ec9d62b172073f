import Conformance
import Foundation
import MagicData
import Testing

private struct Writer: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var name: String

  init() {}
  init(_ id: String) {
    self.id = id
    name = "writer \(id)"
  }
}

private struct Essay: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var writer: Writer
  @OptionalMagicValue var editor: Writer?
  @MagicValue var readers: [Writer]
  @MagicValue var lazy: AsyncMagical<Writer>
  @MagicValue var lazyList: AsyncMagical<[Writer]>
  @OptionalMagicValue var lazyEditor: AsyncMagical<Writer>?

  init() {}
}

/// Objects decoded from JSON, with relations that haven't been resolved.
@Suite(.everyEngine) struct HoldDecodedObjectsTests {
  private static let json = Data(
    #"{"id":"e","writer":"a","editor":"b","readers":["a","b"],"lazy":"a","lazyList":["b"]}"#.utf8)

  private static func store() throws -> MagicData {
    let magic = try MagicData.fresh()
    try magic.update([Writer("a"), Writer("b")])
    return magic
  }

  /// Returns the text that an exited process wrote to standard error.
  private static func message(
    _ result: ExitTest.Result?
  ) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Test func `reading an unresolved relation stops with a message that names resolve`() async {
    let required = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let essay = try JSONDecoder().decode(Essay.self, from: HoldDecodedObjectsTests.json)
      _ = essay.writer
    }
    #expect(Self.message(required).contains("“writer” was decoded"))
    #expect(Self.message(required).contains("MagicData.resolve(_:)"))
    // Nil would be wrong, and the next save might write it.
    let optional = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let essay = try JSONDecoder().decode(Essay.self, from: HoldDecodedObjectsTests.json)
      _ = essay.editor
    }
    #expect(Self.message(optional).contains("“editor” was decoded"))
    let list = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let essay = try JSONDecoder().decode(Essay.self, from: HoldDecodedObjectsTests.json)
      _ = essay.readers
    }
    #expect(Self.message(list).contains("“readers” was decoded"))
  }

  @Test func `an unresolved lazy relation throws when read, but can be set`() throws {
    let magic = try Self.store()
    let essay = try JSONDecoder().decode(Essay.self, from: Self.json)
    #expect(
      throws: MagicError.unresolvedRelation(type: "AsyncMagical<Writer>", property: "lazy")
    ) { try essay.lazy.get() }
    #expect(throws: MagicError.self) { try essay.lazyList.count() }
    #expect(throws: MagicError.self) { try essay.lazyList.stream() }
    #expect(essay.lazyEditor == nil)
    #expect(throws: MagicError.self) { try magic.update(essay) }
    // Encoding it again keeps the keys of its relations.
    let again = try JSONDecoder().decode(Essay.self, from: try JSONEncoder().encode(essay))
    try magic.resolve(again)
    #expect(try again.lazyList.get().map(\.name) == ["writer b"])
    #expect(again.editor?.name == "writer b")
    essay.lazy.set(Writer("c"))
    try magic.resolve(essay)
    #expect(try essay.lazy.get().id == "c")
    try magic.update(essay)
    let found = try magic.object(of: Essay.self, primary: "e")
    #expect(try found.lazy.get().name == "writer c")
    #expect(found.readers.map(\.id) == ["a", "b"])
  }

  @Test func `a decoder with a store in its userInfo resolves relations`() async throws {
    let magic = try Self.store()
    let decoder = JSONDecoder()
    decoder.userInfo[.magicData] = magic
    let essay = try decoder.decode(Essay.self, from: Self.json)
    #expect(essay.writer.name == "writer a")
    #expect(essay.editor?.name == "writer b")
    #expect(essay.readers.map(\.id) == ["a", "b"])
    #expect(try await essay.lazy.get().name == "writer a")
    #expect(try await essay.lazyList.get().map(\.id) == ["b"])
    try await magic.update(essay)
    #expect(try await magic.object(of: Essay.self, primary: "e").writer.id == "a")
    #expect(try await magic.count(of: Writer.self) == 2)
  }

  @Test func `a decoder with a store throws if a related object is missing`() throws {
    let magic = try Self.store()
    let decoder = JSONDecoder()
    decoder.userInfo[.magicData] = magic
    try magic.removeAll(Writer.where(\.$id == "b"))
    #expect(throws: MagicError.self) { try decoder.decode(Essay.self, from: Self.json) }
    try magic.database.close()
    #expect(throws: (any Error).self) { try decoder.decode(Essay.self, from: Self.json) }
  }

  @Test func `null for a lazy relation throws when the relation is read or saved`() throws {
    let magic = try Self.store()
    let json = #"{"id":"e","writer":"a","readers":[],"lazy":null,"lazyList":["b"]}"#
    let essay = try JSONDecoder().decode(Essay.self, from: Data(json.utf8))
    #expect(throws: MagicError.self) { try essay.lazy.get() }
    try magic.resolve(essay)
    #expect(throws: MagicError.missingValue(type: "Essay", property: "lazy")) {
      try magic.update(essay)
    }
  }
}
