import Foundation
import MagicData
import MagicTesting
import TestSupport
import Testing

private struct Reader: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String

  init() {}

  init(_ name: String) { self.name = name }
}

private struct Book: MagicObject {
  @PrimaryMagicValue var title: String
  @OptionalMagicValue var reader: Reader?

  init() {}

  init(_ title: String, _ reader: Reader?) {
    self.title = title
    self.reader = reader
  }
}

private struct ImportError: Error {}

private nonisolated let migrations = [
  Migration("settings", .sql("CREATE TABLE setting (name, value)"))
]

private func importBooks(into magic: MagicData, from file: String = "books.csv") throws {
  try magic.transaction {
    try magic.update(Book("Sanditon", nil))
    if file == "damaged.csv" { throw ImportError() }
  }
}

// The code of the article “Tests and previews”. `.ci/checks/readme` compares the texts.

extension StoreTemplate {
  static let library = StoreTemplate { magic in
    try magic.migrate(migrations)
    let reader = Reader("Harriet")
    try magic.update([Book("Emma", reader), Book("Persuasion", nil)])
  }
}

@Suite(.store(.library)) struct LoanTests {
  let magic: MagicData

  init() throws { magic = try .current }

  @Test func `a returned book can be lent again`() throws {
    let emma = try magic.object(of: Book.self, primary: "Emma")
    emma.reader = nil
    try magic.update(emma)
    #expect(try magic.count(of: Book.self, where: \.$reader == nil) == 2)
  }
}

@Suite(.store(.library)) struct ReadmeTestingTests {
  let magic: MagicData
  private let folder: TestFolder

  init() throws {
    magic = try .current
    folder = try TestFolder()
  }

  @Test func `the article's copies work`() throws {
    let path = folder.file("store")
    let memory = try MagicData(copying: .library)
    let files = try MagicData(copying: .library, type: .temporary)
    try MagicData(copying: .library, at: path).close()
    let reopened = try MagicData(path: path)
    for magic in [memory, files, reopened] { expectEqual(magic, .library) }
  }

  @Test func `the article's preview works`() throws {
    let magic = try MagicData(copying: .library)
    #expect(try magic.count(of: Book.self) == 2)
  }

  @Test func `the article's expectations work`() throws {
    let expected = try MagicData(copying: .library)
    try expected.update(Book("Sanditon", nil))

    try importBooks(into: magic)
    expectEqual(magic, expected)
    #expect(throws: ImportError.self) { try importBooks(into: magic, from: "damaged.csv") }
    expectEqual(magic, expected, "a failed import changes nothing")
  }

  @Test func `the article's difference is correct`() throws {
    let emma = try magic.object(of: Book.self, primary: "Emma")
    emma.reader = nil
    try magic.update([emma, Book("Sanditon", nil)])
    let difference = try magic.difference(from: .library)
    #expect(difference.tables.map(\.name) == ["Book"])
    #expect(difference.schema.isEmpty)
    #expect(
      "\(difference)" == """
        Book: 2 rows differ
          ~ 1: reader 1 → NULL
          + 3: title "Sanditon", reader NULL
        """)
  }
}
