import Platform
public import SQLiteCore
public import SQLiteMapping

extension Database {
  /// Returns a sequence of the changes to a record type's table, one element per transaction.
  ///
  /// The sequence reports all changes, whether made by records, SQL, triggers, foreign keys,
  /// REPLACE, incremental blob writes or patches.
  ///
  ///     for try await changes in database.deltas(of: Town.self, including: .current) {
  ///       for change in changes {
  ///         switch change {
  ///         case .current(let towns): list = towns
  ///         case .inserted(let town): list.append(town)
  ///         case .updated(_, let town, _): list.replace(town)
  ///         case .deleted(let town): list.remove(town)
  ///         case .overflow, .replaced: break  // .current follows
  ///         case .unreadable(let row): print(row)
  ///         }
  ///       }
  ///     }
  ///
  /// Elements are in commit order. They include the transactions of all databases in this process
  /// that use the same file, but not those of other processes (see ``ChangeJournal``). An element
  /// contains each changed row once. Changes that were rolled back, and rows that were inserted and
  /// deleted again, are not reported. If the primary key of a row changes, the element contains a
  /// deletion and an insertion. An update that changes only columns that the type doesn't read is
  /// not reported, nor are changes of attached databases, temporary tables and views.
  ///
  /// The sequence includes all transactions that commit after this call, even if the loop starts
  /// later. Writers never wait for the loop. If more than `limit` bytes of changes are pending,
  /// they are dropped and the loop receives one ``Delta/overflow``. Iterate over the sequence only
  /// once.
  ///
  /// - Parameters:
  ///   - type: The record type.
  ///   - start: Whether the sequence starts with all current records.
  ///   - limit: The maximum size of the pending changes in bytes.
  /// - Returns: The sequence of changes. It ends when the iterating task is cancelled. It throws
  ///   `SQLiteError`, for example if the database was closed, or with `ResultCode.misuse` if this
  ///   libsqlite3 was built without `SQLITE_ENABLE_PREUPDATE_HOOK`. It throws `RowDecodingError` if
  ///   one of the current records can't be decoded.
  public func deltas<Value: Record>(
    of type: Value.Type, including start: DeltaStart = .changes, limit: Int = 64 << 20
  ) -> some AsyncSequence<[Delta<Value>], any Error> & Sendable {
    let queue = DeltaQueue(self, tables: [asciiLowercased(Value.tableName)], limit: limit)
    return DeltaSequence(
      RecordDeltas<Value>(database: self, feed: ProcessFeed(database: self, queue: queue)), start)
  }
}

/// A source of commits that can also read all records as of a certain commit.
protocol RecordFeed: Sendable {
  /// Waits for the next event.
  ///
  /// - Returns: The event, or nil if the task was cancelled.
  func next() async throws -> DeltaQueue.News?

  /// Reads all current records and drops the pending changes that they include.
  func current<Value: Record>(_ type: Value.Type) async throws -> sending [Value]
}

/// A feed of the commits of this process.
private struct ProcessFeed: RecordFeed {
  let database: Database
  let queue: DeltaQueue

  func next() async throws -> DeltaQueue.News? { try await queue.next() }

  func current<Value: Record>(_ type: Value.Type) async throws -> sending [Value] {
    try await database.withoutTransactionGiving { [queue] connection in
      try connection.transaction(.immediate) {
        queue.begin(after: connection.reserveCommitNumber())
        return try connection.objects(of: type)
      }
    }
  }
}

/// A source of the changes to the records of one type, which converts the commits of a feed.
struct RecordDeltas<Value: Record>: DeltaSource {
  let database: Database
  let feed: any RecordFeed

  func next() async throws -> DeltaQueue.News? { try await feed.next() }

  func current() async throws -> sending [Value] { try await feed.current(Value.self) }

  func deltas(_ changes: CommittedChanges) async throws -> sending [Delta<Value>] {
    let table = asciiLowercased(Value.tableName)
    let tables = try changes.recorded.coalesced { asciiLowercased($0.table) == table }
    guard !tables.isEmpty else { return [] }
    return try await database.readGiving { connection in
      try tables.flatMap { try Delta<Value>.deltas($0, on: connection) }
    }
  }
}

extension Delta where Value: Record {
  /// Converts the changed rows of a table into changes of records. A row that can't be decoded
  /// becomes ``unreadable(_:)``. An update that changes none of the type's properties is omitted.
  fileprivate static func deltas(
    _ table: TableDeltas, on connection: Connection
  ) throws -> [Delta<Value>] {
    let columns = table.layout.columns.map(\.name)
    let old = try connection.records(
      of: Value.self, columns: columns, rows: table.rows.compactMap(\.old))
    let new = try connection.records(
      of: Value.self, columns: columns, rows: table.rows.compactMap(\.new))
    let properties = columns.indices.map { old.properties[$0] ?? new.properties[$0] }
    var olds = old.records.makeIterator()
    var news = new.records.makeIterator()
    return table.rows.compactMap { row -> Delta<Value>? in
      let before = row.old == nil ? nil : olds.next()
      let after = row.new == nil ? nil : news.next()
      do {
        switch (try before?.get(), try after?.get()) {
        case (let before?, let after?):
          let changed = columns.indices.filter { row.old?[$0] != row.new?[$0] }
          let names = Set(changed.compactMap { properties[$0] })
          return names.isEmpty ? nil : .updated(old: before, new: after, properties: names)
        case (let before?, nil): return .deleted(before)
        case (nil, let after?): return .inserted(after)
        case (nil, nil): return nil
        }
      } catch {
        return .unreadable(
          UnreadableRow(
            table: table.layout.table, columns: columns, old: row.old, new: row.new,
            reason: "\(error)"))
      }
    }
  }
}
