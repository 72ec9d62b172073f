import Foundation
import MagicData
import Testing
import TestSupport

/// Tests that a discarded connection doesn't call its hooks any more.
@Suite(.timeLimit(.minutes(40))) struct HoldHookTests {
  private struct Note: MagicObject {
    @MagicValue var text: String
    init() { text = "" }
  }

  @Test func `a connection that discards itself after a failed rollback can be observed`() async {
    await #expect(processExitsWith: .success) { try HoldHookTests.discardConnections() }
  }

  private static func discardConnections() throws {
    _ = alarm(100)
    let folder = try TestFolder.inMemory()
    let magic = try MagicData(path: folder.path)
    try magic.update(Note())
    let changes = magic.changes(of: Note.self)
    for _ in 0..<20 {
      for number in 0..<10 {
        try magic.database.write {
          try $0.executeChange(SQL(unchecked: "UPDATE Note SET text = '\(number)'"))
        }
      }
      do {
        try magic.database.write { connection in
          try connection.executeChange("UPDATE Note SET text = 'lost'")
          // Makes ROLLBACK too long to compile.
          try connection.setLimit(.sqlLength, to: 1)
          throw SQLiteError(.constraint, "the work fails")
        }
        exit(1)
      } catch let error as SQLiteError {
        guard error.message == "the work fails" else { exit(2) }
      }
      guard try magic.objects(of: Note.self).map(\.text) == ["9"] else { exit(3) }
    }
    withExtendedLifetime(changes) {}
  }
}
