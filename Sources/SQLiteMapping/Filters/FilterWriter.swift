package import SQLiteCore

/// Turns filters into SQL text and values.
///
/// The tree is all that is written here; what its terms are called, the types above know.
package protocol FilterWriter<Term> {
  associatedtype Term: Sendable
  /// A row in scope.
  associatedtype Row
  /// How many conditions and operands are being written, one inside the other; 0 at first.
  var filterDepth: Int { get set }
  /// The SQL of a column of the row, or of another operand or condition.
  mutating func sql(_ term: Term, _ row: Row) throws -> SQL
}

/// SQLite's limit for the depth of an expression, of which each level here takes two at most.
private let greatestDepth = 400

extension FilterWriter {
  package mutating func sql(_ operand: FilterOperand<Term>, _ row: Row) throws -> SQL {
    try deeper { writer in
      switch operand {
      case .column(let term), .known(let term): return try writer.sql(term, row)
      case .value(let value): return "\(value)"
      case .arithmetic(let left, let arithmetic, let right):
        let sign = SQL(unchecked: arithmetic.rawValue)
        return "(\(try writer.sql(left, row)) \(sign) \(try writer.sql(right, row)))"
      }
    }
  }

  package mutating func sql(_ condition: FilterCondition<Term>, _ row: Row) throws -> SQL {
    try deeper { writer in
      switch condition {
      case .comparison(let left, let comparison, let right):
        return try writer.comparison(left, comparison, right, row)
      case .isIn(let operand, let list): return try writer.isIn(operand, list, row)
      case .hasPrefix(let operand, let prefix):
        let column = try writer.sql(operand, row)
        // A range, so that an index serves; texts are compared by bytes.
        guard let end = TextRange.end(ofPrefix: prefix) else { return "\(column) >= \(prefix)" }
        return "(\(column) >= \(prefix) AND \(column) < \(end))"
      case .contains(let operand, let part):
        let column = try writer.sql(operand, row)
        return part.isEmpty ? "\(column) IS NOT NULL" : "instr(\(column), \(part)) > 0"
      case .like(let operand, let pattern):
        return "\(try writer.sql(operand, row)) LIKE \(pattern)"
      case .term(let term): return try writer.sql(term, row)
      // The condition may end in a comment, which ends with the line.
      case .sql(let sql): return "(\(sql)\n)"
      // TRUE is no keyword: a column may be called so.
      case .not(let operand):
        let sql = try writer.sql(operand, row)
        return operand.isTruthValue ? "(\(sql)) IS NOT 1" : "NOT ifnull((\(sql)), 0)"
      case .and: return try writer.joined(condition.conjuncts, "AND", row)
      case .or: return try writer.joined(condition.disjuncts, "OR", row)
      }
    }
  }

  private mutating func comparison(
    _ left: FilterOperand<Term>, _ comparison: FilterComparison, _ right: FilterOperand<Term>,
    _ row: Row
  ) throws -> SQL {
    let column = try sql(left, row)
    switch (comparison, right) {
    case (.equal, .value(.null)): return "\(column) IS NULL"
    case (.notEqual, .value(.null)): return "\(column) IS NOT NULL"
    // Of two columns both may be nil, and then are equal.
    case (.equal, .column), (.equal, .arithmetic): return "\(column) IS \(try sql(right, row))"
    default: return "\(column) \(SQL(unchecked: comparison.rawValue)) \(try sql(right, row))"
    }
  }

  private mutating func isIn(
    _ operand: FilterOperand<Term>, _ list: [FilterOperand<Term>], _ row: Row
  ) throws -> SQL {
    var values: [Value] = []
    var others: [SQL] = []
    for element in list {
      if case .value(let value) = element, !value.isNull {
        values.append(value)
      } else {
        others.append(try comparison(operand, .equal, element, row))
      }
    }
    let isIn: SQL = "\(try sql(operand, row)) IN \(values)"
    return others.isEmpty ? isIn : "(\(SQL(joining: [isIn] + others, separator: " OR ")))"
  }

  /// Conditions joined two by two: of a thousand in a row, each would be one level deeper.
  private mutating func joined(
    _ conditions: [FilterCondition<Term>], _ word: String, _ row: Row
  ) throws -> SQL {
    var pieces: [SQL] = []
    for condition in conditions { pieces.append(try sql(condition, row)) }
    let separator = SQL(unchecked: " \(word) ")
    while pieces.count > 1 {
      pieces = stride(from: 0, to: pieces.count, by: 2).map { index in
        guard index + 1 < pieces.count else { return pieces[index] }
        return "(\(pieces[index])\(separator)\(pieces[index + 1]))"
      }
    }
    return pieces[0]
  }

  private mutating func deeper(_ write: (inout Self) throws -> SQL) throws -> SQL {
    guard filterDepth < greatestDepth else {
      throw SQLiteError(.tooBig, "a filter is nested more than \(greatestDepth) levels deep")
    }
    filterDepth += 1
    defer { filterDepth -= 1 }
    return try write(&self)
  }
}

extension FilterCondition {
  /// The conditions that all must hold, in order, however they are nested.
  fileprivate var conjuncts: [FilterCondition] {
    leaves { if case .and(let left, let right) = $0 { (left, right) } else { nil } }
  }

  /// The conditions one of which must hold, in order, however they are nested.
  fileprivate var disjuncts: [FilterCondition] {
    leaves { if case .or(let left, let right) = $0 { (left, right) } else { nil } }
  }

  private func leaves(
    _ split: (FilterCondition) -> (FilterCondition, FilterCondition)?
  ) -> [FilterCondition] {
    var leaves: [FilterCondition] = []
    var pending = [self]
    while let next = pending.popLast() {
      if let (left, right) = split(next) {
        pending.append(right)
        pending.append(left)
      } else {
        leaves.append(next)
      }
    }
    return leaves
  }
}

extension FilterCondition {
  /// Whether the condition is 0, 1 or NULL, and no other number.
  fileprivate var isTruthValue: Bool {
    switch self {
    case .term, .sql: false
    default: true
    }
  }
}
