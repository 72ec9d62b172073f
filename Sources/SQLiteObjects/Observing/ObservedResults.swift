import SQLiteCore
import Synchronization

/// The results of an observed query or request, each when it differs from the previous one:
/// ``MagicData/observe(_:)-(Query<Object>)``.
public struct ObservedResults<Result>: AsyncSequence, Sendable {
  /// Reads the result as of one snapshot.
  typealias Read = @Sendable (MagicData, Observation) async throws -> Reading

  private let store: MagicData
  /// The filter, if it can be judged row by row.
  private let condition: RowCondition?
  private let read: Read

  /// - Parameters:
  ///   - store: The store.
  ///   - condition: A condition on the rows of one table: a commit that changes no row which fulfils it, before
  ///     or after, leaves the result as it is. Nil if there is none that is as plain.
  ///   - read: Reads the result.
  init(_ store: MagicData, _ condition: RowCondition? = nil, _ read: @escaping Read) {
    self.store = store
    self.condition = condition
    self.read = read
  }

  /// The results in another form.
  func with<Other>(
    _ convert: @escaping @Sendable (Reading) throws -> Other
  ) -> ObservedResults<Other> {
    ObservedResults<Other>(store, condition) { [read] store, observation in
      let reading = try await read(store, observation)
      return .init(isSame: reading.isSame, list: nil, accept: reading.accept) {
        try convert(reading)
      }
    }
  }

  /// A result as it was read.
  struct Reading: Sendable {
    /// Whether it equals the result before.
    let isSame: Bool
    /// The result beside the one before, of a query for objects.
    var list: ObservedList?
    /// Notes that the reader has the result: the next one is compared with it.
    let accept: @Sendable () -> Void
    /// Makes the result where the reader is.
    let make: @Sendable () throws -> Result
  }

  /// Reads the results, and waits for commits.
  public struct Iterator: AsyncIteratorProtocol {
    private let results: ObservedResults
    private var observation: Observation?

    fileprivate init(_ results: ObservedResults) {
      self.results = results
    }

    /// Reads the result: at once the first time, later when it has changed.
    ///
    /// - Returns: Nil once the task is cancelled.
    /// - Throws: ``MagicError`` or `SQLiteError`, such as when the database was closed.
    nonisolated(nonsending) public mutating func next() async throws -> Result? {
      do {
        while true {
          if let observation {
            guard try await observation.signal.wait() else { return nil }
          }
          let observation = observation ?? Observation(of: results.store, results.condition)
          self.observation = observation
          let reading = try await results.reading(observation)
          if reading.isSame { continue }
          reading.accept()
          return try reading.make()
        }
      } catch is CancellationError {
        return nil
      }
    }
  }

  /// Begins with the result as it is.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Reads the result, again and again while others hold locks or restore, or the database is suspended.
  nonisolated(nonsending) private func reading(_ observation: Observation) async throws -> Reading {
    while true {
      do {
        return try await read(store, observation)
      } catch let error as SQLiteError where error.isPassing || error == MagicData.restoredMeanwhile
      {
        try await Task.sleep(for: ForeignWatch.interval)
      }
    }
  }
}

/// The state of one loop: the last result, and the tables that it depends on.
final class Observation: Sendable {
  let signal: ChangeSignal
  /// The last result, or its ``ResultPrint``.
  private let last = Mutex<(any Sendable)?>(nil)

  /// - Parameters:
  ///   - store: The store.
  ///   - condition: As for ``ObservedResults``.
  init(of store: MagicData, _ condition: RowCondition?) {
    signal = ChangeSignal(condition)
    signal.subscribe(of: store.database)
    store.watch.add(signal)
  }

  /// Reads a result on a snapshot, and notes which tables it depends on.
  func take<Result>(
    _ connection: Connection,
    _ read: () throws -> (print: ResultPrint, make: @Sendable () throws -> Result)
  ) throws -> ObservedResults<Result>.Reading {
    let (print, make) = try notingTables(connection, read)
    let before = last.withLock { $0 } as? ResultPrint
    return .init(
      isSame: before == print, list: ObservedList(before: before, after: print),
      accept: { [self] in keep(print) }, make: make)
  }

  /// As ``take(_:_:)``, for a result that can be compared itself.
  func take<Result: Sendable>(
    _ connection: Connection, isSame: (Result, Result) -> Bool, _ read: () throws -> Result
  ) throws -> ObservedResults<Result>.Reading {
    let result = try notingTables(connection, read)
    let before = last.withLock { $0 } as? Result
    return .init(
      isSame: before.map { isSame($0, result) } ?? false, accept: { [self] in keep(result) },
      make: { result })
  }

  private func notingTables<Result>(
    _ connection: Connection, _ read: () throws -> Result
  ) throws -> Result {
    guard let version = signal.unwatchedVersion else { return try read() }
    let begin = connection.now
    let result = try read()
    if let tables = try connection.tablesRead(since: begin) {
      let layout = try signal.condition?.layout(connection)
      signal.watch(tables, layout, version: version)
    }
    return result
  }

  /// Keeps a result that the reader has: a read may still fail behind its query, and then is made again.
  private func keep(_ result: any Sendable) {
    last.withLock { $0 = result }
  }
}
