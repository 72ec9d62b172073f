import Foundation
import MagicData
import MagicHistory
import SQLiteHistory
import Testing
import TestSupport
import UndoWorkload

@Suite(.timeLimit(.minutes(40))) struct ObjectPatchTests {
  let folder: TestFolder
  let magic: MagicData
  let copy: MagicData
  let outbox: String

  init() throws {
    folder = try TestFolder()
    magic = try MagicData(path: "\(folder.path)/first")
    copy = try MagicData(path: "\(folder.path)/second")
    outbox = "\(folder.path)/outbox"
    for store in [magic, copy] { try RandomEditor.prepare(store) }
  }

  /// The names of the files in the outbox.
  private var sent: [String] {
    get throws {
      FileManager.default.fileExists(atPath: outbox)
        ? try FileManager.default.contentsOfDirectory(atPath: outbox) : []
    }
  }

  /// Returns all content files of a store, including those of uncommitted transactions.
  private func files(of store: MagicData) throws -> [String] {
    // A store creates its folder when it writes its first content.
    guard FileManager.default.fileExists(atPath: store.assets.path) else { return [] }
    return try FileManager.default.subpathsOfDirectory(atPath: store.assets.path).filter {
      AssetID(String(URL(filePath: $0).lastPathComponent.prefix(32))) != nil
        && !FileManager.default.isFolder("\(store.assets.path)/\($0)")
    }
  }

  private func photo(of store: MagicData) async throws -> String? {
    let author = try await store.objects(of: Author.self).first
    return try await author?.photo?.get().map { String(decoding: $0, as: UTF8.self) }
  }

  private func author(_ name: String, _ photo: String) -> Author {
    let author = Author(name)
    author.photo = MagicAsset(value: Data(photo.utf8), pathExtension: "txt")
    return author
  }

  @Test(arguments: [1, 2, 3])
  func `a copy that receives all patches and assets equals the original`(
    seed: UInt64
  ) throws {
    var editor = RandomEditor(seed: seed)
    if seed == 2 { copy.assets.minimumFileSize = 30 }
    if seed == 3 { magic.assets.minimumFileSize = 30 }
    var count = 0
    for round in 0..<60 {
      let patch = try magic.patch(assetsTo: outbox) {
        for _ in 0..<editor.number(1..<5) { try editor.edit(magic) }
      }
      count += patch.count
      // Encodes and decodes the patch, like sending it in a file.
      let data = try JSONEncoder().encode(patch)
      try copy.apply(JSONDecoder().decode(Patch.self, from: data), assetsFrom: outbox)
      try #require(try Dump(copy) == Dump(magic), "round \(round)")
    }
    #expect(count > 200)
    #expect(try copy.assets.verify().isEmpty)
    #expect(try copy.assets.sweep().removed.isEmpty)
    let stored = try copy.assets.records().filter { !$0.isInRow }
    #expect(try files(of: copy).count == stored.count)
  }

  @Test func `a patch can be applied again without its assets`() async throws {
    let (magic, copy, outbox) = (magic, copy, outbox)
    let ann = author("ann", "one")
    let patch = try await magic.patch(assetsTo: outbox) { try magic.update(ann) }
    #expect(try sent.count == 1)
    try await copy.apply(patch, assetsFrom: outbox)
    try FileManager.default.removeItem(atPath: outbox)
    let report = try await copy.apply(patch, assetsFrom: outbox, isIdempotent: true)
    #expect(report.appliedCount == 0 && report.skippedCount == patch.count)
    #expect(try await photo(of: copy) == "one")
    #expect(try files(of: copy).count == 1)
    // Replaces the asset's content and then removes the asset.
    let second = try await magic.patch(assetsTo: outbox) {
      ann.photo?.set(Data("two".utf8))
      try magic.update(ann)
    }
    try await copy.apply(second, assetsFrom: outbox)
    #expect(try await photo(of: copy) == "two")
    #expect(try files(of: copy).count == 1)
    let last = try await magic.patch(assetsTo: outbox) { try magic.remove(ann) }
    try await copy.apply(last)
    #expect(try files(of: copy).isEmpty)
    #expect(try sent.count == 1)
  }

  @Test func `a missing or damaged content throws an error with its path and changes nothing`()
    throws
  {
    let patch = try magic.patch(assetsTo: outbox) {
      try magic.update([author("ann", "one"), author("bob", "two")])
    }
    let before = try Dump(copy)
    let name = try #require(try sent.sorted().first)
    let missing = try #require(throws: AssetError.self) { try copy.apply(patch) }
    guard case .missingFile = missing else {
      Issue.record("\(missing)")
      return
    }
    try Data("ono".utf8).write(to: URL(filePath: "\(outbox)/\(name)"))
    let damaged = try #require(throws: AssetError.self) {
      try copy.apply(patch, assetsFrom: outbox)
    }
    guard case .damagedFile(_, let path) = damaged else {
      Issue.record("\(damaged)")
      return
    }
    #expect(path == "\(outbox)/\(name)")
    try FileManager.default.removeItem(atPath: "\(outbox)/\(name)")
    #expect(throws: AssetError.self) { try copy.apply(patch, assetsFrom: outbox) }
    #expect(try Dump(copy) == before)
    #expect(try files(of: copy).isEmpty)
    try magic.copyAssets(of: patch, to: outbox)
    try copy.apply(patch, assetsFrom: outbox)
    #expect(try Dump(copy) == Dump(magic))
  }

  private static let digest = Value.blob([UInt8](repeating: 7, count: 32))

  @Test(arguments: [
    ("id", Value.text("../../outside")), ("id", .integer(.min)), ("id", .blob([0xff])),
    ("id", .text("")), ("id", .text("0123456789ABCDEF0123456789ABCDEF")),
    ("file", .text("../../outside")), ("file", .text("")), ("file", .integer(.max)),
    ("file", .blob([1])), ("file", .text("/etc/passwd")), ("file", .text("a\0b")),
    ("file", .text("0123456789abcdef0123456789abcdef./x")),
    ("file", .text("0123456789abcdef0123456789abcdef." + String(repeating: "x", count: 65))),
    ("size", .integer(.max)), ("size", .integer(.min)), ("size", .integer(-1)),
    ("size", .integer(2)),
    ("size", .real(.infinity)), ("size", .text("x")), ("sha256", .blob([])),
    ("sha256", digest), ("sha256", .text("x")), ("sha256", .blob([UInt8](repeating: 7, count: 33))),
    ("content", .blob([])), ("content", .text("one")), ("content", .integer(1)),
    ("content", .blob([1, 2, 3])),
  ])
  func `a forged asset row throws and changes nothing`(
    column: String, value: Value
  ) throws {
    let ann = author("ann", "one")
    for isInRow in [true, false] {
      magic.assets.minimumFileSize = isInRow ? 100 : 0
      try magic.removeAll(Author.all)
      try copy.removeAll(Author.all)
      let insert = try magic.patch(assetsTo: outbox) {
        ann.photo = MagicAsset(value: Data("one".utf8), pathExtension: "txt")
        try magic.update(ann)
      }
      let update = try magic.patch(assetsTo: outbox) {
        ann.photo?.set(Data("two".utf8))
        try magic.update(ann)
      }
      func forged(_ patch: Patch) throws -> Patch {
        Patch(
          tables: try patch.tables.map { table in
            guard table.name == "magicdata_asset" else { return table }
            let place = try #require(table.columns?.firstIndex(of: column))
            return Patch.Table(
              name: table.name, keyPositions: table.keyPositions, columns: table.columns,
              rows: table.rows.map { row in
                var (old, new) = (row.old, row.new)
                new[place] = value
                if row.kind == .update, old[place] == nil { old[place] = .null }
                return Patch.Row(row.kind, isIndirect: row.isIndirect, old: old, new: new)
              })
          })
      }
      let before = try Dump(copy)
      func expectRejection(_ patch: Patch) throws {
        // With another asset id, the owner's reference is rejected instead.
        #expect {
          try copy.apply(patch, assetsFrom: outbox) { $0.kind == .data ? .replace : .omit }
        } throws: { error in
          error is AssetError || column == "id" && error is PatchError
        }
      }
      try expectRejection(forged(insert))
      #expect(try Dump(copy) == before)
      try copy.apply(insert, assetsFrom: outbox)
      let second = try Dump(copy)
      if column != "id" { try expectRejection(forged(update)) }
      #expect(try Dump(copy) == second)
      #expect(try copy.assets.verify().isEmpty)
      // A single column of an existing asset.
      guard column != "id" else { continue }
      let id = try #require(try copy.assets.records().first?.id)
      try expectRejection(
        Patch(tables: [
          Patch.Table(
            name: "MagicData_Asset", keyPositions: [1, 0], columns: ["id", column],
            rows: [
              Patch.Row(
                .update, isIndirect: false, old: [id.databaseValue, .null], new: [nil, value])
            ])
        ]))
      #expect(try Dump(copy) == second)
    }
  }

  @Test func `failed and rolled back patches leave no files`() throws {
    #expect(throws: CancellationError.self) {
      try magic.patch(assetsTo: outbox) {
        try magic.update(author("ann", "one"))
        throw CancellationError()
      }
    }
    #expect(try sent.isEmpty)
    let empty = try magic.patch(assetsTo: outbox) {
      try magic.update(author("ann", "one"))
      return TransactionOutcome.rollback
    }
    #expect(empty.isEmpty)
    #expect(try sent.isEmpty)
    #expect(try magic.count(of: Author.self) == 0)
    let patch = try magic.patch(assetsTo: outbox) { try magic.update(author("ann", "one")) }
    // Both stores use the same primary key for the author.
    try copy.update(Author("ann"))
    #expect(throws: PatchError.self) { try copy.apply(patch, assetsFrom: outbox) }
    #expect(try files(of: copy).isEmpty)
    #expect(throws: CancellationError.self) {
      try copy.transaction {
        try copy.apply(patch, assetsFrom: outbox) { _ in .replace }
        throw CancellationError()
      }
    }
    #expect(try files(of: copy).isEmpty)
    #expect(try copy.assets.records().isEmpty)
    // With `replace`, the author gets the photo.
    try copy.apply(patch, assetsFrom: outbox) { _ in .replace }
    #expect(try copy.objects(of: Author.self).first?.photo?.get() == Data("one".utf8))
    // A folder can't be created at the path of a file.
    try Data().write(to: URL(filePath: "\(folder.path)/file"))
    #expect(throws: AssetError.self) {
      try magic.patch(assetsTo: "\(folder.path)/file") { try magic.update(author("bob", "two")) }
    }
    #expect(try magic.count(of: Author.self) == 1)
  }

  @Test func `a patch can restore a row whose content only a history keeps`() throws {
    let history = try copy.history()
    let ann = author("ann", "one")
    let patch = try magic.patch(assetsTo: outbox) { try magic.update(ann) }
    try copy.apply(patch, assetsFrom: outbox)
    try FileManager.default.removeItem(atPath: outbox)
    try copy.undoable("Remove") { try copy.removeAll(Author.all) }
    #expect(try files(of: copy).count == 1)
    try copy.apply(patch, assetsFrom: outbox)
    try history.clear()
    try copy.assets.removeDeletedFiles()
    #expect(try copy.objects(of: Author.self).first?.photo?.get() == Data("one".utf8))
  }

  @Test func `copying contents that no longer exist throws`() async throws {
    let ann = author("ann", "one")
    let magic = magic
    let patch = try await magic.patch { try magic.update(ann) }
    try await magic.copyAssets(of: patch, to: outbox)
    #expect(try sent.count == 1)
    ann.photo?.set(Data("two".utf8))
    try await magic.update(ann)
    #expect(throws: AssetError.self) { try magic.copyAssets(of: patch, to: "\(folder.path)/other") }
    try await magic.remove(ann)
    #expect(throws: AssetError.self) { try magic.copyAssets(of: patch, to: "\(folder.path)/other") }
  }

  @Test(arguments: [1, 2, 3])
  func `a process killed while it applies patches leaves only complete patches`(
    seed: UInt64
  ) throws {
    let patches = try PatchFolder(outbox)
    var editor = RandomEditor(seed: seed)
    var states = [try Dump(magic)]
    for number in 0..<60 {
      let patch = try magic.patch(assetsTo: patches.assets) {
        for _ in 0..<editor.number(1..<5) { try editor.edit(magic) }
      }
      try patches.put(patch, number: number)
      states.append(try Dump(magic))
    }
    let path = "\(folder.path)/second"
    try copy.database.close()
    for round in 0..<6 {
      try killHelper([path, "0", "apply", outbox], after: Int(seed) + round)
      let store = try MagicData(path: path)
      let count = try PatchFolder.appliedCount(in: store)
      try #require(try Dump(store) == states[count], "after \(count) patches")
      #expect(try store.assets.verify().isEmpty)
      #expect(try store.assets.sweep().removed.isEmpty)
      #expect(try files(of: store).count == store.assets.records().count)
      try store.database.close()
    }
    let store = try MagicData(path: path)
    while try patches.applyNext(to: store) {}
    #expect(try Dump(store) == Dump(magic))
  }

  @Test(arguments: [1, 2, 3])
  func `a process killed while it sends patches leaves only complete contents`(seed: UInt64) throws
  {
    let path = "\(folder.path)/first"
    try magic.database.close()
    for round in 0..<6 {
      try killHelper(
        [path, "\(seed * 100 + UInt64(round))", "send", outbox], after: Int(seed) + round)
    }
    let store = try MagicData(path: path)
    #expect(try store.assets.verify().isEmpty)
    #expect(try store.assets.sweep().removed.isEmpty)
    let patch = try store.patch(assetsTo: outbox) { try store.update(author("last", "one")) }
    #expect(patch.count > 1)
    let sizes = Dictionary(
      try store.assets.records().map { ($0.file.text, $0.size) }, uniquingKeysWith: { $1 })
    for name in try sent {
      #expect(!name.hasSuffix(".part"))
      guard let size = sizes[name] else { continue }
      #expect(try Data(contentsOf: URL(filePath: "\(outbox)/\(name)")).count == size)
    }
  }
}

extension FileManager {
  fileprivate func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return unsafe fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
  }
}
