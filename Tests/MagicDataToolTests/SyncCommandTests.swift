import Foundation
import MagicData
import MagicSync
import Terminal
import TestSupport
import Testing

/// `magicdata sync` on stores of a program that syncs one of its two types.
@Suite struct SyncCommandTests {
  let fixture: ToolFixture
  var folder: String { fixture.folder.path + "/shared" }
  var copy: String { fixture.folder.path + "/copy" }

  init() throws { fixture = try ToolFixture() }

  private func once(_ store: String) -> ToolFixture.Result {
    fixture.run("sync", "--once", store, folder)
  }

  /// Creates a second store that knows the type, and exchanges everything.
  private func join() async throws {
    try await write(copy) { _ = try await $0.count(of: Person.self) }
    try await write(copy) { try await $0.update(Person("Dan", photo: "4")) }
    settle()
  }

  private func settle() {
    for _ in 0..<4 { for store in [fixture.store, copy] { _ = once(store) } }
  }

  private func names(in store: String) throws -> [String] {
    let magic = try MagicData(path: store)
    defer { try? magic.close() }
    return try magic.objects(of: Person.self).map(\.name).sorted()
  }

  private func photos(in store: String) throws -> [String?] {
    let magic = try MagicData(path: store)
    defer { try? magic.close() }
    return try magic.objects(of: Person.self).map { try $0.photo.get() }
  }

  @Test func `once exchanges all tables of a store that no program has synced`() async throws {
    let first = once(fixture.store)
    #expect(first.status == 0 && first.errors == "", "\(first)")
    #expect(first.output.hasPrefix("event,count,note\nsent,"))
    #expect(first.output.contains("\nconflicts,0,\n"))
    // The copy doesn't have the table, and the tool doesn't know the type.
    _ = try names(in: copy)
    let second = once(copy)
    #expect(second.status == 3)
    #expect(second.output.contains("\nproblem,,"), "\(second)")
    #expect(fixture.run("sync", "--status", copy).output.contains("\nproblem,,,,,"))
    try await write(copy) { try await $0.update(Person("Dan", photo: "4")) }
    settle()
    #expect(try names(in: copy).count == 4)
    #expect(try names(in: fixture.store) == names(in: copy))
    #expect(try photos(in: copy) == ["1", "22", "333", "4"])
    #expect(once(fixture.store).status == 0)
    #expect(!fixture.run("sync", "--status", copy).output.contains("problem"))
    #expect(fixture.run("check", copy).status == 0)
  }

  @Test func `a folder that can't be used is a failure`() throws {
    try Data().write(to: URL(filePath: fixture.folder.path + "/file"))
    let file = fixture.run("sync", "--once", fixture.store, fixture.folder.path + "/file")
    #expect(file.status == 1 && file.errors.contains("is not a folder"))
    let missing = fixture.run("sync", "--once", fixture.store, fixture.folder.path + "/a/b")
    #expect(missing.status == 1)
    #expect(missing.output.contains("problem,,the folder cannot be used: "))
  }

  @Test(arguments: [
    ["sync", "STORE"], ["sync", "--once", "STORE"], ["sync", "--once", "--status", "STORE", "x"],
    ["sync", "--status", "--restore", "1", "STORE"], ["sync", "--every", "0", "STORE", "x"],
    ["sync", "--remove", "STORE"], ["sync", "STORE", "x", "status"],
  ])
  func `an invalid command line exits with status 2`(words: [String]) {
    let result = fixture.run(words: words.map { $0 == "STORE" ? fixture.store : $0 })
    #expect(result.status == 2)
    #expect(result.errors.hasPrefix("magicdata sync: "))
  }

  @Test(arguments: [["--status"], ["--conflicts"], ["--restore", "1"], ["--remove", "1"]])
  func `a store that has never been synced stays unchanged`(words: [String]) throws {
    let result = fixture.run(words: ["sync"] + words + [fixture.store])
    #expect(result.status == 1)
    #expect(result.errors.contains("has never been synced"))
    let database = try fixture.database()
    #expect(try database.read { try !$0.tableExists("magicdata_sync") })
  }

  @Test func `only a store can be synced`() throws {
    let path = fixture.folder.path + "/plain.sqlite3"
    try Database(path: path).executeChange("CREATE TABLE t (a)")
    let result = fixture.run("sync", "--once", path, folder)
    #expect(result.status == 1 && result.errors.contains("is not a store"))
  }

  @Test func `status lists the devices, and remove removes one`() async throws {
    _ = fixture.run("sync", "--once", "--device-name", "Desk", fixture.store, folder)
    try await join()
    let status = fixture.run("sync", "--status", fixture.store)
    #expect(status.status == 0)
    let lines = status.output.split(separator: "\n").map { $0.split(separator: ",") }
    #expect(lines[0].joined(separator: ",") == "kind,id,name,received,seen,note")
    #expect(lines[1][0] == "this device" && lines[1][2] == "Desk")
    #expect(lines[2][0] == "device" && lines[2][2] == "Phone")
    #expect(lines[3].prefix(2) == ["conflicts", "0"])
    let phone = String(lines[2][1])
    #expect(fixture.run("sync", "--remove", "nobody", fixture.store).status == 1)
    #expect(fixture.run("sync", "--remove", "", fixture.store).status == 1)
    #expect(
      fixture.run("sync", "--remove", String(phone.prefix(8)), fixture.store).status == 0)
    #expect(
      fixture.run("sync", "--status", fixture.store).output.contains("\(phone),Phone,"))
    #expect(fixture.run("sync", "--status", fixture.store).output.contains(",removed\n"))
    #expect(fixture.run("sync", "--remove", phone, fixture.store).status == 1)
  }

  @Test func `conflicts are listed, acknowledged and restored`() async throws {
    _ = once(fixture.store)
    try await join()
    for (store, name) in [(fixture.store, "Ada A"), (copy, "Ada B")] {
      try await rename("Ada", name, in: store)
      try await rename("Bob", name.replacing("Ada", with: "Bob"), in: store)
    }
    settle()
    let list = fixture.run("sync", "--conflicts", "--format", "json", fixture.store)
    #expect(list.status == 3)
    let rows = try list.output.split(separator: "\n").map {
      try #require(
        try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String])
    }
    #expect(rows.map { $0["lost"] } == ["name = 'Ada A'", "name = 'Bob A'"])
    #expect(rows.map { $0["kept"] } == ["name = 'Ada B'", "name = 'Bob B'"])
    #expect(rows[0]["table"] == "Person" && rows[0]["key"] == "1")
    #expect(once(fixture.store).output.contains("conflicts,2,"))

    #expect(fixture.run("sync", "--restore", "no", fixture.store).status == 1)
    #expect(fixture.run("sync", "--acknowledge", "no", fixture.store).status == 1)
    #expect(
      fixture.run("sync", "--restore", try #require(rows[0]["id"]), fixture.store).status == 0)
    #expect(
      fixture.run("sync", "--acknowledge", try #require(rows[1]["id"]), fixture.store).status == 0)
    let none = fixture.run("sync", "--conflicts", fixture.store)
    #expect(none.status == 0 && none.output.split(separator: "\n").count == 1)
    settle()
    #expect(try names(in: copy).contains("Ada A") && names(in: copy).contains("Bob B"))
    #expect(try names(in: fixture.store) == names(in: copy))
    #expect(fixture.run("sync", "--acknowledge", "all", copy).status == 0)
    #expect(fixture.run("sync", "--conflicts", copy).status == 0)
  }

  @Test func `a store with content can't join, and stays unchanged`() throws {
    _ = once(fixture.store)
    let magic = try MagicData(path: copy)
    try magic.update(Person("Dan", photo: "4"))
    try magic.close()
    let result = once(copy)
    #expect(result.status == 1 && result.output == "")
    #expect(result.errors.contains("the store has objects, and the folder has those of other"))
    #expect(try names(in: copy) == ["Dan"])
  }

  @Test func `the tool syncs only the tables that the program has chosen`() async throws {
    let magic = try await MagicData(path: fixture.store)
    try await magic.database.executeMultipleChanges(
      """
      CREATE TABLE secret (id INTEGER PRIMARY KEY, text TEXT);
      INSERT INTO secret VALUES (1, 'a private note')
      """)
    _ = try await Sync(
      magic, through: .folder(folder), name: "people", objects: [Person.self],
      retention: .seconds(Int64.max))
    try await magic.close()
    let other = fixture.run("sync", "--once", "--name", "store", fixture.store, folder)
    #expect(other.status == 1 && other.errors.contains(#"has the name "people", not "store""#))
    #expect(once(fixture.store).status == 0)
    // The tool doesn't remove devices that the program keeps.
    let retention = try await fixture.database().rows(
      "SELECT value FROM magicdata_sync WHERE key = 'retention'", as: Int64.self)
    #expect(retention == [Int64.max / 86_400])
    let contents = try fixture.names(in: folder).map {
      try Data(contentsOf: URL(filePath: "\(folder)/\($0)"))
    }.reduce(Data(), +)
    #expect(contents.range(of: Data("Ada".utf8)) != nil)
    #expect(contents.range(of: Data("private".utf8)) == nil)
    #expect(contents.range(of: Data("people".utf8)) != nil)
  }

  @Test func `the tool writes no plain files if the program encrypts them`() async throws {
    struct ReversingCipher: SyncCipher {
      func seal(_ content: Data, authenticating name: Data) -> Data { Data(content.reversed()) }
      func open(_ sealed: Data, authenticating name: Data) -> Data { Data(sealed.reversed()) }
    }
    let magic = try await MagicData(path: fixture.store)
    _ = try await Sync(magic, through: .folder(folder), cipher: ReversingCipher())
    try await magic.close()
    let result = once(fixture.store)
    #expect(result.status == 1)
    #expect(result.errors.contains("the files of this sync are encrypted"))
    #expect(!FileManager.default.fileExists(atPath: folder))
  }

  @Test func `the tool and a program can exchange files of one store at the same time`()
    async throws
  {
    _ = once(fixture.store)
    try await join()
    let process = Process()
    process.executableURL = try helperProgram("magicdata")
    process.arguments = ["sync", "--every", "1", fixture.store, folder]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    defer { process.terminate() }
    let a = try await MagicData(
      path: fixture.store, syncedThrough: .folder(folder), every: .milliseconds(20))
    let b = try await MagicData(
      path: copy, syncedThrough: .folder(folder), every: .milliseconds(20))
    for number in 0..<30 {
      try await a.update(Person("a \(number)", photo: "a \(number)"))
      try await b.update(Person("b \(number)", photo: "b \(number)"))
    }
    for magic in [a, b] {
      for try await count in magic.observe(Person.all.count) where count == 64 { break }
    }
    process.interrupt()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    try await a.close()
    try await b.close()
    settle()
    #expect(try names(in: fixture.store) == names(in: copy))
    #expect(try photos(in: fixture.store).contains("b 29"))
    for store in [fixture.store, copy] {
      #expect(once(store).status == 0)
      #expect(fixture.run("check", store).status == 0)
    }
  }

  /// Changes a store as a program does that syncs it.
  private func write(
    _ store: String, _ body: (MagicData) async throws -> Void
  ) async throws {
    let magic = try await MagicData(path: store)
    let sync = try await Sync(
      magic, through: .folder(folder), deviceName: store == copy ? "Phone" : "Desk")
    try await body(magic)
    withExtendedLifetime(sync) {}
    try await magic.close()
  }

  private func rename(_ name: String, _ new: String, in store: String) async throws {
    try await write(store) { magic in
      try await magic.database.executeChange(
        "UPDATE Person SET name = \(new) WHERE name = \(name)")
    }
  }
}
