import SQLiteCore
import SQLiteMapping

/// A condition on objects, which the database evaluates.
///
///     \.$age > 30 && \.$name != "x"
///
/// `\.$age` is the key path of a property's wrapper. Conditions mean what they mean in Swift: `!=`
/// and `!` keep objects whose property is nil. Texts are compared by their bytes.
public struct Filter<Object: MagicObject>: Sendable {
  package let predicate: Predicate

  package init(_ predicate: Predicate) {
    self.predicate = predicate
  }

  /// A condition in SQL, for what Swift has no words for here.
  ///
  /// - Parameter sql: A condition on the columns, which are named like the properties.
  public init(sql: SQL) {
    predicate = .sql(.init(text: sql.text, arguments: sql.arguments))
  }

  /// True if both are.
  public static func && (left: Filter, right: Filter) -> Filter {
    Filter(.and(left.predicate, right.predicate))
  }

  /// True if one of them is.
  public static func || (left: Filter, right: Filter) -> Filter {
    Filter(.or(left.predicate, right.predicate))
  }

  /// True if the other is not.
  public static prefix func ! (operand: Filter) -> Filter {
    Filter(.not(operand.predicate))
  }

  static func column<Property: MagicProperty>(_ path: KeyPath<Object, Property>) -> String {
    // The prototype tells which of its properties has the cell that the path leads to.
    let prototype = Object()
    let cell = prototype[keyPath: path].cell
    let entries = (try? PropertyCollector.entries(of: prototype)) ?? []
    return entries.first { $0.cell === cell }?.name ?? ""
  }

  static func comparison<Property: MagicProperty>(
    _ path: KeyPath<Object, Property>, _ comparison: Predicate.Comparison, _ value: some Encodable
  ) -> Filter {
    let column = column(path)
    guard let stored = try? ValueCoding.stored(value) else {
      // What cannot be stored is equal to nothing that is.
      return Filter(.always(comparison == .notEqual))
    }
    return Filter(.comparison(column, comparison, stored))
  }
}

/// What objects are sorted by.
public struct SortKey<Object: MagicObject>: Sendable {
  package let sql: SQL

  /// Smaller values first, nil before all.
  ///
  /// - Parameter path: A property, such as `\.$name`.
  public static func ascending<Property: MagicProperty>(
    _ path: KeyPath<Object, Property>
  ) -> SortKey where Property.Value: Comparable {
    SortKey(sql: "\(identifier: Filter.column(path))")
  }

  /// Greater values first, nil after all.
  ///
  /// - Parameter path: A property, such as `\.$name`.
  public static func descending<Property: MagicProperty>(
    _ path: KeyPath<Object, Property>
  ) -> SortKey where Property.Value: Comparable {
    SortKey(sql: "\(identifier: Filter.column(path)) DESC")
  }
}
