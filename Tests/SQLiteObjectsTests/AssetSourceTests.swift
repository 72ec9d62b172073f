import Conformance
import Foundation
import MagicData
import TestSupport
import Testing

/// Sources of asset content: users' files, other stores and backups.
@Suite(.everyEngine) struct AssetSourceTests {
  struct Page: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var body: MagicAsset<Data>

    init() {}

    init(_ body: MagicAsset<Data>) { self.body = body }
  }

  private let home: TestFolder
  var folder: String { home.path }
  let magic: MagicData

  init() throws {
    home = try TestFolder()
    magic = try MagicData.at(home.file("store"))
  }

  @Test func `copying from a URL that isn't a file URL throws`() throws {
    try Data("secret".utf8).write(to: URL(filePath: folder + "/secret"))
    let url = try #require(URL(string: "https://example.com\(folder)/secret"))
    var asset = MagicAsset<Data>()
    asset.copy(from: url)
    #expect(throws: AssetError.invalidPath(url.absoluteString)) { try asset.get() }
    #expect(throws: AssetError.invalidPath(url.absoluteString)) { try magic.update(Page(asset)) }
  }

  @Test(.timeLimit(.minutes(40)))
  func `copying from a FIFO throws and doesn't block`() throws {
    let path = folder + "/fifo"
    #expect(unsafe mkfifo(path, 0o600) == 0)
    var asset = MagicAsset<Data>()
    asset.copy(from: URL(filePath: path))
    #expect(throws: AssetError.notRegularFile(path: path)) { try asset.size }
    #expect(throws: AssetError.notRegularFile(path: path)) { try asset.sha256 }
    #expect(throws: AssetError.notRegularFile(path: path)) { try asset.get() }
    #expect(throws: AssetError.notRegularFile(path: path)) { try magic.update(Page(asset)) }
  }

  @Test func `unsaved content can be read, but not opened or streamed`() async throws {
    let content = Data((0..<600_000).map { UInt8(truncatingIfNeeded: $0) })
    let digest = SHA256.digest(of: content.map(\.self))
    try content.write(to: URL(filePath: folder + "/source"))
    var copied = MagicAsset<Data>()
    copied.copy(from: URL(filePath: folder + "/source"))
    let staged = MagicAsset<Data>(try await magic.assets.stage(content))
    for asset in [MagicAsset(value: content), copied, staged] {
      let blocking = { () throws -> [Data?] in [try asset.get(), try asset.data()] }
      #expect(try blocking() == [content, content])
      #expect(try await asset.get() == content)
      #expect(try await asset.data() == content)
      #expect(try asset.size == content.count)
      #expect(try asset.sha256 == digest)
      #expect(try asset.path == nil)
      #expect(try await asset.open()?.record == nil)
      #expect(try await asset.pieces().map { _ in 1 } == nil)
    }
  }

  @Test(.requires(.localWork))
  func `a save can copy more files than a process may open`() async throws {
    await #expect(processExitsWith: .success) {
      let folder = try TestFolder()
      let magic = try await MagicData(path: folder.file("store"))
      let other = try await MagicData(path: folder.file("other"))
      var limit = rlimit(rlim_cur: 100, rlim_max: 100)
      #if canImport(Glibc)
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      #else
        _ = unsafe setrlimit(RLIMIT_NOFILE, &limit)
      #endif
      try folder.write("text", to: "source")
      let source = URL(filePath: folder.file("source"))
      let pages = (0..<200).map { _ in
        var asset = MagicAsset<Data>()
        asset.copy(from: source)
        return Page(asset)
      }
      try await magic.update(pages)
      try await other.update(magic.objects(of: Page.self))
      #expect(try await other.objects(of: Page.self).count == 200)
      try await magic.close()
      try await other.close()
    }
  }

  @Test(.requires(.backup))
  func `an asset can be restored from a backup`() async throws {
    let page = Page(.init(value: Data("before".utf8), pathExtension: "txt"))
    try await magic.update(page)
    _ = try await magic.backup(to: folder + "/backup")
    page.body.set(Data("spoiled".utf8))
    try await magic.update(page)
    let backup = try await MagicData(path: folder + "/backup")
    page.body = try await backup.object(of: Page.self, primary: page.id).body
    try await magic.update(page)
    #expect(try await page.body.get() == Data("before".utf8))
    #expect(try page.body.path?.hasPrefix(folder + "/store") == true)
    let found = try await magic.object(of: Page.self, primary: page.id)
    #expect(try found.body.pathExtension == "txt")
    #expect(try await found.body.get() == Data("before".utf8))
    #expect(try await magic.assets.verify() == [])
  }
}

/// Content that is stored in rows, or moves between row and file.
@Suite(.everyEngine) struct AssetThresholdTests {
  typealias Page = AssetSourceTests.Page

  private func withFolder(_ body: (String) async throws -> Void) async throws {
    let folder = try TestFolder()
    try await body(folder.path)
  }

  private func store(_ folder: String, minimumFileSize: Int) async throws -> MagicData {
    let magic = try await MagicData.at(folder)
    magic.assets.minimumFileSize = minimumFileSize
    return magic
  }

  private func files(_ magic: MagicData) throws -> Int {
    try magic.assetFiles.count
  }

  @Test(.requires(.files))
  func `every initializer accepts a minimum file size`() async throws {
    try await withFolder { folder in
      let url = URL(filePath: folder)
      #expect(try await MagicData.at(folder).assets.minimumFileSize == 0)
      #expect(try await MagicData(path: folder, minimumFileSize: 5).assets.minimumFileSize == 5)
      #expect(try await MagicData(path: url, minimumFileSize: 6).assets.minimumFileSize == 6)
      func blocking() throws {
        #expect(try MagicData(path: folder, minimumFileSize: 7).assets.minimumFileSize == 7)
        #expect(try MagicData(path: url, minimumFileSize: 8).assets.minimumFileSize == 8)
        let store = try AssetStore(Database.memory(), folder: folder + "/x", minimumFileSize: 9)
        #expect(store.minimumFileSize == 9)
      }
      try blocking()
      let store = try await AssetStore(
        Database.memory(), folder: folder + "/y", minimumFileSize: 10)
      #expect(store.minimumFileSize == 10)
    }
  }

  @Test func `content moves between row and file as it grows and shrinks`() async throws {
    try await withFolder { folder in
      let magic = try await store(folder, minimumFileSize: 100)
      let page = Page(.init(value: Data(count: 99), pathExtension: "bin"))
      try await magic.update(page)
      for size in [99, 100, 5, 0, 1_000, 101, 99] {
        let content = Data(repeating: UInt8(size & 0xFF), count: size)
        page.body.set(content)
        try await magic.update(page)
        let found = try await magic.object(of: Page.self, primary: page.id)
        #expect(try await found.body.get() == content)
        #expect(try found.body.size == size)
        #expect(try found.body.pathExtension == "bin")
        #expect(try (found.body.path == nil) == (size < 100))
        #expect(try files(magic) == (size < 100 ? 0 : 1))
      }
      // A new extension, a copy of the asset in another object and a copy of a user's file.
      page.body.setPathExtension("x")
      let copy = Page(page.body)
      try await magic.update([page, copy])
      #expect(try await copy.body.get() == page.body.get())
      #expect(try copy.body.pathExtension == "x")
      try Data(count: 200).write(to: URL(filePath: folder + "/source"))
      copy.body.copy(from: URL(filePath: folder + "/source"))
      try await magic.update(copy)
      #expect(try copy.body.path != nil)
      #expect(try files(magic) == 1)
      try await magic.remove(page)
      try await magic.remove(copy)
      #expect(try files(magic) == 0)
      #expect(try await magic.assets.verify() == [])
    }
  }

  @Test func `content saved before the minimum size was set stays readable`() async throws {
    try await withFolder { folder in
      let page = Page(.init(value: Data([1, 2])))
      do {
        let magic = try await MagicData.at(folder)
        try await magic.update(page)
        #expect(try files(magic) == 1)
      }
      let magic = try await store(folder, minimumFileSize: 1_000)
      let found = try await magic.object(of: Page.self, primary: page.id)
      #expect(try await found.body.get() == Data([1, 2]))
      #expect(try files(magic) == 1)
      found.body.set(Data([3]))
      try await magic.update(found)
      #expect(try await found.body.get() == Data([3]))
      #expect(try files(magic) == 0)
    }
  }
}
