import Conformance
import Foundation
import MagicData
import Synchronization
import TestSupport
import Testing

/// How often the content of assets is read.
@Suite(.everyEngine) struct AssetContentTests {
  /// A value that counts how often it was created from a file's bytes.
  struct Counted: AssetConvertible, Codable, Sendable {
    private static let reads = Mutex<[String: Int]>([:])
    let text: String

    init(_ text: String) { self.text = text }

    init(assetData: Data) throws {
      let text = String(decoding: assetData, as: UTF8.self)
      Self.reads.withLock { $0[text, default: 0] += 1 }
      self.text = text
    }

    var assetData: Data { Data(text.utf8) }

    static func count(_ text: String) -> Int { reads.withLock { $0[text] ?? 0 } }
  }

  struct Page: MagicObject {
    @PrimaryMagicValue var id: Int
    @MagicValue var title: String
    @MagicValue var body: MagicAsset<Counted>
    @MagicValue var lazy: AsyncMagical<MagicAsset<Data>>

    init() {}

    init(_ title: String) {
      self.title = title
      body = .init(value: Counted(title))
      lazy = .init(value: .init(value: Data(title.utf8)))
    }
  }

  private let home: TestFolder
  var folder: String { home.path }
  let magic: MagicData

  init() throws {
    home = try TestFolder()
    magic = try MagicData.at(home.file("store"))
  }

  private func saved(_ title: String) throws -> Page {
    let page = Page(title)
    try magic.update(page)
    return try magic.object(of: Page.self, primary: page.id)
  }

  /// Returns a text that is unique to this test and engine, because counts are process-wide.
  private func text(_ name: String) -> String { "\(name) (\(Engine.current))" }

  @Test func `a file is read once while a copy of the asset exists`() async throws {
    let page = try saved(text("held"))
    let held = page.body
    #expect(try await held.get()?.text == text("held"))
    #expect(try await held.get()?.text == text("held"))
    let copy = held
    #expect(try await copy.get()?.text == text("held"))
    #expect(try await page.body.get()?.text == text("held"))
    #expect(Counted.count(text("held")) == 1)
    // After a replacement, the old copy of the asset reads the new file, too.
    page.body = .init(value: Counted(text("replaced")))
    try await magic.update(page)
    #expect(try await held.get()?.text == text("replaced"))
    #expect(try await page.body.get()?.text == text("replaced"))
    #expect(Counted.count(text("replaced")) == 1)
  }

  @Test func `an object doesn't cache the content of its asset`() async throws {
    let page = try saved(text("let go"))
    _ = try await page.body.get()
    _ = try await page.body.get()
    #expect(Counted.count(text("let go")) == 2)
    // The object doesn't cache the content of an asset assigned to it, either.
    page.body = try await magic.object(of: Page.self, primary: page.id).body
    _ = try await page.body.get()
    _ = try await page.body.get()
    #expect(Counted.count(text("let go")) == 4)
    try await magic.update(page)
    _ = try await page.body.get()
    #expect(Counted.count(text("let go")) == 5)
    #expect(
      try await magic.object(of: Page.self, primary: page.id).body.get()?.text == text("let go"))
  }

  @Test(arguments: ["missing", "damaged", "link"])
  func `a faulty file makes only reads of its own asset throw`(fault: String) async throws {
    let page = try saved("a")
    let other = try saved("b")
    let path = try #require(try page.body.path)
    try FileManager.default.removeItem(atPath: path)
    if fault == "damaged" { try Data("x".utf8).write(to: URL(filePath: path)) }
    if fault == "link" {
      try FileManager.default.createSymbolicLink(
        atPath: path, withDestinationPath: "/etc/hostname")
    }
    let found = try await magic.object(of: Page.self, primary: page.id)
    #expect(throws: AssetError.self) { try found.body.get() }
    await #expect(throws: AssetError.self) { try await found.body.get() }
    #expect(found.title == "a")
    #expect(try await found.lazy.get().get() == Data("a".utf8))
    #expect(try found.body.size == 1)
    #expect(try await other.body.get()?.text == "b")
    #expect(try await magic.assets.verify().count == 1)
    // New content repairs the asset.
    found.body.set(Counted("new"))
    try await magic.update(found)
    #expect(try await found.body.get()?.text == "new")
    #expect(try await magic.assets.verify() == [])
  }

  @Test func `a user's file is copied, with its own or another extension`() async throws {
    let source = URL(filePath: folder + "/my photo.jpeg")
    let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
    try bytes.write(to: source)
    let page = try saved("a")
    var asset = try await page.lazy.get()
    asset.copy(from: source)
    #expect(try asset.size == bytes.count)
    page.lazy.set(asset)
    try await magic.update(page)
    #expect(try await page.lazy.get().pathExtension == "jpeg")
    #expect(try await page.lazy.get().get() == bytes)
    asset.copy(from: source, pathExtension: "jpg")
    page.lazy.set(asset)
    try await magic.update(page)
    let last = try await page.lazy.get()
    #expect(try last.pathExtension == "jpg")
    #expect(try await last.data() == bytes)
    #expect(FileManager.default.contents(atPath: source.path) == bytes)
    asset.copy(from: URL(filePath: folder + "/nothing"))
    page.lazy.set(asset)
    await #expect(throws: AssetError.self) { try await magic.update(page) }
    #expect(try await magic.assets.verify() == [])
  }

  @Test func `content can be written and read as a stream`() async throws {
    let pieces = AsyncStream<[UInt8]> { continuation in
      for number in 0..<100 {
        continuation.yield([UInt8](repeating: UInt8(number), count: 10_000))
      }
      continuation.finish()
    }
    let page = Page("a")
    page.lazy.set(MagicAsset(try await magic.assets.stage(pieces, extension: "bin")))
    try await magic.update(page)
    let asset = try await magic.object(of: Page.self, primary: page.id).lazy.get()
    #expect(try asset.pathExtension == "bin")
    #expect(try asset.size == 1_000_000)
    var count = 0
    for try await piece in try #require(try await asset.pieces(of: 4_096)) { count += piece.count }
    #expect(count == 1_000_000)
    #expect(try await asset.open()?.read(2, at: 999_998) == [99, 99])
  }

  @Test func `content below the minimum file size is stored in the row`() async throws {
    magic.assets.minimumFileSize = 100
    let page = try saved("a")
    #expect(try await page.body.get()?.text == "a")
    #expect(try page.body.path == nil)
    #expect(try page.body.size == 1)
    page.body.set(Counted(String(repeating: "x", count: 100)))
    try await magic.update(page)
    #expect(try page.body.path != nil)
  }

  @Test(.requires(.backup))
  func `a backup made during saves is a complete, consistent store`() async throws {
    let pages = (0..<20).map { Page("\($0)") }
    try await magic.update(pages)
    let magic = magic
    let writing = Task {
      var number = 0
      while true {
        number += 1
        for page in try await magic.objects(of: Page.self) {
          page.title = "t\(number)"
          page.body.set(Counted("t\(number)"))
          page.lazy.set(.init(value: Data("t\(number)".utf8)))
          try await magic.update(page)
        }
      }
    }
    for round in 0..<5 {
      let path = "\(folder)/backup-\(round)"
      let backup = try await magic.backup(to: path)
      #expect(backup.faults == [])
      let copy = try await MagicData.at(path)
      let objects = try await copy.objects(of: Page.self)
      #expect(objects.count == 20)
      for page in objects {
        #expect(try await page.body.get()?.text == page.title)
        #expect(try await page.lazy.get().get() == Data(page.title.utf8))
      }
      #expect(try await copy.assets.verify() == [])
      #expect(try await copy.assets.sweep().removed == [])
    }
    writing.cancel()
    await #expect(throws: CancellationError.self) { try await writing.value }
    #expect(try await magic.assets.verify() == [])
  }
}
