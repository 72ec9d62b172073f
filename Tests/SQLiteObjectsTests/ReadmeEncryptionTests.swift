import Conformance
import Foundation
import MagicData
import TestSupport
import Testing

private struct Entry: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var text: String
}

/// The code of the article “Encryption”, line by line.
@Suite(.needsEncryption) struct ReadmeEncryptionTests {
  let folder: TestFolder
  let passphrase = "correct horse battery staple"

  init() throws { folder = try TestFolder() }

  private func open(_ path: String) throws -> MagicData {
    var options = Database.Options()
    options.key = Database.Key(passphrase: passphrase)
    let magic = try MagicData(path: path, options: options, minimumFileSize: .max)
    return magic
  }

  private func makeEntry() -> Entry {
    let entry = Entry()
    entry.text = "kept"
    return entry
  }

  @Test func `an encrypted store can be opened, and its key changed`() async throws {
    let magic = try open(folder.file("store"))
    try await magic.update(makeEntry())
    let newKey = [UInt8](repeating: 9, count: 32)
    try await magic.database.rekey(to: Database.Key(bytes: newKey))
    #expect(try await magic.object(of: Entry.self).map(\.text) == ["kept"])
    try await magic.database.close()
    #expect(throws: SQLiteError.self) { try open(folder.file("store")) }
  }

  @Test func `a store that isn't encrypted becomes an encrypted one`() throws {
    let store = try MagicData(path: folder.file("store"))
    try store.update(makeEntry())
    try store.database.close()
    let plain = folder.file("store/default.sqlite3")
    let encrypted = folder.file("store/encrypted.sqlite3")
    func convert() throws {
      let database = try Database(path: plain)
      try database.vacuum(into: encrypted, key: Database.Key(passphrase: passphrase))
    }
    try convert()
    try FileManager.default.removeItem(atPath: plain)
    try FileManager.default.moveItem(atPath: encrypted, toPath: plain)
    let magic = try open(folder.file("store"))
    #expect(try magic.object(of: Entry.self).map(\.text) == ["kept"])
    #expect(throws: SQLiteError.self) { try MagicData(path: folder.file("store")) }
  }
}
