/// How SQLite runs a statement: the tables that it reads one in another, the indexes that it uses,
/// what it sorts on the way.
///
///     let plan = try connection.explain("SELECT * FROM note WHERE title = 'x' ORDER BY date")
///     print(plan)                  // SEARCH note USING INDEX note_title (title=?)
///     print(plan.scannedTables)    // []
///
/// It is read from `EXPLAIN QUERY PLAN` (<https://www.sqlite.org/eqp.html>), whose words may change
/// between versions: steps that are not known stay ``Step/Kind/other``, with SQLite's text.
public struct QueryPlan: Hashable, Sendable {
  /// A step, with the steps that it consists of.
  public struct Step: Hashable, Sendable {
    /// The action of SQLite.
    public enum Kind: Hashable, Sendable {
      /// SCAN or SEARCH: the rows of a table, a view or a query are read.
      case read(Reading)
      /// USE TEMP B-TREE: rows are collected and sorted, for ORDER BY, GROUP BY or DISTINCT.
      case sort(String)
      /// CO-ROUTINE, MATERIALIZE or a SUBQUERY: a query inside of the statement.
      case subquery
      /// UNION, INTERSECT or EXCEPT, or one side of them.
      case compound
      /// MULTI-INDEX OR: each term of an OR is looked for by itself.
      case anyTerm
      /// Something else, such as a Bloom filter.
      case other
    }

    /// The action of SQLite.
    public let kind: Kind
    /// The step in SQLite's words.
    public let detail: String
    /// The steps that it consists of, in their order.
    public let steps: [Step]
  }

  /// How the rows of one table are found.
  public struct Reading: Hashable, Sendable {
    /// Which index leads to the rows.
    public enum Index: Hashable, Sendable {
      /// None: all rows are read.
      case none
      /// The rowid, or the INTEGER PRIMARY KEY that it is.
      case rowID
      /// The primary key of a WITHOUT ROWID table.
      case primaryKey
      /// An index of the schema. One that covers the query spares the look into the table.
      case named(String, isCovering: Bool)
      /// An index that is made for this statement alone, each time that it runs.
      case automatic
      /// The plan of a virtual table, in its module's words.
      case virtual(String)
    }

    /// The table's name in the statement: its alias if it has one.
    public let table: String
    /// Whether only some rows are looked for; else all of them are read.
    public let isSearch: Bool
    /// Which index leads to them.
    public let index: Index
    /// The terms that the index answers, such as `title=?`.
    public let terms: [String]
  }

  /// The steps, in their order; tables that are read one in another follow each other.
  public let steps: [Step]

  /// All steps, those inside of others included.
  public var allSteps: [Step] { steps.flatMap(\.flattened) }

  /// All tables that are read, with the way in which they are.
  public var readings: [Reading] {
    allSteps.compactMap { step in
      guard case .read(let reading) = step.kind else { return nil }
      return reading
    }
  }

  /// The tables of which all rows are read.
  public var scannedTables: [String] {
    readings.compactMap { reading in
      if case .virtual = reading.index { return nil }
      return reading.isSearch ? nil : reading.table
    }
  }

  /// The indexes of the schema that are used.
  public var usedIndexes: Set<String> {
    Set(
      readings.compactMap { reading in
        guard case .named(let name, _) = reading.index else { return nil }
        return name
      })
  }

  /// The clauses for which rows are collected and sorted, such as `ORDER BY`.
  public var sorts: [String] {
    allSteps.compactMap { step in
      guard case .sort(let reason) = step.kind else { return nil }
      return reason
    }
  }
}

extension QueryPlan: CustomStringConvertible {
  /// A line for each step in SQLite's words, indented by its depth.
  public var description: String { QueryPlan.lines(of: steps, "").joined(separator: "\n") }

  private static func lines(of steps: [Step], _ indentation: String) -> [String] {
    steps.flatMap { [indentation + $0.detail] + lines(of: $0.steps, indentation + "  ") }
  }
}

extension QueryPlan.Step {
  fileprivate var flattened: [QueryPlan.Step] { [self] + steps.flatMap(\.flattened) }

  fileprivate init(_ detail: String, _ steps: [QueryPlan.Step]) {
    self.detail = detail
    self.steps = steps
    kind = Kind(detail)
  }
}

// MARK: - SQLite's words

extension QueryPlan.Step.Kind {
  fileprivate init(_ detail: String) {
    let words = detail.split(separator: " ")
    switch words.first {
    case "SCAN" where detail == "SCAN CONSTANT ROW": self = .other
    case "SCAN", "SEARCH":
      self = .read(QueryPlan.Reading(detail.dropFirst(words[0].utf8.count + 1), words[0]))
    case "USE": self = .sort(detail.tail(behind: " FOR ").map(String.init) ?? detail)
    case "CO-ROUTINE", "MATERIALIZE": self = .subquery
    case "COMPOUND", "LEFT-MOST", "UNION", "INTERSECT", "EXCEPT", "MERGE", "LEFT", "RIGHT":
      self = .compound
    case "MULTI-INDEX": self = .anyTerm
    default: self = words.contains("SUBQUERY") ? .subquery : .other
    }
  }
}

extension QueryPlan.Reading {
  /// Reads `note USING INDEX note_title (title=?)`.
  fileprivate init(_ text: Substring, _ verb: Substring) {
    var text = text
    if text.hasSuffix(" LEFT-JOIN") { text = text.dropLast(" LEFT-JOIN".utf8.count) }
    var bare = text
    var terms: [String] = []
    if text.hasSuffix(")"), let list = text.tail(behind: " ("), list.contains("?") {
      bare = text.head(before: " (") ?? text
      terms = list.dropLast().split(separator: " AND ").map(String.init)
    }
    let markers: [(marker: String, index: (Substring) -> Index)] = [
      (" VIRTUAL TABLE INDEX ", { .virtual(String($0)) }),
      (" USING COVERING INDEX ", { .named(String($0), isCovering: true) }),
      (" USING INDEX ", { .named(String($0), isCovering: false) }),
      (" USING INTEGER PRIMARY KEY", { _ in .rowID }),
      (" USING PRIMARY KEY", { _ in .primaryKey }),
      (" USING AUTOMATIC ", { _ in .automatic }),
    ]
    isSearch = verb == "SEARCH"
    for (marker, index) in markers {
      guard let name = bare.tail(behind: marker) else { continue }
      table = String(bare.head(before: marker) ?? bare)
      self.index = index(name)
      self.terms = terms
      return
    }
    table = String(text)
    index = .none
    self.terms = []
  }
}

extension StringProtocol where SubSequence == Substring {
  /// The text behind the last `marker`.
  fileprivate func tail(behind marker: String) -> Substring? {
    lastRange(of: marker).map { self[$0.upperBound...] }
  }

  /// The text before the last `marker`.
  fileprivate func head(before marker: String) -> Substring? {
    lastRange(of: marker).map { self[..<$0.lowerBound] }
  }

  private func lastRange(of marker: String) -> Range<Index>? { ranges(of: marker).last }
}

// MARK: - Asking

extension Connection {
  /// Returns how SQLite would run a statement, without running it.
  ///
  ///     let plan = try connection.explain("SELECT * FROM note WHERE title = \(title)")
  ///     for table in plan.scannedTables { print("no index leads to the rows of \(table)") }
  ///
  /// - Parameter sql: A single statement. One that writes needs a connection that may.
  /// - Throws: ``SQLiteError`` if it does not compile.
  public func explain(_ sql: SQL) throws -> QueryPlan {
    var children: [Int: [(id: Int, detail: String)]] = [:]
    for (id, parent, _, detail) in try rows(
      "EXPLAIN QUERY PLAN \(sql)", as: Int.self, Int.self, Int.self, String.self)
    {
      children[parent, default: []].append((id, detail))
    }
    func steps(of parent: Int) -> [QueryPlan.Step] {
      // Taken out, so that no step is its own parent.
      let own = children.removeValue(forKey: parent) ?? []
      return own.map { QueryPlan.Step($0.detail, steps(of: $0.id)) }
    }
    return QueryPlan(steps: steps(of: 0))
  }
}
