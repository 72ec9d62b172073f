package import SQLiteCore

/// The place that changes of values come from.
package protocol DeltaSource<Value>: Sendable {
  associatedtype Value

  var database: Database { get }

  /// Waits for the next news.
  ///
  /// - Returns: Nil if the task was cancelled.
  func next() async throws -> DeltaQueue.News?

  /// Reads all values, and forgets the changes that are in them.
  func current() async throws -> sending [Value]

  /// Reads the changes of values of one commit.
  func deltas(_ changes: CommittedChanges) async throws -> sending [Delta<Value>]
}

/// The changes of values, transaction by transaction.
package struct DeltaSequence<Source: DeltaSource>: AsyncSequence, Sendable {
  private let source: Source
  private let start: DeltaStart

  package init(_ source: Source, _ start: DeltaStart) {
    self.source = source
    self.start = start
  }

  /// Reads the changes, and waits for commits.
  package struct Iterator: AsyncIteratorProtocol {
    fileprivate let source: Source
    fileprivate let includesCurrent: Bool
    /// Whether the values must be read before the next change.
    fileprivate var lacksCurrent: Bool

    package nonisolated(nonsending) mutating func next() async throws -> [Delta<Source.Value>]? {
      guard source.database.recordsValues else { throw SQLiteError.noPreupdateHook }
      do {
        if lacksCurrent {
          let current = try await source.current()
          lacksCurrent = false
          return [.current(current)]
        }
        while let news = try await source.next() {
          switch news {
          case .tooMuch:
            lacksCurrent = includesCurrent
            return [.tooMuch]
          case .replaced:
            lacksCurrent = includesCurrent
            return [.replaced]
          case .commit(let changes):
            let deltas = try await source.deltas(changes)
            if !deltas.isEmpty { return deltas }
          }
        }
      } catch is CancellationError {}
      return nil
    }
  }

  package func makeAsyncIterator() -> Iterator {
    Iterator(source: source, includesCurrent: start == .current, lacksCurrent: start == .current)
  }
}
