import Foundation
import MagicData
import Synchronization
import Testing
import TestSupport

private struct ClosingPage: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var text: String
  @OptionalMagicValue var file: MagicAsset<Data>?
  @MagicValue var links: AsyncMagical<[ClosingPage]>
  @ReverseMagicValue(\ClosingPage.$links) var origins: AsyncReverseMagicSet<ClosingPage>
  init() {}
  init(_ text: String) {
    self.text = text
    file = MagicAsset(value: Data(text.utf8))
    links = AsyncMagical(value: [])
  }
}

/// A store that is never released.
private let neverReleased = Mutex<MagicData?>(nil)

@Suite struct StoreClosingTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  @Test func `the end of the process deletes the folder of a temporary store`() async throws {
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      unsafe setenv("TMPDIR", path, 1)
      let magic = try MagicData(type: .temporary)
      neverReleased.withLock { $0 = magic }
      try magic.update(ClosingPage("a"))
      let folders = try FileManager.default.contentsOfDirectory(atPath: path)
      #expect(folders.contains { $0.hasPrefix("MagicData-") })
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(left.filter { $0.hasPrefix("MagicData-") } == [])
  }

  @Test func `a closed store has no open files`() throws {
    let magic = try MagicData(path: folder.path)
    let page = ClosingPage("a")
    try magic.update(page)
    try #require(!openFiles(in: folder.path).isEmpty)
    try magic.close()
    #expect(openFiles(in: folder.path).isEmpty)
    withExtendedLifetime((magic, page)) {}
  }

  @Test func `a store can be closed asynchronously`() async throws {
    let magic = try await MagicData(path: folder.path)
    try await magic.update(ClosingPage("a"))
    try await magic.close()
    #expect(openFiles(in: folder.path).isEmpty)
    await #expect(throws: MagicError.closed) { try await magic.count(of: ClosingPage.self) }
    withExtendedLifetime(magic) {}
  }

  @Test(arguments: [MagicData.StoreType.temporary, .memory])
  func `closing a temporary store deletes its folder`(type: MagicData.StoreType) async throws {
    let magic = try await MagicData(type: type)
    let path = (magic.assets.path as NSString).deletingLastPathComponent
    try await magic.update(ClosingPage("a"))
    try #require(FileManager.default.fileExists(atPath: path))
    try await magic.close()
    #expect(!FileManager.default.fileExists(atPath: path))
    try await magic.close()
    withExtendedLifetime(magic) {}
  }

  @Test func `a folder is deleted although files are created and removed in it`() async throws {
    for _ in 0..<20 {
      let magic = try await MagicData(type: .temporary)
      let path = (magic.assets.path as NSString).deletingLastPathComponent
      let busy = (0..<2).map { number in
        Thread {
          while FileManager.default.fileExists(atPath: path) {
            let file = "\(path)/file-\(number)"
            _ = FileManager.default.createFile(atPath: file, contents: nil)
            try? FileManager.default.removeItem(atPath: file)
          }
        }
      }
      for thread in busy { thread.start() }
      try await magic.close()
      try await waitUntil { busy.allSatisfy(\.isFinished) }
      #expect(!FileManager.default.fileExists(atPath: path))
      #expect(!FileManager.default.fileExists(atPath: "\(path).removed"))
    }
  }

  @Test func `every call on a closed store throws MagicError.closed`() async throws {
    let magic = try await MagicData(path: folder.path)
    let page = ClosingPage("a")
    try await magic.update(page)
    let file = try #require(page.file)
    let links = page.links
    try await magic.close()
    await #expect(throws: MagicError.closed) { try await magic.update(page) }
    #expect(throws: MagicError.closed) { try magic.update(ClosingPage("b")) }
    #expect(throws: MagicError.closed) { try magic.objects(of: ClosingPage.self) }
    await #expect(throws: MagicError.closed) { try await magic.objects(of: ClosingPage.self) }
    #expect(throws: MagicError.closed) { try magic.object(of: ClosingPage.self, primary: 1) }
    #expect(throws: MagicError.closed) { try magic.remove(page) }
    await #expect(throws: MagicError.closed) { try await magic.remove(page) }
    #expect(throws: MagicError.closed) { try magic.removeAll(ClosingPage.all) }
    #expect(throws: MagicError.closed) { try magic.transaction { try magic.update(page) } }
    await #expect(throws: MagicError.closed) { try await magic.transaction {} }
    #expect(throws: MagicError.closed) { try magic.read {} }
    #expect(throws: MagicError.closed) { try magic.check(of: ClosingPage.self) }
    #expect(throws: MagicError.closed) { try file.get() }
    await #expect(throws: MagicError.closed) { try await file.data() }
    await #expect(throws: MagicError.closed) { try await page.origins.get() }
    #expect(throws: MagicError.closed) { try magic.migrate([]) }
    let copy = "\(folder.path)/copy"
    #expect(throws: MagicError.closed) { try magic.backup(to: copy) }
    await #expect(throws: MagicError.closed) { try await magic.backup(to: copy) }
    #expect(page.text == "a")
    _ = links
  }

  @Test func `calls in progress succeed or throw closed when the store is closed`() async throws {
    let magic = try await MagicData(path: folder.path)
    try await magic.update(ClosingPage("first"))
    let results = try await withThrowingTaskGroup(of: (any Error)?.self) { group in
      for number in 0..<40 {
        group.addTask {
          do {
            if number.isMultiple(of: 2) {
              try await magic.update(ClosingPage("\(number)"))
            } else {
              _ = try await magic.objects(of: ClosingPage.self)
            }
            return nil
          } catch {
            return error
          }
        }
        if number == 20 {
          group.addTask {
            do { try await magic.close() } catch { return error }; return nil
          }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    for case let error? in results { #expect(error as? MagicError == .closed) }
    let again = try await MagicData(path: folder.path)
    #expect(try await again.count(of: ClosingPage.self) >= 1)
  }

  @Test func `a call inside a transaction can't close its store`() throws {
    let magic = try MagicData(path: folder.path)
    try magic.transaction {
      #expect(throws: SQLiteError.self) { try magic.close() }
      try magic.update(ClosingPage("a"))
    }
    #expect(try magic.count(of: ClosingPage.self) == 1)
  }

  @Test func `closing a store ends the loops of its observers`() async throws {
    let magic = try await MagicData(path: folder.path)
    let (started, start) = AsyncStream.makeStream(of: Void.self)
    let loops = (0..<2).map { number in
      Task { () -> (any Error)? in
        do {
          if number == 0 {
            for try await _ in magic.observe(ClosingPage.all) { start.yield() }
          } else {
            start.yield()
            for try await _ in magic.changes(of: ClosingPage.self) {}
          }
          return nil
        } catch {
          return error
        }
      }
    }
    var iterator = started.makeAsyncIterator()
    _ = await iterator.next()
    _ = await iterator.next()
    try await magic.close()
    for loop in loops { #expect(await loop.value as? MagicError == .closed) }
  }

  @Test(arguments: [MagicData.StoreType.temporary, .memory])
  func `many concurrent calls may close a store`(type: MagicData.StoreType) async throws {
    for _ in 0..<5 {
      let magic = try await MagicData(type: type)
      let path = (magic.assets.path as NSString).deletingLastPathComponent
      try await magic.update(ClosingPage("a"))
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for _ in 0..<20 {
          group.addTask {
            try await magic.close()
            return FileManager.default.fileExists(atPath: path)
          }
        }
        for try await exists in group { #expect(!exists) }
      }
    }
  }

  @Test func `lazy values of a closed store can be read after a save in a reopened one`() throws {
    let first = try MagicData(path: folder.path)
    let page = ClosingPage("a")
    page.links.set([page, ClosingPage("b")])
    try first.update(page)
    let fetched = try first.object(of: ClosingPage.self, primary: page.id)
    let links = fetched.links
    try first.close()
    let second = try MagicData(path: folder.path)
    try second.update([page, fetched])
    #expect(try page.links.get().map(\.text) == ["a", "b"])
    #expect(try links.get().map(\.text) == ["a", "b"])
  }

  @Test func `objects of a closed store can be saved in a reopened one`() throws {
    let first = try MagicData(path: folder.path)
    let page = ClosingPage("a")
    try first.update(page)
    try first.close()
    let second = try MagicData(path: folder.path)
    page.text = "b"
    try second.update(page)
    #expect(try second.objects(of: ClosingPage.self).map(\.text) == ["b"])
    #expect(try second.object(of: ClosingPage.self, primary: page.id).file?.get() == Data("a".utf8))
  }

  @Test func `an object doesn't keep its store open`() throws {
    let page: ClosingPage
    weak var store: MagicData?
    do {
      let magic = try MagicData(path: folder.path)
      store = magic
      page = ClosingPage("a")
      try magic.update(page)
      #expect(try page.file?.get() == Data("a".utf8))
    }
    #expect(store == nil)
    #expect(openFiles(in: folder.path).isEmpty)
    #expect(page.text == "a")
    #expect(throws: MagicError.closed) { try page.file?.get() }
    #expect(throws: MagicError.closed) { try page.origins.count() }
  }
}
