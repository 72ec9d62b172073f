import Foundation
import MagicData
import MagicHistory
import SQLiteCore
import SQLiteHistory
import TestSupport
import Testing

private struct Person: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @MagicValue var friends: [Person]
  @MagicValue var photo: MagicAsset<String>

  init() {}
  init(_ name: String) {
    self.name = name
    friends = []
    photo = MagicAsset(value: name, pathExtension: "txt")
  }
}

/// History with a library that lacks the preupdate hook, such as SQLCipher's builds.
@Suite struct HistoryEncryptionTests {
  let folder: TestFolder
  let options: Database.Options

  init() throws {
    folder = try TestFolder()
    var options = Database.Options()
    if Capabilities.hasEncryption {
      options.key = Database.Key(bytes: [UInt8](repeating: 3, count: 32))
    }
    // With the system's SQLite, behave as if it had no hook.
    options.usesPreupdateHook = false
    self.options = options
  }

  private func files() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      files[path] = FileManager.default.contents(atPath: folder.file(path))
    }
    return files
  }

  @Test(arguments: [HistoryKeeping.inMemory, .inStore])
  func `without the preupdate hook, history throws and changes nothing`(
    keeping: HistoryKeeping
  ) async throws {
    let path = folder.file("store")
    let person = Person("Ann")
    do {
      let magic = try await MagicData(path: path, options: options)
      try await magic.update(person)
      _ = try await magic.history(keeping: keeping)
      try await magic.database.close()
    }
    let before = try files()
    let magic = try await MagicData(path: path, options: options)
    _ = try await magic.history(keeping: keeping)
    let changing: @Sendable () throws -> Void = {
      let ann = try magic.object(of: Person.self)[0]
      ann.name = "Zoe"
      ann.photo = MagicAsset(value: "Zoe", pathExtension: "txt")
      ann.friends.append(Person("Bob"))
      try magic.update(ann)
    }
    let calls: [(String, () async throws -> Void)] = [
      ("undoable", { try await magic.undoable("Rename", changing) }),
      ("patch", { _ = try await magic.patch(changing) }),
      (
        "recordingPatch",
        {
          try await magic.database.write { connection in
            _ = try connection.recordingPatch { try connection.executeChange("DELETE FROM Person") }
          }
        }
      ),
      ("keepTrail", { try await magic.keepTrail() }),
      ("journal", { _ = try await magic.database.journal() }),
      ("deltas", { for try await _ in magic.deltas(of: Person.self) {} }),
    ]
    for (name, call) in calls {
      let error = await #expect(throws: SQLiteError.self, "\(name)") { try await call() }
      #expect(error?.code == .misuse, "\(name)")
      #expect(
        error?.message.contains("it was compiled without SQLITE_ENABLE_PREUPDATE_HOOK") == true)
    }
    try await magic.database.close()
    #expect(try files() == before)
    let opened = try await MagicData(path: path, options: options)
    #expect(try await opened.object(of: Person.self).map(\.name) == ["Ann"])
  }
}
