package import SQLiteCore

/// A source of changes to values of one type, from which a ``DeltaSequence`` gets its elements.
package protocol DeltaSource<Value>: Sendable {
  associatedtype Value

  var database: Database { get }

  /// Waits for the next event.
  ///
  /// - Returns: The event, or nil if the task was cancelled.
  func next() async throws -> DeltaQueue.News?

  /// Reads all current values and drops the pending changes that they include.
  func current() async throws -> sending [Value]

  /// Returns the changes to values that one commit made.
  func deltas(_ changes: CommittedChanges) async throws -> sending [Delta<Value>]
}

/// A sequence of the changes to values, with one element per transaction.
package struct DeltaSequence<Source: DeltaSource>: AsyncSequence, Sendable {
  private let source: Source
  private let start: DeltaStart

  package init(_ source: Source, _ start: DeltaStart) {
    self.source = source
    self.start = start
  }

  /// An iterator that waits for commits and returns their changes.
  package struct Iterator: AsyncIteratorProtocol {
    fileprivate let source: Source
    fileprivate let includesCurrent: Bool
    /// Whether the next element must contain the current values.
    fileprivate var needsCurrent: Bool

    package nonisolated(nonsending) mutating func next() async throws -> [Delta<Source.Value>]? {
      guard source.database.recordsValues else { throw SQLiteError.noPreupdateHook }
      do {
        if needsCurrent {
          let current = try await source.current()
          needsCurrent = false
          return [.current(current)]
        }
        while let news = try await source.next() {
          switch news {
          case .overflow:
            needsCurrent = includesCurrent
            return [.overflow]
          case .replaced:
            needsCurrent = includesCurrent
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
    Iterator(source: source, includesCurrent: start == .current, needsCurrent: start == .current)
  }
}
