import Conformance
import Foundation
import MagicData
import MagicTesting
import TestSupport
import Testing

private func fill(_ magic: MagicData) throws {
  let volume = Volume("Emma", rank: 1, cover: Data("png".utf8))
  try magic.update(Shelf("Austen", [volume], best: [volume]))
}

@Suite struct TemplateEncryptionTests {
  let folder: TestFolder
  let options: Database.Options

  init() throws {
    folder = try TestFolder()
    var options = Database.Options()
    options.key = Database.Key(bytes: [UInt8](repeating: 5, count: 32))
    self.options = options
  }

  @Test(.needsEncryption, arguments: [0, Int.max])
  func `the copies of an encrypted template are encrypted with its key`(size: Int) throws {
    let template = StoreTemplate(options: options, minimumFileSize: size, fill)
    for number in 1...2 {
      let path = "\(folder.path)/store \(number)"
      let copies = [
        try MagicData(copying: template), try MagicData(copying: template, type: .temporary),
        try MagicData(copying: template, at: path),
      ]
      for magic in copies {
        let shelf = try magic.object(of: Shelf.self, primary: "Austen")
        #expect(shelf.volumes.map(\.title) == ["Emma"])
        #expect(try shelf.volumes[0].cover?.data() == Data("png".utf8))
        #expect(try magic.assets.verify().isEmpty)
        try magic.update(Volume("Persuasion"))
        #expect(try magic.difference(from: template).tables.map(\.name) == ["Volume"])
        if let file = magic.database.path {
          #expect(throws: SQLiteError.self) { try Database(path: file, options: .readOnly) }
          #expect(
            FileManager.default.contents(atPath: file)?.starts(with: Data("SQLite".utf8)) == false)
        }
      }
      // Each copy is a store of its own.
      let identities = try copies.map {
        try $0.database.rows(
          "SELECT value FROM magicdata_meta WHERE key = 'uuid'", as: String.self)
      }
      #expect(Set(identities).count == copies.count)
      for magic in copies { try magic.close() }
      let opened = try MagicData(path: path, options: options, minimumFileSize: size)
      #expect(try opened.fetch(Volume.all.count) == 2)
      try opened.database.rekey(to: Database.Key(bytes: [UInt8](repeating: 6, count: 32)))
      #expect(try MagicData(copying: template).fetch(Volume.all.count) == 1)
    }
  }

  @Test(.enabled(if: !Capabilities.hasEncryption, "this SQLite can encrypt"))
  func `without SQLCipher, an encrypted template throws and leaves no file`() throws {
    let template = StoreTemplate(options: options, fill)
    let copying: [() throws -> MagicData] = [
      { try MagicData(copying: template) },
      { try MagicData(copying: template, type: .temporary) },
      { try MagicData(copying: template, at: folder.file("store")) },
    ]
    for copy in copying {
      let error = #expect(throws: TemplateError.self) { try copy() }
      #expect("\(error as Any)".contains("this libsqlite3 cannot encrypt databases"))
    }
    #expect(try folder.names().isEmpty)
  }
}
