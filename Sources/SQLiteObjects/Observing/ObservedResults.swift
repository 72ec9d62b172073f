import SQLiteCore
import Synchronization

/// The results of a query, each when it differs from the one before: ``MagicData/observe(_:)``.
public struct ObservedResults<Result>: AsyncSequence, Sendable {
  /// Reads the result as of one snapshot.
  typealias Read = @Sendable (MagicData, Observation) async throws -> Reading

  private let store: MagicData
  private let read: Read

  init(_ store: MagicData, _ read: @escaping Read) {
    self.store = store
    self.read = read
  }

  /// A result as it was read.
  struct Reading: Sendable {
    /// Whether it equals the result before.
    let isSame: Bool
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
          let observation = observation ?? Observation(of: results.store)
          self.observation = observation
          let reading = try await results.reading(observation)
          if !reading.isSame { return try reading.make() }
        }
      } catch is CancellationError {
        return nil
      }
    }
  }

  /// Begins with the result as it is.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Reads the result, as often as it takes if others are in the way.
  nonisolated(nonsending) private func reading(_ observation: Observation) async throws -> Reading {
    while true {
      do {
        return try await read(store, observation)
      } catch let error as SQLiteError where error.isPassing {
        try await Task.sleep(for: ForeignWatch.interval)
      }
    }
  }
}

/// What one loop knows of its query: the last result, and what would change it.
final class Observation: Sendable {
  let signal = ChangeSignal()
  /// The last result, or what tells it from others.
  private let last = Mutex<(any Sendable)?>(nil)

  init(of store: MagicData) {
    signal.subscribe(of: store.database)
    store.watch.add(signal)
  }

  /// Reads a result on a snapshot, and notes which tables it depends on.
  func take<Result>(
    _ connection: Connection,
    _ read: () throws -> (print: ResultPrint, make: @Sendable () throws -> Result)
  ) throws -> ObservedResults<Result>.Reading {
    let (print, make) = try notingTables(connection, read)
    return .init(isSame: isSame(print, ==), make: make)
  }

  /// As ``take(_:_:)``, for a result that can be compared itself.
  func take<Result: Sendable>(
    _ connection: Connection, isSame: (Result, Result) -> Bool, _ read: () throws -> Result
  ) throws -> ObservedResults<Result>.Reading {
    let result = try notingTables(connection, read)
    return .init(isSame: self.isSame(result, isSame), make: { result })
  }

  private func notingTables<Result>(
    _ connection: Connection, _ read: () throws -> Result
  ) throws -> Result {
    guard let version = signal.unwatchedVersion else { return try read() }
    let begin = connection.now
    let result = try read()
    if let tables = try connection.tablesRead(since: begin) {
      signal.watch(tables, version: version)
    }
    return result
  }

  /// Returns whether a result equals the last one, and takes its place.
  private func isSame<Result: Sendable>(
    _ result: Result, _ isSame: (Result, Result) -> Bool
  ) -> Bool {
    let before = last.withLock { last -> (any Sendable)? in
      let before = last
      last = result
      return before
    }
    return (before as? Result).map { isSame($0, result) } ?? false
  }
}
