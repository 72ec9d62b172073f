import SQLiteCore
import SQLiteMapping
import Synchronization

/// A reader that returns the entries of a journal one by one, for a single loop.
final class JournalReader: RecordFeed {
  private struct State {
    /// The mark of the last returned entry, or of the journal's end when reading began. Nil if that
    /// end couldn't be read yet.
    var mark: JournalMark?
    /// The generation of the database's content that the mark belongs to.
    var generation: Int
    var waiting: [(mark: JournalMark, rows: RecordedRows)] = []
  }

  private let journal: ChangeJournal
  private let database: Database
  private let state: Mutex<State>

  init(_ journal: ChangeJournal, _ database: Database) {
    self.journal = journal
    self.database = database
    // The loop starts at the current end. If it can't be read now, the first call of `next` reads
    // it.
    let generation = database.content.current
    let mark = try? database.read { try ChangeJournal.mark($0) }
    state = Mutex(State(mark: mark, generation: generation))
  }

  /// The total size in bytes at which the reader stops adding entries to a batch.
  private static let batch = 4 << 20

  func next() async throws -> DeltaQueue.News? {
    while true {
      let entry = state.withLock { state -> RecordedRows? in
        guard state.generation == database.content.current, !state.waiting.isEmpty else {
          return nil
        }
        let entry = state.waiting.removeFirst()
        state.mark = entry.mark
        return entry.rows
      }
      if let entry { return .commit(CommittedChanges(recorded: entry)) }
      let ringCount = journal.bell.count
      let mark = state.withLock { $0.mark }
      let found = try await database.read { connection in
        try ChangeJournal.entries(
          after: try mark ?? ChangeJournal.mark(connection), atMost: JournalReader.batch, connection
        )
      }
      let generation = database.content.current
      guard state.withLock({ $0.generation }) == generation else {
        begin(at: try await journal.mark(), generation)
        return .replaced
      }
      switch found {
      case .rows(let entries) where !entries.isEmpty:
        state.withLock { $0.waiting = entries }
      case .rows:
        guard await journal.bell.wait(after: ringCount) else { return nil }
      case .lost(let end):
        begin(at: end, generation)
        return .overflow
      case .replaced(let end):
        if let end {
          begin(at: end, generation)
        } else {
          begin(at: try await journal.mark(), generation)
        }
        return .replaced
      }
    }
  }

  /// Discards the entries that haven't been returned yet, and continues after a mark.
  private func begin(at mark: JournalMark, _ generation: Int) {
    state.withLock { $0 = State(mark: mark, generation: generation) }
  }

  func current<Value: Record>(_ type: Value.Type) async throws -> sending [Value] {
    try await database.readGiving { [self] connection in
      let generation = database.content.current
      let mark = try ChangeJournal.mark(connection)
      let values = try connection.objects(of: type)
      begin(at: mark, generation)
      return values
    }
  }
}

/// A signal that wakes the readers of a journal after writes to the file.
///
/// A write to the log rings, but its commit becomes visible slightly later. A process that holds a
/// journal rings again then (``FileWatcher/wake(_:)``), unless it exits in between. A woken reader
/// therefore checks again after increasing pauses, until ``patience`` has passed since the last
/// ring.
final class JournalBell: Sendable {
  private struct State {
    var count: UInt64 = 0
    /// The time of the last ring.
    var last = ContinuousClock.now
    /// The number of pauses that have ended.
    var pauses: UInt64 = 0
  }

  private let state = Awaited(State())

  /// The time after a ring during which the commit of the write that caused it may become visible.
  private static let patience = Duration.seconds(2)

  /// The number of rings so far.
  var count: UInt64 { state.withLock { $0.count } }

  func ring() {
    state.change {
      $0.count += 1
      $0.last = .now
    }
  }

  /// Waits until the number of rings differs from `count`. If the last ring was less than
  /// ``patience`` ago, the wait also ends after a quarter of the time since that ring, but not
  /// before 1 ms.
  ///
  /// - Returns: True, or false if the task was cancelled.
  func wait(after count: UInt64) async -> Bool {
    let (age, pauses) = state.withLock { (ContinuousClock.now - $0.last, $0.pauses) }
    guard age < Self.patience else {
      await state.wait { $0.count != count }
      return !Task.isCancelled
    }
    let timer = Task { [state] in
      // A quarter of the time since the last ring: this needs few checks, and none is much too
      // late.
      try await Task.sleep(for: max(.milliseconds(1), age / 4))
      state.change { $0.pauses &+= 1 }
    }
    await state.wait { $0.count != count || $0.pauses != pauses }
    timer.cancel()
    return !Task.isCancelled
  }
}

/// The encoding of a journal entry: a version byte, the layouts of the tables, and the recorded
/// rows.
enum JournalEntry {
  private static let version: UInt8 = 1

  /// Returns the encoded entry for the recorded rows of a transaction. It is empty if all rows are
  /// in tables that a journal omits.
  static func bytes(of rows: RecordedRows) -> [UInt8] {
    guard rows.layouts.contains(where: { Patch.holds($0) }) else { return [] }
    return [version] + rows.archive
  }

  static func rows(of bytes: [UInt8]) throws(SQLiteError) -> RecordedRows {
    guard bytes.first == version else {
      throw SQLiteError(
        .corrupt,
        "an entry of the journal was written by a newer version of the library; update the "
          + "library")
    }
    return try RecordedRows(archive: [UInt8](bytes.dropFirst()))
  }
}
