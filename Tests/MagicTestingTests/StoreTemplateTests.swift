import Foundation
import MagicData
import MagicHistory
import MagicTesting
import Synchronization
import TestSupport
import Testing

/// The ways to copy a template.
enum Copying: CaseIterable, Sendable {
  case memory, backup, temporary, path, url

  /// The template to copy: a new one for each test.
  var template: StoreTemplate { .shelves(usesBackup: self == .backup) }

  func copy(_ template: StoreTemplate, to folder: TestFolder) throws -> MagicData {
    switch self {
    case .memory, .backup: try MagicData(copying: template)
    case .temporary: try MagicData(copying: template, type: .temporary)
    case .path: try MagicData(copying: template, at: "\(folder.path)/store-\(UUID().uuidString)")
    case .url:
      try MagicData(
        copying: template, at: folder.url.appending(path: "\(UUID().uuidString).sqlite3"))
    }
  }
}

@Suite struct StoreTemplateTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  @Test(arguments: Copying.allCases)
  func `a copy has the objects, relations, assets and migrations of its template`(
    copying: Copying
  ) throws {
    let template = copying.template
    for _ in 1...2 {
      let magic = try copying.copy(template, to: folder)
      let shelf = try magic.object(of: Shelf.self, primary: "Austen")
      #expect(shelf.volumes.map(\.title) == ["Emma", "Persuasion", "Sanditon"])
      #expect(shelf.best.map(\.title) == ["Emma"])
      #expect(try shelf.volumes[0].cover?.data() == Data("png".utf8))
      #expect(try shelf.volumes[2].cover?.data() == Data(repeating: 7, count: 100_000))
      #expect(try magic.assets.verify().isEmpty)
      #expect(
        try magic.migrate([Migration("settings", .sql("DROP TABLE Volume"))]).isEmpty)
      try magic.close()
    }
  }

  @Test func `copies can be made asynchronously`() async throws {
    let template = StoreTemplate.shelves()
    let memory = try await MagicData(copying: template)
    let files = try await MagicData(copying: template, type: .temporary)
    let path = try await MagicData(copying: template, at: folder.file())
    let url = try await MagicData(copying: template, at: folder.url.appending(path: "url"))
    for magic in [memory, files, path, url] {
      #expect(try await magic.count(of: Volume.self) == 3)
      #expect(try await magic.difference(from: template).isEmpty)
    }
  }

  @Test func `concurrent first copies fill the template once`() async throws {
    let counter = Counter()
    let template = StoreTemplate { magic in
      counter.increment()
      try magic.update(Volume("Emma"))
    }
    try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<16 {
        group.addTask {
          let type: MagicData.StoreType = number % 2 == 0 ? .memory : .temporary
          return try await MagicData(copying: template, type: type).count(of: Volume.self)
        }
      }
      for try await count in group { #expect(count == 1) }
    }
    #expect(counter.count == 1)
  }

  @Test(arguments: Copying.allCases)
  func `concurrent copies don't see each other's changes`(copying: Copying) async throws {
    let template = copying.template
    let titles = try await withThrowingTaskGroup(of: [String].self) { group in
      for number in 0..<8 {
        group.addTask {
          let magic = try copying.copy(template, to: folder)
          let added = Volume("New \(number)", rank: 10)
          try await magic.update(added)
          // Automatic keys continue after those of the template, in each copy.
          #expect(added.id == 4)
          try await magic.updateAll(
            Volume.where(\.$rank == 1), set: [.set(\.$title, to: "Old \(number)")])
          let titles = try await magic.fetch(Volume.all.ordered(by: .ascending(\.$id)))
            .map(\.title)
          return titles
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(
      Set(titles)
        == Set((0..<8).map { ["Old \($0)", "Persuasion", "Sanditon", "New \($0)"] }))
    #expect(try await copying.copy(template, to: folder).difference(from: template).isEmpty)
  }

  @Test(arguments: Copying.allCases)
  func `an observation of one copy isn't notified of another`(copying: Copying) async throws {
    let template = copying.template
    let (one, other) = (
      try copying.copy(template, to: folder), try copying.copy(template, to: folder)
    )
    var counts = one.observe(Volume.all.count).makeAsyncIterator()
    #expect(try await counts.next() == 3)
    for _ in 1...3 { try await other.update(Volume("Other")) }
    try await one.update(Volume("One"))
    // Without isolation, the next count would be one of `other` or a repetition.
    #expect(try await counts.next() == 4)
  }

  @Test(arguments: Copying.allCases)
  func `changes of a copy's assets don't affect the template or other copies`(
    copying: Copying
  ) throws {
    let template = copying.template
    let (one, other) = (
      try copying.copy(template, to: folder), try copying.copy(template, to: folder)
    )
    let volumes = try one.fetch(Volume.all.ordered(by: .ascending(\.$id)))
    // A program that writes to the files, in place.
    let files = "\(one.assets.path)/files"
    #expect(try volumes[0].cover?.data() == Data("png".utf8))
    let names = try FileManager.default.contentsOfDirectory(atPath: files)
    #expect(names.count == 2)
    for name in names {
      let file = try FileHandle(forUpdating: URL(filePath: "\(files)/\(name)"))
      try file.write(contentsOf: Data("hostile".utf8))
      try file.close()
    }
    #expect(try one.assets.verify().count == 2)
    volumes[0].cover = MagicAsset(value: Data("new".utf8), pathExtension: "png")
    try one.update(volumes[0])
    try one.remove(volumes[2])
    #expect(try one.assets.verify().isEmpty)
    for magic in [other, try copying.copy(template, to: folder)] {
      #expect(try magic.assets.verify().isEmpty)
      #expect(try magic.difference(from: template).isEmpty)
      let volumes = try magic.fetch(Volume.all.ordered(by: .ascending(\.$id)))
      #expect(try volumes[0].cover?.data() == Data("png".utf8))
      #expect(try volumes[2].cover?.data() == Data(repeating: 7, count: 100_000))
    }
  }

  @Test(arguments: [MagicData.StoreType.memory, .temporary])
  func `asset files are copied when a copy first accesses its asset folder`(
    type: MagicData.StoreType
  ) throws {
    let template = StoreTemplate.shelves()
    let magic = try MagicData(copying: template, type: type)
    try magic.update(Volume("Lady Susan"))
    let volumes = try magic.fetch(Volume.all.ordered(by: .ascending(\.$id)))
    #expect(!FileManager.default.fileExists(atPath: magic.assets.path))
    #expect(try volumes[0].cover?.data() == Data("png".utf8))
    #expect(FileManager.default.fileExists(atPath: "\(magic.assets.path)/files"))
  }

  @Test func `an object of one copy is a new object in another copy`() throws {
    let template = StoreTemplate.shelves()
    let (one, other) = (
      try MagicData(copying: template), try MagicData(copying: template)
    )
    let shelf = try one.object(of: Shelf.self, primary: "Austen")
    shelf.volumes = []
    try other.insert(Shelf("Brontë", []))
    #expect(throws: MagicError.self) { try other.insert(shelf) }
    #expect(one.identity != other.identity)
    #expect(try one.difference(from: other).tables.map(\.name) == ["Shelf"])
  }

  @Test func `a copy doesn't examine the tables of the template's types again`() throws {
    var options = Database.Options()
    let log = StatementLog()
    options.prepareConnection = { connection in
      try connection.trace { event in
        if case .begins(let sql) = event { log.add(sql) }
      }
    }
    let template = StoreTemplate(options: options) { try $0.update(Shelf("a", [Volume("b")])) }
    let magic = try MagicData(copying: template)
    log.clear()
    try magic.update(Shelf("c", [Volume("d")]))
    _ = try magic.objects(of: Shelf.self)
    #expect(!log.statements.isEmpty)
    #expect(log.statements.filter { $0.contains("pragma") || $0.contains("sqlite_schema") } == [])
  }

  @Test func `the options of the template apply to its copies`() throws {
    var options = Database.Options()
    options.journalMode = .delete
    options.foreignKeys = false
    options.prepareConnection = { connection in
      try connection.addFunction("twice") { (number: Int) in number * 2 }
    }
    let template = StoreTemplate(options: options, minimumFileSize: 100) { magic in
      try magic.database.executeChange("CREATE TABLE number (value)")
      try magic.database.executeChange("INSERT INTO number VALUES (twice(4))")
      try magic.update(Volume("Emma", cover: Data("png".utf8)))
    }
    for magic in [
      try MagicData(copying: template), try MagicData(copying: template, at: folder.file()),
    ] {
      #expect(
        try magic.database.rows("SELECT twice(value) FROM number", as: Int.self) == [16])
      #expect(try magic.database.rows("PRAGMA foreign_keys", as: Int.self) == [0])
      #expect(magic.assets.minimumFileSize == 100)
      #expect(!FileManager.default.fileExists(atPath: magic.assets.path))
      #expect(try magic.objects(of: Volume.self)[0].cover?.data() == Data("png".utf8))
    }
    #expect(try folder.names() == ["data.sqlite3"])
  }

  @Test func `a copy in a file is a store that can be opened again`() throws {
    let template = StoreTemplate.shelves()
    try MagicData(copying: template, at: folder.path).close()
    #expect(try folder.names() == ["assets", "default.sqlite3"])
    let again = try MagicData(path: folder.path)
    #expect(try again.difference(from: template).isEmpty)
    #expect(try again.assets.verify().isEmpty)
  }

  @Test func `a template can contain undo steps`() throws {
    let template = StoreTemplate { magic in
      let history = try magic.history(keeping: .inStore)
      try magic.undoable("add") { try magic.update(Volume("Emma", cover: Data("png".utf8))) }
      _ = history
    }
    for type in [MagicData.StoreType.memory, .temporary] {
      let magic = try MagicData(copying: template, type: type)
      let history = try magic.history(keeping: .inStore)
      #expect(history.undoNames == ["add"])
      try history.undo()
      #expect(try magic.count(of: Volume.self) == 0)
      try history.redo()
      #expect(try magic.objects(of: Volume.self)[0].cover?.data() == Data("png".utf8))
    }
  }

  @Test func `a template can be a changed copy of another template`() throws {
    let base = StoreTemplate.shelves()
    let template = StoreTemplate { magic in
      try MagicData(copying: base).database.backup(to: magic.database)
      try magic.update(Volume("Lady Susan"))
    }
    #expect(try MagicData(copying: template).count(of: Volume.self) == 4)
    #expect(try MagicData(copying: base).count(of: Volume.self) == 3)
  }

  @Test func `a temporary copy is deleted when it is closed or released`() throws {
    let template = StoreTemplate.shelves()
    for type in [MagicData.StoreType.memory, .temporary] {
      var magic: MagicData? = try MagicData(copying: template, type: type)
      let path = try #require(magic.map { ($0.assets.path as NSString).deletingLastPathComponent })
      #expect(FileManager.default.fileExists(atPath: path))
      magic = nil
      #expect(!FileManager.default.fileExists(atPath: path))
      let other = try MagicData(copying: template, type: type)
      try other.close()
      #expect(throws: MagicError.closed) { try other.count(of: Volume.self) }
    }
  }
}

/// The statements that the connections of a store have run.
final class StatementLog: Sendable {
  private let all = Mutex<[String]>([])
  var statements: [String] { all.withLock { $0 } }
  func add(_ sql: String) { all.withLock { $0.append(sql) } }
  func clear() { all.withLock { $0 = [] } }
}

@Suite struct StoreTemplateErrorTests {
  private struct Broken: Error, Equatable {}

  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  @Test func `if filling a template fails, each copy throws the same error`() async throws {
    let (counter, paths) = (Counter(), StatementLog())
    let template = StoreTemplate(fileID: "File", line: 7) { magic in
      counter.increment()
      paths.add(magic.assets.path)
      try magic.update(Volume("Emma", cover: Data("png".utf8)))
      throw Broken()
    }
    for _ in 1...3 {
      let error = try #require(
        throws: TemplateError.self, performing: { _ = try MagicData(copying: template) })
      guard case .fillingFailed("File:7", let cause) = error else {
        Issue.record(error)
        continue
      }
      #expect(cause is Broken)
      #expect("\(error)" == "the template at File:7 could not be filled: Broken()")
    }
    await #expect(throws: TemplateError.self) {
      try await MagicData(copying: template, at: folder.file())
    }
    #expect(counter.count == 1)
    #expect(try folder.names() == [])
    let filled = (paths.statements[0] as NSString).deletingLastPathComponent
    #expect(!FileManager.default.fileExists(atPath: filled))
  }

  @Test func `a cancelled task doesn't make the filling fail`() async throws {
    let template = StoreTemplate.shelves()
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      blocking { _ = try? MagicData(copying: template) }
      await #expect(throws: CancellationError.self) { try await MagicData(copying: template) }
    }
    await task.value
    #expect(try await MagicData(copying: template).count(of: Volume.self) == 3)
  }

  /// Two templates that copy each other.
  private final class Pair: Sendable {
    let first: Mutex<StoreTemplate?> = Mutex(nil)
  }

  @Test func `templates that copy themselves throw`() throws {
    let pair = Pair()
    let second = StoreTemplate { magic in
      guard let first = pair.first.withLock({ $0 }) else { return }
      _ = try MagicData(copying: first)
    }
    let first = StoreTemplate { _ in _ = try MagicData(copying: second) }
    pair.first.withLock { $0 = first }
    let own = Pair()
    let selfish = StoreTemplate { _ in
      guard let template = own.first.withLock({ $0 }) else { return }
      _ = try MagicData(copying: template)
    }
    own.first.withLock { $0 = selfish }
    for template in [first, second, selfish] {
      let error = try #require(throws: TemplateError.self) { try MagicData(copying: template) }
      #expect("\(error)".hasSuffix("copies itself; remove the copy from its closure"))
    }
    pair.first.withLock { $0 = nil }
    own.first.withLock { $0 = nil }
  }

  @Test func `the store of the closure is closed afterwards`() throws {
    let kept = Mutex<MagicData?>(nil)
    let template = StoreTemplate { magic in kept.withLock { $0 = magic } }
    _ = try MagicData(copying: template)
    let magic = try #require(kept.withLock { $0 })
    #expect(throws: MagicError.closed) { try magic.update(Volume("Emma")) }
  }

  @Test func `a closure that leaves the database open fails`() throws {
    let kept = Mutex<Database?>(nil)
    let template = StoreTemplate { magic in
      let path = try #require(magic.database.path)
      let database = try Database(path: path)
      try database.executeChange("CREATE TABLE extra (value)")
      kept.withLock { $0 = database }
    }
    let error = try #require(throws: TemplateError.self) { try MagicData(copying: template) }
    #expect("\(error)".contains("left the database of the template open"))
  }

  @Test(arguments: ["store/default.sqlite3", "store/assets/x", "store/default.sqlite3-wal"])
  func `a copy doesn't replace existing files`(name: String) async throws {
    let template = StoreTemplate.shelves()
    try folder.write("mine", to: name)
    let before = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
    #expect(throws: (any Error).self) {
      try MagicData(copying: template, at: folder.file("store"))
    }
    await #expect(throws: (any Error).self) {
      try await MagicData(copying: template, at: URL(filePath: folder.file("store")))
    }
    #expect(try folder.bytes(of: name) == Array("mine".utf8))
    #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() == before)
  }

  @Test func `an open store isn't replaced`() throws {
    let template = StoreTemplate.shelves()
    let magic = try MagicData(path: folder.file("store"))
    try magic.update(Volume("mine"))
    let error = try #require(throws: TemplateError.self) {
      try MagicData(copying: template, at: folder.file("store"))
    }
    guard case .fileExists(let path) = error else { throw error }
    #expect(path.hasSuffix("store/default.sqlite3"))
    #expect(try magic.objects(of: Volume.self).map(\.title) == ["mine"])
  }

  @Test func `a copy that can't be opened leaves nothing at its path`() throws {
    let isFilled = Mutex(false)
    var options = Database.Options()
    options.prepareConnection = { _ in
      if isFilled.withLock({ $0 }) { throw Broken() }
    }
    let template = StoreTemplate(options: options) { magic in
      try magic.update(Volume("Emma", cover: Data("png".utf8)))
      isFilled.withLock { $0 = true }
    }
    for path in ["store", "data.sqlite3"] {
      #expect(throws: SQLiteError.self) {
        try MagicData(copying: template, at: folder.file(path))
      }
    }
    #expect(throws: SQLiteError.self) { try MagicData(copying: template) }
    #expect(throws: SQLiteError.self) { try MagicData(copying: template, type: .temporary) }
    #expect(throws: SQLiteError.self) { try MagicData(copying: template, at: "") }
    #expect(throws: (any Error).self) {
      try MagicData(copying: template, at: "\(folder.path)/missing/data.sqlite3")
    }
    #expect(try folder.names() == [])
  }

  @Test func `a template with options for reading fails`() throws {
    let template = StoreTemplate(options: .readOnly) { _ in }
    #expect(throws: TemplateError.self) { try MagicData(copying: template) }
  }
}
