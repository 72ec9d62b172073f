import Foundation
import MagicData
import SQLiteCore

/// The time of queries next to that of the best SQL: how well SQLite finds the rows of a filter on related objects, without
/// ANALYZE.
struct PlanReport {
  private let graph: PlanGraph
  private let c: CConnection

  init(_ fixtures: Fixtures) throws {
    let path = fixtures.folder.appending(path: "plans.sqlite").path
    graph = try PlanGraph(path: path)
    c = try CConnection(path: path)
  }

  /// Prints a table with a line for each question. Of each statement the least processor time of some rounds counts, and of
  /// several candidates for the best SQL the fastest.
  /// Then the plans of the queries that take more than twice the time.
  func run(rounds: Int) throws {
    let progress = Progress()
    var slow: [String] = []
    print(
      """
      \(PlanGraph.nodes) nodes, \(PlanGraph.edges) edges; processor time of SQLite, the least of \(rounds) rounds

      | question | selectivity | best SQL, ms | query, ms | ratio |
      | --- | --- | --: | --: | --: |
      """)
    for question in try PlanQuestion.all(graph.magic) {
      progress.show("plans: \(question.name)")
      let statements = try statements(of: question)
      let own = try time(of: question, statements, rounds)
      var best = (time: Double.infinity, sql: "")
      for candidate in question.candidates {
        if !question.isWriting { try check(candidate, question) }
        let time = try c.time(of: [candidate], question.isWriting, rounds)
        if time < best.time { best = (time, candidate) }
      }
      progress.clear()
      let cells = [
        "`\(question.name)`", question.selectivity, milliseconds(best.time), milliseconds(own),
        fixed(own / best.time, digits: 1),
      ]
      print("| \(cells.joined(separator: " | ")) |")
      if own > best.time * 2 {
        slow.append(
          "\(question.name), \(question.selectivity)\nbest: \(best.sql)\nquery: \(statements.joined(separator: "\n"))"
        )
        for statement in statements.prefix(1) {
          let plan = try graph.magic.database.write { try $0.explain(SQL(unchecked: statement)) }
          slow.append("\(plan)\n")
        }
      }
    }
    if !slow.isEmpty { print("\nMore than twice the time:\n\(slow.joined(separator: "\n"))") }
  }

  private func milliseconds(_ time: Double) -> String {
    fixed(time / 1_000, digits: time < 100 ? 4 : time < 10_000 ? 3 : 1)
  }

  /// Returns the statements that a query runs.
  private func statements(of question: PlanQuestion) throws -> [String] {
    // The first call of a type looks at its tables.
    if !question.isWriting { _ = try question.ask(graph.magic) }
    _ = graph.statements.take()
    if question.isWriting {
      struct Undone: Error {}
      do {
        try graph.magic.transaction {
          _ = try question.ask(graph.magic)
          throw Undone()
        }
      } catch is Undone {}
      return graph.statements.take().filter { $0.hasPrefix("UPDATE") || $0.hasPrefix("DELETE") }
    }
    _ = try question.ask(graph.magic)
    return graph.statements.take().filter { $0.hasPrefix("SELECT") || $0.hasPrefix("WITH") }
  }

  private func time(
    of question: PlanQuestion, _ statements: [String], _ rounds: Int
  ) throws -> Double {
    // A list is bound by a pointer, which only the library's connections read.
    let isListed = statements.contains { $0.contains("magicdata_list") }
    // Related objects are loaded by further statements, which the first one doesn't find.
    let first = Array(statements.prefix(1))
    if !isListed { return try c.time(of: first, question.isWriting, rounds) }
    var least = Double.infinity
    for _ in 0..<rounds * 3 {
      least = min(least, try microseconds { _ = try question.ask(graph.magic) })
    }
    return least
  }

  /// Throws if a candidate finds something else than the query.
  private func check(_ candidate: String, _ question: PlanQuestion) throws {
    let found = try question.ask(graph.magic)
    let other = try c.integers(candidate)
    guard question.isOrdered ? found == other : found.sorted() == other.sorted() else {
      throw Failure(
        "\(question.name): \(found.count) rows, but \(other.count) rows by \(candidate)")
    }
  }
}

/// The time that this thread spends on the processor: whatever else the machine does, it is nearly the same.
private func microseconds(of work: () throws -> Void) rethrows -> Double {
  func now() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
  }
  let start = now()
  try work()
  return now() - start
}

extension CConnection {
  fileprivate func integers(_ sql: String) throws -> [Int] {
    let statement = try CStatement(sql, self)
    var found: [Int] = []
    while try statement.step() { found.append(Int(statement.integer)) }
    return found
  }

  /// The time to step through all rows, the least of some rounds.
  fileprivate func time(of statements: [String], _ isWriting: Bool, _ rounds: Int) throws -> Double
  {
    if isWriting { try execute("BEGIN IMMEDIATE") }
    defer { if isWriting { try? execute("ROLLBACK") } }
    return try statements.reduce(0) { sum, sql in
      let statement = try CStatement(sql, self)
      var least = Double.infinity
      // The first round reads the pages. A short statement is run more often.
      for round in 0...rounds {
        if isWriting { try execute("SAVEPOINT round") }
        let once = try microseconds {
          while try statement.step() {}
        }
        try statement.reset()
        if isWriting { try execute("ROLLBACK TO round; RELEASE round") }
        if round == 0 { continue }
        least = min(least, once)
        if once > 1_000 || isWriting { continue }
        let calls = Int(2_000 / max(once, 1)) + 1
        let time = try microseconds {
          for _ in 0..<calls {
            while try statement.step() {}
            try statement.reset()
          }
        }
        least = min(least, time / Double(calls))
      }
      return sum + least
    }
  }
}
