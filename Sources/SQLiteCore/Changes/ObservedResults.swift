import Synchronization

/// An asynchronous sequence of the results of an observed request: the current result, and then
/// each result that differs from the previous one.
///
///     for try await towns in database.observe(Town.where("population > \(1_000_000)")) { … }
///
/// The first result arrives immediately. The request is fetched again after a commit that changes a
/// table that it has read: immediately if a database of this process on the same path commits, and
/// within a second if another process does. Several commits may be combined into one result, but
/// the latest state is never missed. A slow loop needs the memory of one result only.
///
/// The loop waits while the database is suspended, and during a write that takes longer than
/// ``Database/Options/accessTimeout``. Each loop is independent. It ends when its task is
/// cancelled, or when a fetch throws, for example because the database was closed.
public struct ObservedResults<Result>: AsyncSequence, Sendable {
  /// A closure that reads the result from one snapshot.
  package typealias Read = @Sendable (Observation) async throws -> Reading

  package let begin: @Sendable () -> Observation
  package let read: Read

  /// Creates a sequence that observes a database.
  ///
  /// - Parameters:
  ///   - database: The database to observe.
  ///   - test: A test of changed rows. A commit whose changed rows all fail the test doesn't affect
  ///     the result. Nil if every change may affect it.
  ///   - read: The closure that reads the result.
  package init(of database: Database, _ test: ChangeTest? = nil, _ read: @escaping Read) {
    self.init(read) { Observation(of: database, test) }
  }

  package init(_ read: @escaping Read, _ begin: @escaping @Sendable () -> Observation) {
    self.read = read
    self.begin = begin
  }

  /// Returns a sequence of the same results, each converted by `convert`.
  package func with<Other>(
    _ convert: @escaping @Sendable (Reading) throws -> sending Other
  ) -> ObservedResults<Other> {
    ObservedResults<Other>(
      { [read] observation in
        let reading = try await read(observation)
        return .init(isSame: reading.isSame, accept: reading.accept) { try convert(reading) }
      }, begin)
  }

  /// A result that was read, and its comparison with the previous result.
  package struct Reading: Sendable {
    /// Whether the result equals the previous one.
    package let isSame: Bool
    /// The differences from the previous result, as returned by the `comparing` closure of
    /// ``Observation/take(_:comparing:_:)``; nil if that closure computes none.
    package var comparison: (any Sendable)?
    /// A closure that records that the loop has received the result. The next result is compared
    /// with it.
    let accept: @Sendable () -> Void
    /// A closure that creates the result. The loop calls it in its own isolation.
    package let make: @Sendable () throws -> sending Result

    init(
      isSame: Bool, accept: @escaping @Sendable () -> Void,
      make: @escaping @Sendable () throws -> sending Result
    ) {
      self.isSame = isSame
      self.accept = accept
      self.make = make
    }
  }

  /// The iterator of ``ObservedResults``, which reads the results and waits for commits.
  public struct Iterator: AsyncIteratorProtocol {
    private let results: ObservedResults
    private var observation: Observation?

    fileprivate init(_ results: ObservedResults) {
      self.results = results
    }

    /// Returns the current result on the first call. Later calls wait until the result has changed.
    ///
    /// - Returns: The result, or nil if the task is cancelled.
    /// - Throws: The error of a fetch, for example because the database was closed.
    nonisolated(nonsending) public mutating func next() async throws -> Result? {
      do {
        while true {
          if let observation {
            guard try await observation.signal.wait() else { return nil }
          }
          let observation = observation ?? results.begin()
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

  /// Creates an iterator that starts an independent observation. The iterator's first element is
  /// the current result.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Reads the result. Retries while other connections hold locks, while a restore runs, and while
  /// the database is suspended.
  nonisolated(nonsending) private func reading(_ observation: Observation) async throws -> Reading {
    while true {
      do {
        return try await read(observation)
      } catch let error as SQLiteError where error.isTransient {
        try await Task.sleep(for: ForeignWatch.interval)
      }
    }
  }
}

/// The state of one loop: the signal that wakes it, and the fingerprint of its last result.
package final class Observation: Sendable {
  let signal: ChangeSignal
  /// The fingerprint of the result that the loop received last; nil before the first one.
  private let last = Mutex<(any Sendable)?>(nil)

  init(of database: Database, _ test: ChangeTest?) {
    signal = ChangeSignal(test)
    signal.subscribe(of: database)
  }

  /// Reads a result, and makes the signal watch the tables that the result depends on.
  ///
  /// - Parameters:
  ///   - connection: The connection to read from.
  ///   - compare: Compares the fingerprints of the previous result and this one, for
  ///     ``ObservedResults/Reading/comparison``.
  ///   - read: Returns the fingerprint of the result, and a closure that creates the result.
  package func take<Result, Print: Equatable & Sendable>(
    _ connection: Connection,
    comparing compare: (Print?, Print) -> (any Sendable)? = { _, _ in nil },
    _ read: () throws -> (print: Print, make: @Sendable () throws -> sending Result)
  ) throws -> ObservedResults<Result>.Reading {
    let (print, make) = try recordingTables(connection, read)
    let before = last.withLock { $0 } as? Print
    // A read may fail after its query and is then repeated. Only a result that the loop has
    // received counts as the previous one.
    var reading = ObservedResults<Result>.Reading(
      isSame: before == print, accept: { [self] in last.withLock { $0 = print } }, make: make)
    reading.comparison = compare(before, print)
    return reading
  }

  private func recordingTables<Result>(
    _ connection: Connection, _ read: () throws -> Result
  ) throws -> Result {
    guard let version = signal.unwatchedVersion else { return try read() }
    let begin = connection.now
    let result = try read()
    do {
      if let tables = try connection.tablesRead(since: begin) {
        signal.watch(tables, try signal.test?.judge(connection), version: version)
      }
    } catch let error as SQLiteError where error.isMissingTableOrColumn {
      // A table doesn't exist yet. Any commit may create it, so keep watching all tables.
    }
    return result
  }
}
