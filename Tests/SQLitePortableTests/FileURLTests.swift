import Foundation
import SQLiteCore
import SQLitePortable
import Testing
import TestSupport

@Suite struct FileURLTests {
  struct Item: Codable, Hashable { var n: Int }

  static let wrong = [
    "www.google.com", "https://example.org/a", "ftp:/tmp/a", "data:,a", "file://server/tmp/a",
    "file:///tmp/a%FF", "file:///tmp/a%00b", "file:///tmp/a?b", "file:///tmp/a#b", "/tmp/a", "a",
  ]

  @Test(arguments: wrong)
  func `a URL that isn't a file URL throws`(text: String) throws {
    let url = try #require(URL(string: text))
    let store = try CodableStore()
    try store.insert(item: Item(n: 1))
    #expect(throws: SQLiteError.self) { try store.save(to: url) }
    #expect(throws: SQLiteError.self) { try store.load(from: url) }
    let error = #expect(throws: SQLiteError.self) { try CodableStore(fileURL: url) }
    #expect(error?.message.contains("is not a valid file URL") == true)
    #expect(throws: SQLiteError.self) { try CodableStore(data: store.data(), fileURL: url) }
    #expect(throws: SQLiteError.self) {
      try CodableStore(encoder: JSONEncoder(), decoder: JSONDecoder(), fileURL: url)
    }
    #expect(try store.read() == [Item(n: 1)])
  }

  @Test(arguments: wrong)
  func `a URL that isn't a file URL makes async calls throw, too`(text: String) async throws {
    let url = try #require(URL(string: text))
    let store = try CodableStore()
    await #expect(throws: SQLiteError.self) { try await store.save(to: url) }
    await #expect(throws: SQLiteError.self) { try await store.load(from: url) }
  }

  @Test(arguments: ["a b", "é", "e\u{301}", "a%20b", "a?b#c", "100%"])
  func `a store can be saved to and loaded from a file URL`(name: String) throws {
    let folder = try TestFolder()
    let url = URL(filePath: folder.file(name))
    let store = try CodableStore(fileURL: url)
    #expect(store.fileURL == url)
    #expect(try store.count(of: Item.self) == 0)
    try store.insert(items: [Item(n: 1), Item(n: 2)])
    try store.save()
    #expect(try CodableStore(fileURL: url).read() == [Item(n: 1), Item(n: 2)])
    #expect(try CodableStore(path: folder.file(name)).read() == [Item(n: 1), Item(n: 2)])
    #expect(FileManager.default.fileExists(atPath: folder.file(name)))
  }
}
