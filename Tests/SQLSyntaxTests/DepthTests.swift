import SQLSyntax
import SyntaxOracle
import TestSupport
import Testing

/// Tests nested and repeated texts on a thread with a small stack.
@Suite struct DepthTests {
  /// The texts: the first part repeated `count` times, the middle once, and the last part repeated
  /// `count` times.
  static let shapes:
    [(before: String, first: String, middle: String, last: String, behind: String)] =
      [
        ("SELECT ", "(", "1", ")", ""),
        ("SELECT ", "-", "1", "", ""),
        ("SELECT ", "- ", "1", "", ""),
        ("SELECT ", "~", "1", "", ""),
        ("SELECT ", "NOT ", "1", "", ""),
        ("SELECT ", "-(", "1", ")", ""),
        ("SELECT ", "f(", "1", ")", ""),
        ("SELECT ", "1 IN (", "1", ")", ""),
        ("SELECT ", "1 IN (2, ", "1", ", 3)", ""),
        ("SELECT ", "1+(", "1", ")", ""),
        ("SELECT ", "1 = 1 + 1 * (", "1", ")", ""),
        ("SELECT ", "CASE 1 WHEN 2 THEN ", "1", " END", ""),
        ("SELECT ", "CASE WHEN ", "1", " THEN 2 END", ""),
        ("SELECT ", "CASE ", "1", " WHEN 2 THEN 3 ELSE 4 END", ""),
        ("SELECT ", "CASE WHEN 1 THEN 2 ELSE ", "1", " END", ""),
        ("SELECT ", "CAST(", "1", " AS TEXT)", ""),
        ("SELECT ", "(SELECT ", "1", ")", ""),
        ("SELECT ", "EXISTS (SELECT ", "1", ")", ""),
        ("SELECT ", "1 IN (SELECT ", "1", ")", ""),
        ("SELECT ", "1 BETWEEN ", "1", " AND 2", ""),
        ("SELECT ", "1 BETWEEN 2 AND ", "1", "", ""),
        ("SELECT ", "(1, ", "1", ")", ""),
        ("SELECT ", "f(*) FILTER (WHERE ", "1", ")", ""),
        ("SELECT ", "f(1) OVER (ORDER BY ", "1", ")", ""),
        ("SELECT ", "f(1) OVER (PARTITION BY ", "1", ")", ""),
        ("SELECT 1 FROM ", "(SELECT 1 FROM ", "t", ")", ""),
        ("SELECT 1 FROM ", "(", "t", ")", ""),
        ("SELECT 1 FROM ", "(t JOIN ", "t", ")", ""),
        ("SELECT 1 FROM ", "f(", "1", ")", ""),
        ("", "WITH a AS (", "SELECT 1", ") SELECT 1", ""),
        ("", "INSERT INTO t SELECT ", "1", "", ""),
        ("SELECT ", "", "1", " + 1", ""),
        ("SELECT ", "", "1", " || 1", ""),
        ("SELECT ", "", "1", " AND 1", ""),
        ("SELECT ", "", "1", " = 1", ""),
        ("SELECT ", "", "1", " IS NULL", ""),
        ("SELECT ", "", "1", " NOT NULL", ""),
        ("SELECT ", "", "1", " ISNULL", ""),
        ("SELECT ", "", "1", " LIKE 1", ""),
        ("SELECT ", "", "1", " IN (1)", ""),
        ("SELECT ", "", "1", " BETWEEN 1 AND 2", ""),
        ("SELECT ", "", "1", " COLLATE nocase", ""),
        ("SELECT ", "1 + ", "1", "", ""),
        ("SELECT ", "1 OR 1 AND ", "1", "", ""),
        ("SELECT ", "1 = 1 < ", "1", "", ""),
        ("SELECT ", "1 = NOT ", "1", "", ""),
        ("SELECT ", "1 < 1 & 1 + 1 * 1 || ", "1", "", ""),
        ("SELECT CASE", "", " WHEN 1 THEN 2", " WHEN 1 THEN 2", " END"),
        ("VALUES ", "", "(1)", ", (1)", ""),
        ("SELECT ", "", "1", ", 1", ""),
        ("SELECT f(", "", "1", ", 1", ")"),
        ("SELECT 1 IN (", "", "1", ", 1", ")"),
        ("SELECT 1", "", "", " UNION ALL SELECT 1", ""),
        ("SELECT 1 FROM t", "", "", ", t", ""),
        ("SELECT 1 FROM t", "", "", " JOIN t ON 1", ""),
        ("SELECT 1 FROM t", "", "", " LEFT JOIN t USING (a)", ""),

        ("SELECT 1 ORDER BY 1", "", "", ", 1", ""),
        ("UPDATE t SET a = 1", "", "", ", a = 1", ""),
        ("INSERT INTO t VALUES (1)", "", "", " ON CONFLICT (a) DO NOTHING", ""),
        ("CREATE TABLE t(a", "", "", " NOT NULL", ")"),
        ("CREATE TABLE t(a", "", "", " CHECK (1)", ")"),
        ("CREATE TABLE t(a", "", "", " b", ")"),
        ("CREATE TABLE t(a, CHECK (1)", "", "", ", CHECK (1)", ")"),
        ("CREATE VIRTUAL TABLE v USING m(", "(", "a", ")", ")"),
        ("CREATE VIRTUAL TABLE v USING m(a", "", "", ", a", ")"),
        ("CREATE TRIGGER r INSERT ON t BEGIN SELECT 1;", "", "", " SELECT 1;", " END"),
        ("SELECT ", "/* ", "", "", "*/ 1"),
        ("", ";", "", "", ""),
      ]

  static let counts = [
    1, 2, 14, 15, 16, 17, 18, 19, 20, 21, 31, 32, 33, 34, 47, 48, 49, 50, 92, 93, 94, 95, 96, 97,
    99, 100, 101, 120, 490, 499, 500, 501, 998, 999, 1000, 1001, 2_000, 20_000,
  ]

  static func text(_ shape: Int, _ count: Int) -> [UInt8] {
    let (before, first, middle, last, behind) = shapes[shape]
    return Array(
      (before + String(repeating: first, count: count) + middle
        + String(repeating: last, count: count) + behind).utf8)
  }

  @Test func `the parser accepts every depth that SQLite accepts`() throws {
    // SQLite needs more stack than the parser.
    let judge = try Judge()
    let grammar = judge.grammar
    var differences = Differences()
    for shape in Self.shapes.indices {
      // SQLite needs quadratic time for long lists of tables and queries.
      let isLong = Self.shapes[shape].before.contains("SELECT 1")
      let counts = Self.counts.filter { !isLong || $0 <= 1_000 }
      let readings = try onSmallStack {
        counts.map { Judge.Reading(of: Self.text(shape, $0), grammar: grammar) }
      }
      for (count, reading) in zip(counts, readings) {
        if let difference = judge.difference(Self.text(shape, count), reading) {
          differences.add(difference, "\(count) of \(Self.shapes[shape])")
        }
      }
    }
    #expect(differences.count == 0, "\(differences)")
  }

  @Test func `deep statements are printed, compared, hashed and released on a small stack`() async {
    await #expect(processExitsWith: .success) {
      try onSmallStack {
        let judge = try Judge()
        for shape in DepthTests.shapes.indices {
          for count in DepthTests.counts {
            guard
              let statement = try? SQLStatement.parseFirst(in: DepthTests.text(shape, count))
                .statement
            else { continue }
            let printed = statement.printed()
            let again = try SQLStatement(parsing: printed, grammar: judge.grammar)
            #expect(again == statement)
            #expect(again.hashValue == statement.hashValue)
            #expect(again.printed() == printed)
          }
        }
      }
    }
  }

  @Test func `a hundred thousand repetitions are accepted or rejected on a small stack`() async {
    await #expect(processExitsWith: .success) {
      try onSmallStack {
        for shape in DepthTests.shapes.indices {
          _ = try? SQLStatement.parseFirst(in: DepthTests.text(shape, 100_000)).statement?.printed()
        }
      }
    }
  }
}
