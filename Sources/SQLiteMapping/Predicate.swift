package import SQLiteCore

/// A condition on the columns of a row, as a tree that becomes SQL with bound values.
///
/// Conditions mean what they mean in Swift: NULL is a value like others to `==` and `!=`, and what
/// is not true is false, so that its negation is true.
package indirect enum Predicate: Hashable, Sendable {
  /// How two values are compared.
  package enum Comparison: String, Hashable, Sendable {
    case equal = "="
    case notEqual = "IS NOT"
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
  }

  case always(Bool)
  case comparison(String, Comparison, Value)
  case columns(String, Comparison, String)
  case isIn(String, [Value])
  case between(String, Value, Value)
  /// Text that begins with another, by bytes.
  case hasPrefix(String, String)
  /// Text that contains another, by bytes.
  case contains(String, String)
  /// SQLite's LIKE, with its wildcards and its rule for the case of letters.
  case like(String, String)
  /// SQL of the user's.
  case sql(SQLFragment)
  case not(Predicate)
  case and(Predicate, Predicate)
  case or(Predicate, Predicate)

  /// SQL with its values, comparable.
  package struct SQLFragment: Hashable, Sendable {
    package let text: String
    package let arguments: [SQLArgument]

    package init(text: String, arguments: [SQLArgument]) {
      self.text = text
      self.arguments = arguments
    }
  }
}

extension Predicate {
  /// The condition as SQL.
  ///
  /// - Parameter table: The name or alias to qualify columns by, if any.
  package func sql(qualifiedBy table: String? = nil) -> SQL {
    func name(_ column: String) -> SQL {
      if let table { "\(identifier: table).\(identifier: column)" } else { "\(identifier: column)" }
    }
    switch self {
    case .always(let isTrue): return isTrue ? "1" : "0"
    case .comparison(let column, .equal, .null): return "\(name(column)) IS NULL"
    case .comparison(let column, .notEqual, .null): return "\(name(column)) IS NOT NULL"
    case .comparison(let column, let comparison, let value):
      return "\(name(column)) \(SQL(unchecked: comparison.rawValue)) \(value)"
    case .columns(let left, .equal, let right): return "\(name(left)) IS \(name(right))"
    case .columns(let left, let comparison, let right):
      return "\(name(left)) \(SQL(unchecked: comparison.rawValue)) \(name(right))"
    case .isIn(let column, let values):
      let list: SQL = "\(name(column)) IN \(values.filter { !$0.isNull })"
      return values.contains(.null) ? "(\(list) OR \(name(column)) IS NULL)" : list
    case .between(let column, let low, let high):
      return "\(name(column)) BETWEEN \(low) AND \(high)"
    case .hasPrefix(let column, let prefix):
      // A range, so that an index serves; texts are compared by bytes.
      guard let end = Predicate.end(ofPrefix: prefix) else { return "\(name(column)) >= \(prefix)" }
      return "\(name(column)) >= \(prefix) AND \(name(column)) < \(end)"
    case .contains(let column, let part):
      return part.isEmpty ? "\(name(column)) IS NOT NULL" : "instr(\(name(column)), \(part)) > 0"
    case .like(let column, let pattern): return "\(name(column)) LIKE \(pattern)"
    case .sql(let fragment): return "(\(SQL(fragment.text, arguments: fragment.arguments)))"
    case .not(let operand): return "(\(operand.sql(qualifiedBy: table))) IS NOT TRUE"
    case .and(let left, let right):
      return "(\(left.sql(qualifiedBy: table)) AND \(right.sql(qualifiedBy: table)))"
    case .or(let left, let right):
      return "(\(left.sql(qualifiedBy: table)) OR \(right.sql(qualifiedBy: table)))"
    }
  }

  /// The least text that is greater than all that begin with `prefix`, if there is one.
  private static func end(ofPrefix prefix: String) -> String? {
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
