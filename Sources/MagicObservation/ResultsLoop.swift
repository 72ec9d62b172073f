import SQLiteCore
import SQLiteMapping
import SQLiteObjects
import Synchronization

/// A result that a loop delivers to the main actor.
struct Delivery<Value> {
  let value: Value
  /// Whether the list has more elements than its page limit; false for other results.
  var hasMore = false
  /// The list of objects and its change; nil for other results.
  var list: (shown: ShownList, change: LiveChange)?
}

/// A list of objects that was delivered. The next list is compared with it.
struct ShownList: Sendable {
  let identities: [Int]
  let hasMore: Bool
  let print: ResultFingerprint
}

/// The outcome of one fetch.
enum FetchOutcome<Value>: Sendable {
  case result(Handoff<Delivery<Value>>)
  /// The result equals the previous one.
  case unchanged
  /// The fetch failed, and the next commit may correct that.
  case failure(any Error)
  /// The database is suspended. The fetch continues when it is resumed.
  case waiting(any Error)
}

/// The limit of a list that is shown in pages.
struct PageLimit<Value>: Sendable {
  /// The maximum number of elements to deliver. The request fetches one more, to determine whether
  /// more elements follow.
  let count: Int
  /// Removes the elements after the limit, and returns whether there were any.
  let cut: @Sendable (inout Value, _ count: Int) -> Bool
}

/// The loop of one ``LiveResults``. It receives the results of one observation, off the main actor,
/// and delivers them to it.
///
/// An error doesn't end the loop: the observation still reports commits, and the next one that
/// affects the request causes another fetch.
final class ResultsLoop<Value>: Sendable {
  /// The current step of the loop. It determines what a thrown error means.
  private enum Step { case waiting, reading, converting }

  private struct State {
    var step = Step.waiting
    /// Whether an error was delivered since the last result.
    var isFailing = false
    /// Whether the last result that was read could not be converted to a value.
    var isUnreadable = false
    var shown: ShownList?
  }

  private let results: ObservedResults<Value>
  private let limit: PageLimit<Value>?
  private let state: Mutex<State>
  private let deliver: @MainActor @Sendable (FetchOutcome<Value>) -> Void

  /// Creates a loop, which does nothing until ``run()``.
  ///
  /// - Parameters:
  ///   - results: The results to receive.
  ///   - limit: The limit of the list, if it is shown in pages.
  ///   - shown: The list that is shown, with which the first result is compared.
  ///   - deliver: The closure that receives each outcome.
  init(
    _ results: ObservedResults<Value>, limit: PageLimit<Value>?, shown: ShownList?,
    _ deliver: @escaping @MainActor @Sendable (FetchOutcome<Value>) -> Void
  ) {
    self.results = results
    self.limit = limit
    self.deliver = deliver
    state = Mutex(State(shown: shown))
  }

  /// Delivers results until the task is cancelled.
  func run() async {
    let outcomes = outcomes
    var iterator = outcomes.makeAsyncIterator()
    while true {
      do {
        state.withLock { $0.step = .waiting }
        let next = try await iterator.next()
        if Task.isCancelled { return }
        // The iterator also returns nil if the fetch throws this error.
        guard let next else { throw CancellationError() }
        await deliver(next)
      } catch {
        if Task.isCancelled { return }
        let step = state.withLock { state in
          state.isFailing = true
          if state.step == .converting { state.isUnreadable = true }
          return state.step
        }
        await deliver(.failure(error))
        // The observation can no longer detect commits, for example because the file is
        // unreadable. Start another one, but not in a busy loop.
        if step == .waiting {
          do { try await Task.sleep(for: .seconds(1)) } catch { return }
          iterator = outcomes.makeAsyncIterator()
        }
      }
    }
  }

  /// The results as outcomes. Readings that don't become a result are delivered directly.
  private var outcomes: ObservedResults<FetchOutcome<Value>> {
    ObservedResults<Value>(
      { [self] observation in
        state.withLock { $0.step = .reading }
        do {
          let reading = try await results.read(observation)
          let isRecovery = state.withLock { state in
            state.step = reading.isSame ? .waiting : .converting
            guard reading.isSame, state.isFailing, !state.isUnreadable else { return false }
            state.isFailing = false
            return true
          }
          // The result equals the last one before the error.
          if isRecovery { await deliver(.unchanged) }
          return reading
        } catch let error as SQLiteError where error.message == SQLiteError.suspended.message {
          state.withLock { $0.isFailing = true }
          await deliver(.waiting(error))
          throw error
        }
      }, results.begin
    ).with { [self] reading in try outcome(of: reading) }
  }

  private func outcome(
    of reading: ObservedResults<Value>.Reading
  ) throws -> FetchOutcome<Value> {
    var value = try reading.make()
    let hasMore = limit.map { $0.cut(&value, $0.count) } ?? false
    state.withLock { ($0.isFailing, $0.isUnreadable) = (false, false) }
    guard let print = (reading.comparison as? ObservedList)?.after else {
      return .result(Handoff(Delivery(value: value, hasMore: hasMore)))
    }
    let before = state.withLock { $0.shown }
    let identities = print.found.prefix(limit?.count ?? .max).map { Int($0) }
    let shown = ShownList(identities: identities, hasMore: hasMore, print: print)
    let change = Self.change(from: before, to: shown)
    // For example, only the element after the limit has changed.
    if let before, change.updated.isEmpty, change.difference.isEmpty, hasMore == before.hasMore,
      hasMore || before.print == print
    {
      return .unchanged
    }
    state.withLock { $0.shown = shown }
    return .result(
      Handoff(Delivery(value: value, hasMore: hasMore, list: (shown, change))))
  }

  private static func change(from before: ShownList?, to after: ShownList) -> LiveChange {
    var updated = before.map { after.print.updated(since: $0.print) } ?? []
    if let before, after.hasMore || before.hasMore {
      // The element after the limit is part of the fingerprint, but not of the list.
      let known = Set(before.identities)
      updated.removeAll {
        $0 >= after.identities.count || !known.contains(after.identities[$0])
      }
    }
    return LiveChange(
      identities: after.identities,
      difference: ObservedList.difference(from: before?.identities ?? [], to: after.identities),
      updated: updated)
  }
}
