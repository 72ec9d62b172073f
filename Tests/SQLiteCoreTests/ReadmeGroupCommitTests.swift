import SQLiteCore
import Testing
import TestSupport

/// Compiles and runs the code of the section “Group commit”.
@Suite struct ReadmeGroupCommitTests {
  @Test func `grouped writes of many tasks add up`() async throws {
    let folder = try TestFolder()
    let database = try Database(path: folder.file())
    try await database.executeMultipleChanges(
      "CREATE TABLE counter (id INTEGER PRIMARY KEY, value); INSERT INTO counter VALUES (1, 0)")

    // Many tasks
    try await withThrowingTaskGroup { group in
      for _ in 0..<100 {
        group.addTask {
          try await database.writeInGroup { connection in
            try connection.executeChange("UPDATE counter SET value = value + 1 WHERE id = 1")
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await database.rows("SELECT value FROM counter", as: Int.self).first == 100)
  }

  @Test func `group commit options can be set`() throws {
    let folder = try TestFolder()
    let path = folder.file()

    // Options
    var options = Database.Options()
    options.groupCommit.maximumCount = 64
    options.groupCommit.maximumDuration = .milliseconds(5)
    options.groupCommit.includesAsyncWrites = true
    let database = try Database(path: path, options: options)
    try database.writeInGroup { _ in }
  }
}
