public import SQLiteCore

/// A condition on objects, which the database evaluates.
///
///     \.$age > 30 && (\.$name != "x" || (\Person.$school).hasPrefix("ETH"))
///
/// `\.$age` is the key path of a property's wrapper, `\.$owner.$name` leads through a relation.
/// Conditions mean what they mean in Swift: `!=` and `!` keep objects whose property is nil. Texts
/// are compared by their bytes.
public struct Filter<Object: MagicObject>: Sendable {
  let condition: Condition

  init(_ condition: Condition) {
    self.condition = condition
  }

  /// A condition in SQL, for what Swift has no words for here.
  ///
  /// - Parameter sql: A condition on the columns, which are named like the properties.
  public init(sql: SQL) {
    condition = .sql(sql)
  }

  /// True if both are.
  public static func && (left: Filter, right: Filter) -> Filter {
    Filter(.and(left.condition, right.condition))
  }

  /// True if one of them is.
  public static func || (left: Filter, right: Filter) -> Filter {
    Filter(.or(left.condition, right.condition))
  }

  /// True if the other is not.
  public static prefix func ! (operand: Filter) -> Filter {
    Filter(.not(operand.condition))
  }

  /// The condition as a store evaluates it.
  package func sql(in store: MagicData) throws -> SQL {
    try ConditionWriter.sql(condition, on: store.plan(Object.self), in: store)
  }
}
