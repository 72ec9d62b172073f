import Platform
public import SQLiteCore
public import SQLiteMapping

extension Database {
  /// Tells what each transaction has changed in the table of a record type, whatever wrote it: records, SQL, triggers,
  /// foreign keys, REPLACE, blobs written in place, patches.
  ///
  ///     for try await changes in database.deltas(of: Town.self, including: .current) {
  ///       for change in changes {
  ///         switch change {
  ///         case .current(let towns): list = towns
  ///         case .inserted(let town): list.append(town)
  ///         case .updated(_, let town, _): list.replace(town)
  ///         case .deleted(let town): list.remove(town)
  ///         case .tooMuch, .replaced: break  // .current follows
  ///         case .unreadable(let row): print(row)
  ///         }
  ///       }
  ///     }
  ///
  /// Each element is one transaction, in the order of the commits, of all databases of this process on the file; of other
  /// processes nothing is told (see ``ChangeJournal``). A row stands in it once: what was inserted and deleted
  /// again is not told, nor what was rolled back. A row whose primary key has changed is one that is gone and one that is
  /// new. A row that differs only in columns that the type does not read is not told. Attached databases, temporary tables and
  /// views are not told.
  ///
  /// What commits after this call is told, also if the loop begins later. Nobody waits for the loop: when more than
  /// `limit` bytes wait for it, they are dropped, and it gets one ``Delta/tooMuch``. The sequence is for one loop, and
  /// ends with its task.
  ///
  /// - Parameters:
  ///   - type: The type of the records.
  ///   - start: Whether the records as they are come first.
  ///   - limit: The most bytes of changes that are kept for the loop.
  /// - Returns: The changes. The loop ends once its task is cancelled. It throws `SQLiteError`, such as when the database was
  ///   closed, or with `ResultCode.misuse` if this libsqlite3 was built without `SQLITE_ENABLE_PREUPDATE_HOOK`, and
  ///   `RowDecodingError` if a record that is there cannot be read.
  public func deltas<Value: Record>(
    of type: Value.Type, including start: DeltaStart = .changes, limit: Int = 64 << 20
  ) -> some AsyncSequence<[Delta<Value>], any Error> & Sendable {
    let queue = DeltaQueue(self, tables: [asciiLowercased(Value.tableName)], limit: limit)
    return DeltaSequence(
      RecordDeltas<Value>(database: self, feed: ProcessFeed(database: self, queue: queue)), start)
  }
}

/// The commits of a database, and the records as they are at one of them.
protocol RecordFeed: Sendable {
  /// Waits for the next news.
  ///
  /// - Returns: Nil if the task was cancelled.
  func next() async throws -> DeltaQueue.News?

  /// Reads all records, and forgets the changes that are in them.
  func current<Value: Record>(_ type: Value.Type) async throws -> sending [Value]
}

/// The commits of this process.
private struct ProcessFeed: RecordFeed {
  let database: Database
  let queue: DeltaQueue

  func next() async throws -> DeltaQueue.News? { try await queue.next() }

  func current<Value: Record>(_ type: Value.Type) async throws -> sending [Value] {
    try await database.withoutTransactionGiving { [queue] connection in
      try connection.transaction(.immediate) {
        queue.begin(after: connection.takeMoment())
        return try connection.objects(of: type)
      }
    }
  }
}

/// The changes of the records of a type.
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
  /// Reads the changed rows of a table.
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
