package import SQLiteCore

/// Turns filters into SQL text and values.
///
/// The tree is all that is written here; what its terms are called, the types above know.
package protocol FilterWriter<Term> {
  associatedtype Term: Sendable
  /// A row in scope.
  associatedtype Row
  /// Writes a column of the row, or another operand or condition.
  mutating func write(_ term: Term, _ row: Row, to sql: inout FilterSQL) throws
}

extension FilterWriter {
  package mutating func write(
    _ operand: FilterOperand<Term>, _ row: Row, to sql: inout FilterSQL
  ) throws {
    switch operand {
    case .column(let term), .known(let term): try write(term, row, to: &sql)
    case .value(let value): sql.append(value: value)
    case .calculation(let left, let arithmetic, let right, _):
      // To SQL as to Swift, operators of one rank bind from left to right: parentheses around each
      // would overflow the stack of SQLite's parser.
      var (first, rest) = (left, [(arithmetic, right)])
      while case .calculation(let left, let before, let right, _) = first,
        before.isSum == arithmetic.isSum
      {
        first = left
        rest.append((before, right))
      }
      sql.append("(")
      try write(first, row, to: &sql)
      for (arithmetic, right) in rest.reversed() {
        sql.append(" \(arithmetic.rawValue) ")
        try write(right, row, to: &sql)
      }
      sql.append(")")
    case .tooDeep: throw FilterDepth.error
    }
  }

  package mutating func write(
    _ condition: FilterCondition<Term>, _ row: Row, to sql: inout FilterSQL
  ) throws {
    switch condition {
    case .comparison(let left, let comparison, let right):
      try write(left, comparison, right, row, to: &sql)
    case .isIn(let operand, let list): try write(operand, in: list, row, to: &sql)
    case .hasPrefix(let operand, let prefix): try write(operand, prefix: prefix, row, to: &sql)
    case .contains(let operand, let part):
      if part.isEmpty {
        try write(operand, row, to: &sql)
        sql.append(" IS NOT NULL")
      } else {
        sql.append("instr(")
        try write(operand, row, to: &sql)
        sql.append(", ")
        sql.append(value: .text(part))
        sql.append(") > 0")
      }
    case .like(let operand, let pattern):
      try write(operand, row, to: &sql)
      sql.append(" LIKE ")
      sql.append(value: .text(pattern))
    case .term(let term), .nested(let term, _): try write(term, row, to: &sql)
    case .sql(let text):
      sql.append("(")
      try sql.append(text)
      // The condition may end in a comment, which ends with the line.
      sql.append("\n)")
    case .negation(let operand, _):
      // TRUE is no keyword: a column may be called so.
      sql.append(operand.isTruthValue ? "(" : "NOT ifnull((")
      try write(operand, row, to: &sql)
      sql.append(operand.isTruthValue ? ") IS NOT 1" : "), 0)")
    case .all(let list): try write(list.conditions[...], joinedBy: " AND ", row, to: &sql)
    case .any(let list):
      try write(grouped(list.conditions, row)[...], joinedBy: " OR ", row, to: &sql)
    case .tooDeep: throw FilterDepth.error
    }
  }

  private mutating func write(
    _ left: FilterOperand<Term>, _ comparison: FilterComparison, _ right: FilterOperand<Term>,
    _ row: Row, to sql: inout FilterSQL
  ) throws {
    try write(left, row, to: &sql)
    switch (comparison, right) {
    case (.equal, .value(.null)): return sql.append(" IS NULL")
    case (.notEqual, .value(.null)): return sql.append(" IS NOT NULL")
    // Of two columns both may be nil, and then are equal.
    case (.equal, .column), (.equal, .calculation): sql.append(" IS ")
    default: sql.append(comparison.sign)
    }
    try write(right, row, to: &sql)
  }

  private mutating func write(
    _ operand: FilterOperand<Term>, prefix: String, _ row: Row, to sql: inout FilterSQL
  ) throws {
    // A range, so that an index serves; texts are compared by bytes.
    let end = TextRange.end(ofPrefix: prefix)
    if end != nil { sql.append("(") }
    try write(operand, row, to: &sql)
    sql.append(" >= ")
    sql.append(value: .text(prefix))
    guard let end else { return }
    sql.append(" AND ")
    try write(operand, row, to: &sql)
    sql.append(" < ")
    sql.append(value: .text(end))
    sql.append(")")
  }

  private mutating func write(
    _ operand: FilterOperand<Term>, in list: [FilterOperand<Term>], _ row: Row,
    to sql: inout FilterSQL
  ) throws {
    var values: [Value] = []
    var others: [FilterOperand<Term>] = []
    for element in list {
      if case .value(let value) = element, !value.isNull {
        values.append(value)
      } else {
        others.append(element)
      }
    }
    if !others.isEmpty { sql.append("(") }
    try write(operand, row, to: &sql)
    try sql.append(" IN \(values)" as SQL)
    for other in others {
      sql.append(" OR ")
      try write(operand, .equal, other, row, to: &sql)
    }
    if !others.isEmpty { sql.append(")") }
  }

  /// Makes one list of many values that one column may be equal to: SQLite's compiler takes time by the
  /// square of the number of comparisons, and seconds for 20,000.
  private mutating func grouped(
    _ conditions: [FilterCondition<Term>], _ row: Row
  ) throws -> [FilterCondition<Term>] {
    guard conditions.count > 16 else { return conditions }
    var indexes: [String: Int] = [:]
    var lists: [(index: Int, operand: FilterOperand<Term>, values: [FilterOperand<Term>])] = []
    var grouped: [FilterCondition<Term>] = []
    for condition in conditions {
      guard case .comparison(let operand, .equal, let value) = condition,
        case .column = operand, case .value(let stored) = value, !stored.isNull
      else {
        grouped.append(condition)
        continue
      }
      var column = FilterSQL()
      try write(operand, row, to: &column)
      if let known = indexes[column.sql.text] {
        lists[known].values.append(value)
      } else {
        indexes[column.sql.text] = lists.count
        lists.append((grouped.count, operand, [value]))
        grouped.append(condition)
      }
    }
    for list in lists where list.values.count > 1 {
      grouped[list.index] = .isIn(list.operand, list.values)
    }
    return grouped
  }

  /// Conditions joined two by two: of a thousand in a row, each would be one level deeper.
  private mutating func write(
    _ conditions: ArraySlice<FilterCondition<Term>>, joinedBy word: String, _ row: Row,
    to sql: inout FilterSQL
  ) throws {
    if conditions.count == 1, let only = conditions.first {
      return try write(only, row, to: &sql)
    }
    var half = 1
    while half * 2 < conditions.count { half *= 2 }
    sql.append("(")
    try write(conditions.prefix(half), joinedBy: word, row, to: &sql)
    sql.append(word)
    try write(conditions.dropFirst(half), joinedBy: word, row, to: &sql)
    sql.append(")")
  }
}

extension FilterComparison {
  /// The sign between two operands.
  fileprivate var sign: String {
    switch self {
    case .equal: " = "
    case .notEqual: " IS NOT "
    case .less: " < "
    case .lessOrEqual: " <= "
    case .greater: " > "
    case .greaterOrEqual: " >= "
    }
  }
}

extension FilterCondition {
  /// Whether the condition is 0, 1 or NULL, and no other number.
  fileprivate var isTruthValue: Bool {
    switch self {
    case .term, .nested, .sql: false
    default: true
    }
  }
}

/// The SQL of a filter as it is being written: it grows, with the values that are bound.
package struct FilterSQL {
  /// The SQL so far.
  package private(set) var sql = SQL(unchecked: "")

  package init() {}

  /// Appends SQL that no user's text was spliced into.
  package mutating func append(_ text: String) { sql.append(text: text) }

  /// Appends a parameter.
  package mutating func append(value: Value) { sql.append(value: value) }

  /// Appends a quoted name.
  ///
  /// - Throws: ``SQLiteError`` if it cannot be quoted.
  package mutating func append(identifier name: String) throws {
    sql.append(text: try SQL.escapeIdentifier(name))
  }

  /// Appends SQL with its values.
  ///
  /// - Throws: ``SQLiteError`` if one of them could not be bound.
  package mutating func append(_ sql: SQL) throws {
    if let failure = sql.failure { throw failure }
    self.sql.append(sql)
  }
}

/// Ranges of texts in the order of their bytes.
enum TextRange {
  /// The least text that is greater than all that begin with `prefix`, if there is one.
  static func end(ofPrefix prefix: String) -> String? {
    var scalars = Array(prefix.unicodeScalars)
    while let last = scalars.popLast() {
      // Between the last scalar below the surrogates and the first above them lies nothing.
      let next = last.value == 0xd7ff ? 0xe000 : last.value + 1
      guard let scalar = Unicode.Scalar(next) else { continue }
      scalars.append(scalar)
      var text = String.UnicodeScalarView()
      text.append(contentsOf: scalars)
      return String(text)
    }
    return nil
  }
}
