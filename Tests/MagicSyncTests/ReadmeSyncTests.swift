import Foundation
import MagicData
import MagicSync
import TestSupport
import Testing

/// The examples of the README and of MagicSync's articles.
@Suite(.timeLimit(.minutes(10))) struct ReadmeSyncTests {
  struct Note: MagicObject {
    @PrimaryMagicValue var id: UUID
    @MagicValue var title: String
    @MagicValue var text = ""
    @MagicValue var tags: MagicalSet<Tag> = []
    @OptionalMagicValue var photo: MagicAsset<Data>?

    init() {}
    init(_ title: String) { self.title = title }
  }

  struct Tag: MagicObject {
    @PrimaryMagicValue var name: String

    init() {}
    init(_ name: String) { self.name = name }
  }

  actor MemoryFolder: SyncFolder {
    private var files: [String: Data] = [:]

    func list() -> [String] { Array(files.keys) }
    func read(_ name: String) -> Data? { files[name] }
    func create(_ name: String, _ content: Data) -> Bool {
      guard files[name] == nil else { return false }
      files[name] = content
      return true
    }
    func remove(_ name: String) { files[name] = nil }
  }

  private let files: TestFolder
  private var folder: String { "\(files.path)/shared" }

  init() throws { files = try TestFolder() }

  /// Lets two devices exchange everything.
  private func settle(_ syncs: [Sync]) async throws {
    for _ in 0..<6 { for sync in syncs { try await sync.once() } }
  }

  /// Makes the next transaction later than all before.
  private func waitForNextMillisecond() async throws {
    let start = Date()
    try await waitUntil { Date().timeIntervalSince(start) >= 0.002 }
  }

  private func device(_ name: String) async throws -> (MagicData, Sync) {
    let magic = try await MagicData(path: "\(files.path)/\(name)")
    let sync = try await Sync(
      magic, through: .folder(folder), objects: [Note.self, Tag.self], deviceName: name)
    return (magic, sync)
  }

  @Test func `a store is opened with its folder`() async throws {
    let path = "\(files.path)/a"
    let magic = try await MagicData(
      path: path, syncedThrough: .folder(folder), deviceName: "laptop")
    #expect(magic.sync != nil)
  }

  @Test func `README opens a store with its folder`() async throws {
    let path = "\(files.path)/a"
    let magic = try await MagicData(path: path, syncedThrough: .folder(folder))
    for conflict in try await magic.sync?.conflicts() ?? [] {
      print(conflict.date, conflict)
      try await magic.sync?.restore(conflict)  // or acknowledge([conflict])
    }
    #expect(magic.sync != nil)
  }

  @Test func `a program exchanges files once`() async throws {
    let magic = try await MagicData(path: "\(files.path)/a")
    let sync = try await Sync(
      magic, through: .folder(folder), objects: [Note.self, Tag.self], deviceName: "laptop")
    let report = try await sync.once()
    print(report.sentCount, "sent,", report.receivedCount, "received")
    for problem in report.problems { print("waits:", problem) }
    #expect(report.problems == [])
  }

  @Test func `files are exchanged through memory`() async throws {
    let folder = MemoryFolder()
    let (a, b) = (
      try await MagicData(path: "\(files.path)/a"), try await MagicData(path: "\(files.path)/b")
    )
    let syncA = try await Sync(a, through: folder, objects: [Note.self, Tag.self])
    let syncB = try await Sync(b, through: folder, objects: [Note.self, Tag.self])
    try await a.update(Note("Shopping"))
    try await settle([syncA, syncB])
    #expect(try await b.fetch(Note.all).map(\.title) == ["Shopping"])
  }

  @Test func `the tutorial's program writes a note and shows it`() async throws {
    let path = "\(files.path)/a"
    let notes = try await MagicData(
      path: path, syncedThrough: .folder(folder), objects: [Note.self, Tag.self],
      deviceName: "laptop")
    let note = Note("Shopping")
    note.text = "bread"
    note.tags = [Tag("home")]
    try await notes.update(note)
    try await notes.sync?.once()

    let remover = Task { try await notes.remove(note) }
    for try await found in notes.observe(Note.ordered(by: .ascending(\.$title))) {
      print(found.map(\.title))
      if found.isEmpty { break }
    }
    try await remover.value

    if let sync = notes.sync {
      for await status in sync.statuses() {
        switch status {
        case .idle: print("up to date")
        case .sending(let done, let total): print("sending", done, "of", total)
        case .receiving(let done, let total): print("receiving", done, "of", total)
        case .applying: print("updating")
        case .waiting(let problem): print("waiting:", problem)
        case .failed(let description): print("failed:", description)
        }
        if status == .idle { break }
      }
    }
  }

  @Test(arguments: [true, false])
  func `the tutorial's conflict is shown and closed`(keepsLaterEdit: Bool) async throws {
    let (notes, sync) = try await device("laptop")
    let (phone, syncPhone) = try await device("old phone")
    try await settle([sync, syncPhone])
    let note = Note("Shopping")
    note.text = "bread"
    try await notes.update(note)
    try await settle([sync, syncPhone])
    let copy = try await phone.object(of: Note.self, primary: note.id)
    note.text = "bread, milk"
    try await notes.update(note)
    try await waitForNextMillisecond()
    copy.text = "bread, cheese"
    try await phone.update(copy)
    try await settle([sync, syncPhone])
    #expect(try await notes.object(of: Note.self, primary: note.id).text == "bread, cheese")

    for conflict in try await sync.conflicts() {
      guard conflict.table == "Note", conflict.kind == .value, let key = conflict.key.first else {
        continue
      }
      let titles = try await notes.database.rows(
        "SELECT title FROM Note WHERE z_index = \(key)", as: String.self)
      print("“\(titles.first ?? "")” was changed twice, at", conflict.date)
      for (property, value) in conflict.lost {
        print("  \(property): “\(value)” was replaced by “\(conflict.kept[property] ?? .null)”")
      }
    }
    let conflict = try #require(try await sync.conflicts().first)
    #expect(conflict.lost["text"] == .text("bread, milk"))
    if keepsLaterEdit {
      try await sync.acknowledge([conflict])
    } else {
      try await sync.restore(conflict)
    }
    #expect(try await sync.conflicts() == [])
    try await settle([sync, syncPhone])
    let text = try await phone.object(of: Note.self, primary: note.id).text
    #expect(text == (keepsLaterEdit ? "bread, cheese" : "bread, milk"))

    for device in try await sync.devices() where !device.isRemoved {
      print(device.name, device.lastSeen)
      if device.name == "old phone" { try await sync.remove(device: device.id) }
    }
    #expect(try await sync.devices().map(\.isRemoved) == [true])
  }
}
