import Foundation
import MagicData
import SQLiteCore

/// A report that compares the time of queries on related objects with the best hand-written SQL, to
/// show how well SQLite plans them without ANALYZE.
struct PlanReport {
  private let graph: PlanGraph
  private let c: CConnection

  init(_ fixtures: Fixtures) throws {
    let path = fixtures.folder.appending(path: "plans.sqlite").path
    graph = try PlanGraph(path: path)
    c = try CConnection(path: path)
  }

  /// Prints tables with a row for each question and a column for each selectivity, then the plans
  /// of the queries that take more than twice the time of the best SQL.
  ///
  /// The time of a statement is the minimum processor time of several rounds. The best SQL is the
  /// fastest of several candidates.
  func run(rounds: Int) throws {
    let progress = Progress()
    var (columns, slow) = ([String](), [String]())
    print(
      """
      \(PlanGraph.nodes) nodes, \(PlanGraph.edges) edges. Milliseconds of processor time of the best SQL / ratio of the \
      query to it, minimum of \(rounds) rounds
      """)
    let questions = try PlanQuestion.all(graph.magic)
    for (index, question) in questions.enumerated() {
      progress.show("plans: \(question.name)")
      let statements = try statements(of: question)
      let best = try best(of: question, rounds)
      // The first statement finds the objects. The following ones load related objects.
      let own = try c.time(of: statements.prefix(1).joined(), question.isWriting, rounds)
      progress.clear()
      if index == 0 || questions[index - 1].name != question.name {
        let parts = questions.filter { $0.name == question.name }.map(\.selectivity)
        if parts != columns {
          columns = parts
          print("\n| question | \(parts.joined(separator: " | ")) |")
          print("| --- | \(parts.map { _ in "--:" }.joined(separator: " | ")) |")
        }
        print("| `\(question.name)`", terminator: "")
      }
      let isLast = index + 1 == questions.count || questions[index + 1].name != question.name
      let ratio = fixed(own / best.time, digits: 1)
      print(" | \(milliseconds(best.time)) / \(ratio)", terminator: isLast ? " |\n" : "")
      guard own > best.time * 2, let statement = statements.first else { continue }
      let plan = try graph.magic.database.write { try $0.explain(SQL(unchecked: statement)) }
      slow.append(
        """
        \(question.name), \(question.selectivity): \(ratio)
        best: \(best.sql)
        query: \(statement)
        \(plan)

        """)
    }
    if !slow.isEmpty {
      print(
        "\nQueries that take more than twice the time of the best SQL:\n\n\(slow.joined(separator: "\n"))"
      )
    }
  }

  /// Returns the fastest candidate of a question and its time.
  private func best(of question: PlanQuestion, _ rounds: Int) throws -> (time: Double, sql: String)
  {
    var best = (time: Double.infinity, sql: "")
    for candidate in question.candidates {
      if !question.isWriting { try check(candidate, question) }
      let time = try c.time(of: candidate, question.isWriting, rounds)
      if time < best.time { best = (time, candidate) }
    }
    return best
  }

  private func milliseconds(_ time: Double) -> String {
    fixed(time / 1_000, digits: time < 100 ? 4 : time < 1_000 ? 2 : 1)
  }

  /// Returns the statements that a query runs.
  private func statements(of question: PlanQuestion) throws -> [String] {
    // The first call for a type also reads the schema.
    if !question.isWriting { _ = try question.query(graph.magic) }
    _ = graph.statements.take()
    if question.isWriting {
      struct Undone: Error {}
      do {
        try graph.magic.transaction {
          _ = try question.query(graph.magic)
          throw Undone()
        }
      } catch is Undone {}
      return graph.statements.take().filter { $0.hasPrefix("UPDATE") || $0.hasPrefix("DELETE") }
    }
    _ = try question.query(graph.magic)
    return graph.statements.take().filter { $0.hasPrefix("SELECT") }.map {
      // The library binds a list as a pointer, which other connections can't read. Each list has
      // one element here.
      $0.replacing(
        "(SELECT value FROM magicdata_list(NULL))", with: "(SELECT '\(question.word)')")
    }
  }

  /// Throws an error if a candidate finds other rows than the query.
  private func check(_ candidate: String, _ question: PlanQuestion) throws {
    let found = try question.query(graph.magic)
    let other = try c.integers(candidate)
    guard question.isOrdered ? found == other : found.sorted() == other.sorted() else {
      throw Failure(
        "\(question.name): the query found \(found.count) rows, but this SQL found \(other.count): \(candidate)"
      )
    }
  }
}

/// Returns the processor time that `work` takes on this thread. It hardly depends on the load of
/// the machine.
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

  /// Returns the minimum time, of several rounds, to step through all rows of a statement.
  fileprivate func time(of sql: String, _ isWriting: Bool, _ rounds: Int) throws -> Double {
    if isWriting { try execute("BEGIN IMMEDIATE") }
    defer { if isWriting { try? execute("ROLLBACK") } }
    let statement = try CStatement(sql, self)
    var least = Double.infinity
    // The first round reads the pages and isn't counted. Short statements are repeated within a
    // round.
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
    return least
  }
}
