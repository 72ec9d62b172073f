import MagicData
import Synchronization

/// The number and duration of the statements of each tenant, and the number of responses.
///
/// A statement is identified by its SQL with parameters, so the metrics contain no values of
/// customers.
final class Metrics: Sendable {
  struct Total: Sendable {
    var count = 0
    var duration = Duration.zero
    var longest = Duration.zero
  }

  private struct State: Sendable {
    var statements: [Tenant: [String: Total]] = [:]
    var responses: [Int: Int] = [:]
  }

  private let state = Mutex(State())

  /// Returns options that record the statements of all connections of a tenant's store.
  func tracing(_ tenant: Tenant, _ options: Database.Options) -> Database.Options {
    var options = options
    options.prepareConnection = { [self, prepare = options.prepareConnection] connection in
      try prepare?(connection)
      try connection.trace { [self] event in
        if case .ended(let sql, let duration) = event { record(sql, duration, of: tenant) }
      }
    }
    return options
  }

  /// Called on the thread of the statement, so it must not wait for anything.
  private func record(_ sql: String, _ duration: Duration, of tenant: Tenant) {
    state.withLock { state in
      // A program has a limited number of statements, unless it assembles SQL from values.
      let isKnown = state.statements[tenant]?[sql] != nil
      let isFull = (state.statements[tenant]?.count ?? 0) >= 500
      let key = isKnown || !isFull ? sql : "other"
      var total = state.statements[tenant]?[key] ?? Total()
      total.count += 1
      total.duration += duration
      total.longest = max(total.longest, duration)
      state.statements[tenant, default: [:]][key] = total
    }
  }

  func record(status: Int) { state.withLock { $0.responses[status, default: 0] += 1 } }

  /// The number of responses by status.
  var responses: [Int: Int] { state.withLock { $0.responses } }

  /// Returns the totals of a tenant's statements, by their SQL.
  func statements(of tenant: Tenant) -> [String: Total] {
    state.withLock { $0.statements[tenant] ?? [:] }
  }
}
