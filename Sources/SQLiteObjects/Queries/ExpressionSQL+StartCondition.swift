import SQLiteCore
import SQLiteRelations

// A statement that starts with the condition that the fewest rows match.
//
// When it runs, it counts up to 16, 128, 1,024, … rows for each condition, and starts with the
// first condition that has fewer. Counting takes a small part of the time that reading the rows
// takes.
extension ExpressionSQL {
  /// The maximum number of indexed conditions from which a statement chooses. The length of its SQL
  /// is quadratic in this number.
  private static var choiceLimit: Int { 4 }

  /// Writes the condition of a statement.
  ///
  /// A column name in SQL of the user could also be a column of a joined table. Conditions with
  /// such SQL are therefore evaluated in a subquery without joins.
  ///
  /// - Parameters:
  ///   - filter: The filter.
  ///   - rows: The rows of the statement.
  ///   - rowStrategy: The strategy by which the statement finds the rows that the filter selects.
  ///   - hasNoJoins: Whether the rows aren't joined with others.
  ///   - sql: The SQL to append to.
  mutating func write(
    where filter: QueryNode, _ rows: Rows, _ rowStrategy: RowStrategy, hasNoJoins: Bool = true,
    to sql: inout SQL
  ) throws {
    if rowStrategy.compares {
      sql.append(text: "\(rows.key) IN (")
      try writeChoice(filter, rows.plan, rowStrategy, to: &sql)
      return sql.append(text: ")")
    }
    if !hasNoJoins, filter.hasLiteral {
      let plan = rows.plan
      sql.append(text: "\(rows.key) IN (SELECT \(rows.key) FROM \(plan.quotedTable.text) WHERE ")
      try write(where: filter, Rows(of: plan), rowStrategy, to: &sql)
      return sql.append(text: ")")
    }
    rows.narrowing = rowStrategy.visited
    try write(filter, rows, to: &sql)
    rows.narrowing = rowStrategy.narrowing
  }

  /// Writes a query for the keys of the rows that match a filter, as a `UNION ALL` of branches.
  /// When the query runs, it chooses one branch, and all others are empty.
  ///
  /// Branches 1, 2 and so on start with the rows that match one of the first `choiceLimit` terms
  /// that an index serves. If no index serves a term, branch 1 applies the whole filter. Branch 0
  /// reads all rows, or the first rows in the sort order. It is written only if that may be faster.
  private mutating func writeChoice(
    _ filter: QueryNode, _ plan: ObjectPlan, _ rowStrategy: RowStrategy, to sql: inout SQL
  ) throws {
    let (table, key) = (plan.quotedTable, SQL(unchecked: plan.qualifiedKey))
    let (all, few) = (Rows(of: plan), Rows(of: plan, narrowing: .few))
    let indexedTerms = rowStrategy.indexedTerms.prefix(ExpressionSQL.choiceLimit)
    sql.append(text: "WITH ")
    var names: [String] = []
    for index in indexedTerms {
      let keys = try keys(of: rowStrategy.terms[index], all)
      names.append(alias())
      sql.append(text: "\(names[names.count - 1]) (start) AS NOT MATERIALIZED (")
      sql.append(keys)
      sql.append(text: "), ")
    }
    // Generated names, so that they don't hide a column that SQL of the user means.
    let (choice, number) = (alias(), alias())
    sql.append(text: "\(choice) (\(number)) AS MATERIALIZED (SELECT CASE")
    if !indexedTerms.isEmpty {
      writeComparison(names, plan, rowStrategy, to: &sql)
    } else if let stream = rowStrategy.stream {
      try writeProbe(filter, few, stream.order, to: &sql)
    } else if let probed = rowStrategy.probed {
      try writeProbe(probed, few, to: &sql)
    }
    sql.append(text: ")")
    var separator = " "
    func begin(_ branch: Int) {
      // The choice is a table with one row, because SQLite would evaluate a subquery in WHERE for
      // each row.
      sql.append(
        text:
          "\(separator)SELECT \(key.text) FROM \(choice) CROSS JOIN \(table.text) WHERE \(number) = \(branch)"
      )
      separator = " UNION ALL "
    }
    for (branch, index) in indexedTerms.enumerated() {
      begin(branch + 1)
      sql.append(text: " AND ")
      try write(rowStrategy.terms[index], all, to: &sql)
      try write(rowStrategy, rowStrategy.terms.indices.filter { $0 != index }, few, to: &sql)
    }
    if indexedTerms.isEmpty {
      begin(1)
      sql.append(text: " AND ")
      try write(filter, all, to: &sql)
    }
    if let stream = rowStrategy.stream {
      sql.append(text: "\(separator)SELECT * FROM (SELECT \(key.text) FROM \(table.text) WHERE ")
      try write(filter, few, to: &sql)
      try write(stream.order, few, to: &sql)
      sql.append(text: " LIMIT (SELECT CASE \(number) WHEN 0 THEN ")
      sql.append("\(stream.count)")
      sql.append(text: " ELSE 0 END FROM \(choice)))")
    } else if rowStrategy.scans {
      begin(0)
      if !rowStrategy.rest.isEmpty {
        sql.append(text: " AND ")
        let rest = rowStrategy.rest.map { rowStrategy.terms[$0] }
        try write(rest[...], joinedBy: " AND ", indexedTerms.isEmpty ? few : all, to: &sql)
      }
      try write(rowStrategy, rowStrategy.indexedTerms, few, to: &sql)
    }
  }

  /// Writes the rest of a CASE expression that yields the number of the branch with the fewest
  /// rows. It yields 0 if reading all rows, or the first rows in the sort order, is probably
  /// faster.
  private func writeComparison(
    _ names: [String], _ plan: ObjectPlan, _ rowStrategy: RowStrategy, to sql: inout SQL
  ) {
    let hasOthers = rowStrategy.stream != nil || rowStrategy.scans
    for size in [16, 128, 1_024, 8_192, 65_536] {
      // If the matches are evenly distributed, reading `count * rows / matches` rows finds the
      // first `count` of them.
      let limit = rowStrategy.stream == nil ? size * 8 : size * size
      if hasOthers { sql.append(text: " WHEN size < \(limit) THEN 0") }
      for (index, name) in names.enumerated() {
        sql.append(
          text:
            " WHEN NOT EXISTS (SELECT 1 FROM \(name) LIMIT 1 OFFSET \(size)) THEN \(index + 1)")
      }
    }
    sql.append(text: hasOthers ? " ELSE 0 END" : " ELSE 1 END")
    if !hasOthers { return }
    let key = SQL(unchecked: plan.qualifiedKey)
    sql.append(
      " FROM (SELECT max(\(key)) * \(rowStrategy.stream?.count ?? 1) AS size FROM \(plan.quotedTable))"
    )
  }

  /// Writes the rest of a CASE expression that yields 0 if one of the first 256 rows in the sort
  /// order matches a filter that no index serves, because then many rows probably match. Otherwise
  /// it yields 1.
  private mutating func writeProbe(
    _ filter: QueryNode, _ rows: Rows, _ order: [QueryOrder], to sql: inout SQL
  ) throws {
    let table = rows.plan.quotedTable
    sql.append(" WHEN EXISTS (SELECT 1 FROM (SELECT * FROM \(table)")
    try write(order, rows, to: &sql)
    sql.append(" LIMIT 256) AS \(table) WHERE ")
    try write(filter, rows, to: &sql)
    sql.append(text: ") THEN 0 ELSE 1 END")
  }

  /// Writes the rest of a CASE expression that yields 0 if so many related objects match that
  /// checking those of each row is probably faster than reading all related objects. Otherwise it
  /// yields 1.
  private mutating func writeProbe(
    _ query: RelatedQuery, _ rows: Rows, to sql: inout SQL
  ) throws {
    let plan = try store.relation(of: rows.plan.shape, query.route[0]).destination
    let related = try Rows(plan, alias: alias(), narrowing: .few)
    let (key, own) = (SQL(unchecked: plan.qualifiedKey), SQL(unchecked: rows.key))
    let (table, ownTable) = (plan.quotedTable, rows.plan.quotedTable)
    // If `count` of 256 related objects match, `256 / count` of them are checked for each row, at
    // random positions. Reading all of them in order takes a twelfth of that time for each object,
    // and five times as much in addition for a match.
    sql.append(
      " WHEN count * (count + 50) * (SELECT max(\(key)) FROM \(table)) > 160000 * (SELECT max(\(own)) FROM \(ownTable)) THEN 0 ELSE 1 END"
    )
    sql.append(
      " FROM (SELECT count(*) AS count FROM (SELECT * FROM \(table) LIMIT 256) AS \(SQL(unchecked: related.alias ?? ""))"
    )
    if let filter = query.filter {
      sql.append(text: " WHERE ")
      try write(filter, related, to: &sql)
    }
    sql.append(text: ")")
  }

  /// Appends terms of the filter with `AND`. A unary `+` prevents SQLite from finding the rows
  /// through an index on these terms.
  private mutating func write(
    _ rowStrategy: RowStrategy, _ indices: [Int], _ rows: Rows, to sql: inout SQL
  ) throws {
    if indices.isEmpty { return }
    sql.append(text: " AND +(")
    try write(indices.map { rowStrategy.terms[$0] }[...], joinedBy: " AND ", rows, to: &sql)
    sql.append(text: ")")
  }

  /// Writes ORDER BY, with the key as the last term.
  private mutating func write(_ order: [QueryOrder], _ rows: Rows, to sql: inout SQL) throws {
    sql.append(text: " ORDER BY ")
    for order in order {
      try write(order.node, rows, to: &sql)
      sql.append(text: order.isDescending ? " DESC, " : ", ")
    }
    sql.append(text: rows.key)
  }

  /// Returns a query that finds the keys of the rows that match a term one by one, so that counting
  /// them can stop early. The result may contain the same key repeatedly, and for a term on related
  /// objects, keys of rows that don't match.
  private mutating func keys(of term: QueryNode, _ rows: Rows) throws -> SQL {
    if let query = term.requiredRelation, let starts = try starts(of: query, rows) { return starts }
    var sql: SQL = "SELECT \(SQL(unchecked: rows.key)) FROM "
    if let reference = try reference(term, rows) {
      sql.append(
        text:
          "\(reference.table) CROSS JOIN \(rows.plan.quotedTable.text) ON \(reference.column) = \(reference.rows.key) WHERE "
      )
      try write(reference.condition, reference.rows, to: &sql)
    } else {
      sql.append("\(rows.plan.quotedTable) WHERE ")
      try write(term, rows, to: &sql)
    }
    return sql
  }
}
