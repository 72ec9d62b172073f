/// The query plan of a statement: the tables that SQLite reads and their order, the indexes that it
/// uses, and what it sorts.
///
///     let plan = try connection.explain("SELECT * FROM note WHERE title = 'x' ORDER BY date")
///     print(plan)                  // SEARCH note USING INDEX note_title (title=?)
///                                  // USE TEMP B-TREE FOR ORDER BY
///     print(plan.scannedTables)    // []
///
/// The plan is parsed from the output of `EXPLAIN QUERY PLAN` (<https://www.sqlite.org/eqp.html>).
/// This format may change between SQLite versions. Steps that the library doesn't recognize have
/// the kind ``Step/Kind/other`` and keep SQLite's text.
public struct QueryPlan: Hashable, Sendable {
  /// A step of the plan, with the steps that it consists of.
  public struct Step: Hashable, Sendable {
    /// The action that SQLite performs in a step.
    public enum Kind: Hashable, Sendable {
      /// SCAN or SEARCH: SQLite reads the rows of a table, a view or a query.
      case read(Reading)
      /// USE TEMP B-TREE: SQLite collects and sorts rows. The value is the clause that requires it,
      /// such as ORDER BY, GROUP BY or DISTINCT.
      case sort(String)
      /// CO-ROUTINE, MATERIALIZE or a SUBQUERY: SQLite runs a query inside the statement.
      case subquery
      /// UNION, INTERSECT or EXCEPT, or one of their operands.
      case compound
      /// MULTI-INDEX OR: SQLite searches for each term of an OR separately.
      case anyTerm
      /// Any other action, such as a Bloom filter.
      case other
    }

    /// The action that SQLite performs in this step.
    public let kind: Kind
    /// The text of the step in SQLite's output.
    public let detail: String
    /// The steps that this step consists of, in order.
    public let steps: [Step]
  }

  /// The way in which SQLite finds the rows of one table, view or subquery.
  public struct Reading: Hashable, Sendable {
    /// The index that SQLite uses to find rows.
    public enum Index: Hashable, Sendable {
      /// No index: SQLite reads all rows.
      case none
      /// The rowid, or the INTEGER PRIMARY KEY that is an alias for it.
      case rowID
      /// The primary key of a WITHOUT ROWID table.
      case primaryKey
      /// An index of the schema. A covering index contains all columns that the query needs, so
      /// SQLite doesn't read the table itself.
      case named(String, isCovering: Bool)
      /// A temporary index that SQLite builds each time the statement runs.
      case automatic
      /// The plan of a virtual table, as described by its module.
      case virtual(String)
    }

    /// The alias of the table, view or subquery in the statement, or its name if it has no alias.
    public let table: String
    /// A Boolean value that indicates whether SQLite searches for rows with an index (SEARCH)
    /// instead of reading all rows (SCAN).
    public let isSearch: Bool
    /// The index that SQLite uses to find or order the rows.
    public let index: Index
    /// The conditions that the index evaluates, such as `title=?`.
    public let terms: [String]
  }

  /// The top-level steps, in order. The tables of a join follow each other, the outermost loop
  /// first.
  public let steps: [Step]

  /// All steps, including nested ones.
  public var allSteps: [Step] { steps.flatMap(\.flattened) }

  /// The reads of tables, views and subqueries in all steps, in the order of ``allSteps``.
  public var readings: [Reading] {
    allSteps.compactMap { step in
      guard case .read(let reading) = step.kind else { return nil }
      return reading
    }
  }

  /// The names of the tables, views and subqueries of which SQLite reads all rows, in the order of
  /// ``allSteps``. Virtual tables are not included.
  public var scannedTables: [String] {
    readings.compactMap { reading in
      if case .virtual = reading.index { return nil }
      return reading.isSearch ? nil : reading.table
    }
  }

  /// The names of the schema's indexes that SQLite uses.
  public var usedIndexes: Set<String> {
    Set(
      readings.compactMap { reading in
        guard case .named(let name, _) = reading.index else { return nil }
        return name
      })
  }

  /// The clauses for which SQLite collects and sorts rows, such as `ORDER BY`.
  public var sorts: [String] {
    allSteps.compactMap { step in
      guard case .sort(let reason) = step.kind else { return nil }
      return reason
    }
  }
}

extension QueryPlan: CustomStringConvertible {
  /// SQLite's text of each step on a line of its own, indented by the depth of the step.
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

// MARK: - Parsing SQLite's output

extension QueryPlan.Step.Kind {
  fileprivate init(_ detail: String) {
    let words = detail.split(separator: " ")
    switch words.first {
    case "SCAN" where detail == "SCAN CONSTANT ROW": self = .other
    case "SCAN", "SEARCH":
      self = .read(QueryPlan.Reading(detail.dropFirst(words[0].utf8.count + 1), words[0]))
    case "USE": self = .sort(detail.tail(after: " FOR ").map(String.init) ?? detail)
    case "CO-ROUTINE", "MATERIALIZE": self = .subquery
    case "COMPOUND", "LEFT-MOST", "UNION", "INTERSECT", "EXCEPT", "MERGE", "LEFT", "RIGHT":
      self = .compound
    case "MULTI-INDEX": self = .anyTerm
    default: self = words.contains("SUBQUERY") ? .subquery : .other
    }
  }
}

extension QueryPlan.Reading {
  /// Creates a reading from the text of a step without its verb, such as `note USING INDEX
  /// note_title (title=?)`. The verb is SCAN or SEARCH.
  fileprivate init(_ text: Substring, _ verb: Substring) {
    var text = text
    if text.hasSuffix(" LEFT-JOIN") { text = text.dropLast(" LEFT-JOIN".utf8.count) }
    var bare = text
    var terms: [String] = []
    if text.hasSuffix(")"), let list = text.tail(after: " ("), list.contains("?") {
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
      guard let name = bare.tail(after: marker) else { continue }
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
  /// Returns the text after the last `marker`, or nil if the marker doesn't occur.
  fileprivate func tail(after marker: String) -> Substring? {
    lastRange(of: marker).map { self[$0.upperBound...] }
  }

  /// Returns the text before the last `marker`, or nil if the marker doesn't occur.
  fileprivate func head(before marker: String) -> Substring? {
    lastRange(of: marker).map { self[..<$0.lowerBound] }
  }

  private func lastRange(of marker: String) -> Range<Index>? { ranges(of: marker).last }
}

// MARK: - Explaining statements

extension Connection {
  /// Returns the query plan of a statement, without running the statement.
  ///
  ///     let plan = try connection.explain("SELECT * FROM note WHERE title = \(title)")
  ///     for table in plan.scannedTables { print("\(table) is read without a search") }
  ///
  /// - Parameter sql: A single statement. If it writes, the connection must be allowed to write.
  /// - Throws: ``SQLiteError`` if SQLite can't compile the statement, or if the connection isn't
  ///   allowed to run it.
  public func explain(_ sql: SQL) throws -> QueryPlan {
    var children: [Int: [(id: Int, detail: String)]] = [:]
    for (id, parent, _, detail) in try rows(
      "EXPLAIN QUERY PLAN \(sql)", as: Int.self, Int.self, Int.self, String.self)
    {
      children[parent, default: []].append((id, detail))
    }
    func steps(of parent: Int) -> [QueryPlan.Step] {
      // Remove the children, so that a step that is its own parent can't cause infinite recursion.
      let own = children.removeValue(forKey: parent) ?? []
      return own.map { QueryPlan.Step($0.detail, steps(of: $0.id)) }
    }
    return QueryPlan(steps: steps(of: 0))
  }
}
