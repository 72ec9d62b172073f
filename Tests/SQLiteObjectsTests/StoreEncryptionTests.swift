import Conformance
import Foundation
import MagicData
import SQLitePortable
import TestSupport
import Testing

private struct Diary: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var text: String
  @MagicValue var pages: [Page]
  @MagicValue var photo: MagicAsset<String>

  init() {}
  init(_ text: String) {
    self.text = text
    pages = [Page(text)]
    photo = MagicAsset(value: text, pathExtension: "txt")
  }
}

private struct Page: MagicObject {
  @PrimaryMagicValue var id: UUID
  @MagicValue var text: String

  init() {}
  init(_ text: String) { self.text = text }
}

private let secret = "a secret that no file contains"

@Suite(.needsEncryption) struct StoreEncryptionTests {
  let folder: TestFolder
  let options: Database.Options

  init() throws {
    folder = try TestFolder()
    var options = Database.Options()
    options.key = Database.Key(bytes: [UInt8](repeating: 7, count: 32))
    self.options = options
  }

  /// Returns the paths of the files below the folder that contain the secret.
  private func filesWithSecret() throws -> [String] {
    var found: [String] = []
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      let data = FileManager.default.contents(atPath: folder.file(path))
      if data?.range(of: Data(secret.utf8)) != nil { found.append(path) }
    }
    return found
  }

  @Test func `a store with its assets in rows writes no plain text`() throws {
    let magic = try MagicData(path: folder.file("store"), options: options, minimumFileSize: .max)
    let diary = Diary(secret)
    try magic.update(diary)
    #expect(try magic.backup(to: folder.file("backup")).faults.isEmpty)
    #expect(try filesWithSecret() == [])
    try magic.database.close()

    for name in ["store", "backup"] {
      #expect(throws: SQLiteError.self) { try MagicData(path: folder.file(name)) }
      let opened = try MagicData(path: folder.file(name), options: options)
      let found = try opened.object(of: Diary.self, primary: diary.id)
      #expect(found.pages.map(\.text) == [secret])
      #expect(try found.photo.get() == secret)
    }
    #expect(try filesWithSecret() == [])
  }

  @Test func `the files of assets are not encrypted`() throws {
    let magic = try MagicData(path: folder.file("store"), options: options)
    try magic.update(Diary(secret))
    let files = try filesWithSecret()
    #expect(files.count == 1)
    #expect(files.allSatisfy { $0.hasPrefix("store/assets/") })
  }

  @Test func `a store continues with a new key`() async throws {
    let magic = try await MagicData(
      path: folder.file("store"), options: options, minimumFileSize: .max)
    let diary = Diary(secret)
    try await magic.update(diary)
    let key = Database.Key(passphrase: "another")
    try await magic.database.rekey(to: key)
    diary.pages.append(Page("second"))
    try await magic.update(diary)
    let counts = try await magic.fetch(Page.all.count)
    #expect(counts == 2)
    #expect(try filesWithSecret() == [])
  }

  @Test func `dumps are plain text, and copies as a database have the key`() throws {
    let magic = try MagicData(path: folder.file("store"), options: options, minimumFileSize: .max)
    try magic.update(Diary(secret))
    try magic.database.dump(to: .spon(path: folder.file("dump.spon")))
    #expect(try filesWithSecret() == ["dump.spon"])
    try magic.database.dump(to: .sqlite(path: folder.file("copy.sqlite3")))
    #expect(try filesWithSecret() == ["dump.spon"])

    let files: [DataFile] = [
      .spon(path: folder.file("dump.spon")), .sqlite(path: folder.file("copy.sqlite3")),
    ]
    for file in files {
      let path = folder.file(UUID().uuidString)
      let restored = try Database(path: path, options: options)
      try restored.restore(from: file)
      #expect(try restored.rows("SELECT text FROM Diary", as: String.self) == [secret])
      let memory = try Database.memory(restoring: file, options: options)
      #expect(try memory.rows("SELECT text FROM Diary", as: String.self) == [secret])
    }
    #expect(try filesWithSecret() == ["dump.spon"])
    #expect(throws: SQLiteError.self) {
      try Database.memory(restoring: .sqlite(path: folder.file("copy.sqlite3")))
    }
  }

  @Test func `a store of collections in an encrypted file saves and loads encrypted files`() throws
  {
    let store = CodableStore(
      database: try Database(path: folder.file("items.sqlite3"), options: options))
    try store.insert(item: secret)
    try store.save(to: folder.url.appending(path: "saved.sqlite3"))
    #expect(try filesWithSecret() == [])
    try store.clear()
    try store.load(from: folder.url.appending(path: "saved.sqlite3"))
    let items: [String] = try store.read()
    #expect(items == [secret])
  }
}
