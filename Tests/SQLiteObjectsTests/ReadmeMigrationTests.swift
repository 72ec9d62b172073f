import Conformance
import MagicData
import Testing
import TestSupport

private enum Before {
  struct Book: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var name: String
    @MagicValue var rank: Int

    init() {}
    init(_ name: String) {
      self.name = name
      rank = 1
    }
  }
}

private struct Book: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var title: String
}

/// The README's example of object migrations, line by line.
@Suite(.everyEngine) struct ReadmeMigrationTests {
  @Test func `objects keep the values of a renamed property`() throws {
    let folder = try TestFolder()
    try MagicData.at(folder.path).update(Before.Book("Momo"))
    let magic = try MagicData.at(folder.path)
    try magic.migrate([
      Migration("names are titles", .renameProperty("name", to: "title", of: "Book")),
      Migration("no more ranks", .dropProperty("rank", of: "Book")),
    ])
    #expect(try magic.object(of: Book.self).map(\.title) == ["Momo"])
    #expect(try magic.check(of: Book.self) == [])
  }
}
