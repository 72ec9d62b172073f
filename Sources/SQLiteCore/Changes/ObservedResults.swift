import Synchronization

/// The results of an observed request, each when it differs from the previous one.
///
///     for try await towns in database.observe(Town.where("population > \(1_000_000)")) { … }
///
/// The first result arrives at once, and equal results aren't repeated. The request is fetched again after a commit that
/// changes a table that it has read: at once for a database on this path in this process, and within a second for another
/// process. Several commits may be reported as one, and the last state is never missed. A slow reader costs the memory of
/// one result. The loop waits while the database is suspended, and during a write that takes longer than
/// ``Database/Options/accessTimeout``. Each loop is independent. It ends with its task, or when a fetch throws, for example
/// because the database was closed.
public struct ObservedResults<Result>: AsyncSequence, Sendable {
  /// Reads the result as of one snapshot.
  package typealias Read = @Sendable (Observation) async throws -> Reading

  private let begin: @Sendable () -> Observation
  private let read: Read

  /// Observes a database.
  ///
  /// - Parameters:
  ///   - database: The database.
  ///   - test: A test of single rows: a commit that changes no row which passes it leaves the result as it is. Nil if there
  ///     is none.
  ///   - read: Reads the result.
  package init(of database: Database, _ test: ChangeTest? = nil, _ read: @escaping Read) {
    self.init(read) { Observation(of: database, test) }
  }

  private init(_ read: @escaping Read, _ begin: @escaping @Sendable () -> Observation) {
    self.read = read
    self.begin = begin
  }

  /// Returns the results in another form.
  package func with<Other>(
    _ convert: @escaping @Sendable (Reading) throws -> Other
  ) -> ObservedResults<Other> {
    ObservedResults<Other>(
      { [read] observation in
        let reading = try await read(observation)
        return .init(isSame: reading.isSame, accept: reading.accept) { try convert(reading) }
      }, begin)
  }

  /// A result as it was read.
  package struct Reading: Sendable {
    /// Whether it equals the previous result.
    package let isSame: Bool
    /// What the layer that reads knows of the result in comparison with the previous one.
    package var comparison: (any Sendable)?
    /// Notes that the reader has received the result: the next one is compared with it.
    let accept: @Sendable () -> Void
    /// Makes the result where the reader is.
    package let make: @Sendable () throws -> Result

    init(
      isSame: Bool, accept: @escaping @Sendable () -> Void,
      make: @escaping @Sendable () throws -> Result
    ) {
      self.isSame = isSame
      self.accept = accept
      self.make = make
    }
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
    /// - Throws: The errors of a fetch, for example because the database was closed.
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

  /// Begins with the present result.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Reads the result, again and again while others hold locks or restore, or the database is suspended.
  nonisolated(nonsending) private func reading(_ observation: Observation) async throws -> Reading {
    while true {
      do {
        return try await read(observation)
      } catch let error as SQLiteError where error.isPassing {
        try await Task.sleep(for: ForeignWatch.interval)
      }
    }
  }
}

/// The state of one loop: the last result, and the tables that it depends on.
package final class Observation: Sendable {
  let signal: ChangeSignal
  /// What distinguishes the last result from others.
  private let last = Mutex<(any Sendable)?>(nil)

  init(of database: Database, _ test: ChangeTest?) {
    signal = ChangeSignal(test)
    signal.subscribe(of: database)
  }

  /// Reads a result on a snapshot, and notes which tables it depends on.
  ///
  /// - Parameters:
  ///   - connection: The connection.
  ///   - compare: Compares the print of the previous result with this one, for ``ObservedResults/Reading/comparison``.
  ///   - read: Returns what distinguishes the result from others, and what makes it.
  package func take<Result, Print: Equatable & Sendable>(
    _ connection: Connection,
    comparing compare: (Print?, Print) -> (any Sendable)? = { _, _ in nil },
    _ read: () throws -> (print: Print, make: @Sendable () throws -> Result)
  ) throws -> ObservedResults<Result>.Reading {
    let (print, make) = try notingTables(connection, read)
    let before = last.withLock { $0 } as? Print
    // A read may still fail after its query, and is repeated then: what counts is what the reader has received.
    var reading = ObservedResults<Result>.Reading(
      isSame: before == print, accept: { [self] in last.withLock { $0 = print } }, make: make)
    reading.comparison = compare(before, print)
    return reading
  }

  private func notingTables<Result>(
    _ connection: Connection, _ read: () throws -> Result
  ) throws -> Result {
    guard let version = signal.unwatchedVersion else { return try read() }
    let begin = connection.now
    let result = try read()
    do {
      if let tables = try connection.tablesRead(since: begin) {
        signal.watch(tables, try signal.test?.judge(connection), version: version)
      }
    } catch let error as SQLiteError where error.isOfMissingTable {
      // What was read doesn't exist yet, so any commit may create it.
    }
    return result
  }
}
