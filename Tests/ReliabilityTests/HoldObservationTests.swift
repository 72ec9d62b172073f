import Dispatch
import Foundation
import MagicData
import SQLitePortable
import Synchronization
import Testing
import TestSupport

/// Tests that observers are notified of commits after the call, by any program and in any way.
@Suite(.timeLimit(.minutes(40))) struct HoldObservationTests {
  private struct Note: MagicObject {
    @MagicValue var text: String
    init() { text = "" }
    init(_ text: String) { self.text = text }
  }

  let folder: TestFolder

  init() throws { folder = try TestFolder.inMemory() }

  /// A write that has begun and waits for its commit.
  private struct SlowWrite {
    private let mayCommit = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    init(_ database: Database, _ body: @escaping @Sendable (Connection) throws -> Void) async {
      let entered = DispatchSemaphore(value: 0), mayCommit = mayCommit, hasEnded = hasEnded
      Thread.detachNewThread {
        // A very long deadline, for slow machines.
        _ = try? database.write(deadline: .now + .seconds(86_400)) { connection in
          entered.signal()
          mayCommit.wait()
          try body(connection)
        }
        hasEnded.signal()
      }
      await SlowWrite.wait(for: entered)
    }

    func commit() async {
      mayCommit.signal()
      await SlowWrite.wait(for: hasEnded)
    }

    private static func wait(for semaphore: DispatchSemaphore) async {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          semaphore.wait()
          continuation.resume()
        }
      }
    }
  }

  /// Inserts a note in another process.
  private static func insertInAnotherProcess(_ path: String) async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      try await MagicData(path: path).update(Note("from another process"))
    }
  }

  @Test func `a write that began before the call and commits after it is reported`() async throws {
    let magic = try await MagicData(path: folder.path)
    try await magic.update(Note("one"))
    let slow = await SlowWrite(magic.database) {
      try $0.executeChange("UPDATE Note SET text = 'two'")
    }
    let changes = magic.changes(of: Note.self)
    var observed = magic.observe(Note.all).makeAsyncIterator()
    #expect(try await observed.next()?.map(\.text) == ["one"])
    await slow.commit()
    var iterator = changes.makeAsyncIterator()
    #expect(try await iterator.next() != nil)
    #expect(try await observed.next()?.map(\.text) == ["two"])
  }

  @Test func `a write of another store that began before the call is reported`() async throws {
    let magic = try await MagicData(path: folder.path),
      other = try await MagicData(path: folder.path)
    try await magic.update(Note("one"))
    let slow = await SlowWrite(other.database) {
      try $0.executeChange("UPDATE Note SET text = 'two'")
    }
    let changes = magic.changes(of: Note.self)
    await slow.commit()
    var iterator = changes.makeAsyncIterator()
    #expect(try await iterator.next() != nil)
  }

  @Test func `another process's commit between the call and the loop is reported`() async throws {
    let magic = try await MagicData(path: folder.path)
    try await magic.update(Note("one"))
    let changes = magic.changes(of: Note.self)
    await Self.insertInAnotherProcess(folder.path)
    var iterator = changes.makeAsyncIterator()
    #expect(try await iterator.next() != nil)
    #expect(try await magic.count(of: Note.self) == 2)
  }

  @Test func `another process's commit is reported even if the call came during a write`()
    async throws
  {
    let magic = try await MagicData(path: folder.path)
    try await magic.update(Note("one"))
    let slow = await SlowWrite(magic.database) { _ in }
    let changes = magic.changes(of: Note.self)
    await slow.commit()
    await Self.insertInAnotherProcess(folder.path)
    var iterator = changes.makeAsyncIterator()
    #expect(try await iterator.next() != nil)
  }

  @Test func `a restore is observed`() async throws {
    let dump = DataFile.spon(path: folder.file("dump.spon"))
    let path = folder.file("store")
    let magic = try await MagicData(path: path)
    try await magic.update(Note("old"))
    try await magic.database.dump(to: dump)
    for note in try await magic.objects(of: Note.self) {
      note.text = "new"
      try await magic.update(note)
    }
    let changes = magic.changes(of: Note.self)
    var observed = magic.observe(Note.all).makeAsyncIterator()
    #expect(try await observed.next()?.map(\.text) == ["new"])
    try await magic.database.restore(from: dump)
    #expect(try await observed.next()?.map(\.text) == ["old"])
    var iterator = changes.makeAsyncIterator()
    #expect(try await iterator.next() != nil)
  }

  @Test func `a restore by another Database value is observed`() async throws {
    let path = folder.file("store")
    let magic = try await MagicData(path: path)
    try await magic.update(Note("old"))
    let copy = try Database.memory()
    try await magic.database.backup(to: copy)
    var observed = magic.observe(Note.all).makeAsyncIterator()
    #expect(try await observed.next()?.count == 1)
    try await magic.update(Note("more"))
    #expect(try await observed.next()?.count == 2)
    let other = try Database(path: "\(path)/default.sqlite3")
    try await copy.backup(to: other)
    #expect(try await observed.next()?.count == 1)
  }

  @Test(arguments: [Database.Options.JournalMode.wal, .delete])
  func `a write slower than the access timeout doesn't end an observation`(
    mode: Database.Options.JournalMode
  ) async throws {
    var options = Database.Options()
    options.accessTimeout = .milliseconds(500)
    options.journalMode = mode
    let magic = try await MagicData(path: folder.path, options: options)
    try await magic.update(Note("one"))
    var observed = magic.observe(Note.all).makeAsyncIterator()
    #expect(try await observed.next()?.map(\.text) == ["one"])
    let waiting = Task { [observed] in
      var observed = observed
      return try await observed.next()?.map(\.text)
    }
    let slow = await SlowWrite(magic.database) {
      try $0.executeChange("UPDATE Note SET text = 'two'")
    }
    // The observation checks for other commits several times during this wait.
    let database = magic.database
    await #expect(throws: SQLiteError.self) {
      try await database.write(deadline: .now + .milliseconds(1_400)) { _ in }
    }
    await slow.commit()
    let found = try await waiting.value
    #expect(found == ["two"])
  }

  @Test func `the first fetch waits for a blocking write`() async throws {
    var options = Database.Options()
    // Much longer than the last fetch takes on a busy machine.
    options.accessTimeout = .seconds(2)
    options.journalMode = .delete
    let magic = try await MagicData(path: folder.path, options: options)
    try await magic.update(Note("one"))
    let slow = await SlowWrite(magic.database) {
      try $0.executeChange("UPDATE Note SET text = 'two'")
    }
    let first = Task {
      var observed = magic.observe(Note.all).makeAsyncIterator()
      return try await observed.next()?.map(\.text)
    }
    let database = magic.database
    await #expect(throws: SQLiteError.self) {
      try await database.write(deadline: .now + .milliseconds(2_200)) { _ in }
    }
    await slow.commit()
    let found = try await first.value
    #expect(found == ["two"])
  }

  @Test func `an observation survives a suspension and sees what other processes did meanwhile`()
    async throws
  {
    let magic = try await MagicData(path: folder.path)
    try await magic.update(Note("one"))
    var observed = magic.observe(Note.all).makeAsyncIterator()
    #expect(try await observed.next()?.count == 1)
    try await magic.database.suspend()
    await Self.insertInAnotherProcess(folder.path)
    magic.database.resume()
    #expect(try await observed.next()?.count == 2)
  }
}
