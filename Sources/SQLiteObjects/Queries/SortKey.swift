import SQLiteCore
import SQLiteMapping

/// A property or a number that objects are sorted by.
public struct SortKey<Object: MagicObject>: Sendable {
  private let operand: Operand
  private let isDescending: Bool

  private init(_ operand: Operand, isDescending: Bool) {
    self.operand = operand
    self.isDescending = isDescending
  }

  /// Smaller values first, nil before all.
  ///
  /// - Parameter path: A property, such as `\.$name` or `\.$owner.$name`.
  public static func ascending<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>
  ) -> SortKey where Column.Element: MagicComparable {
    SortKey(Operand(path), isDescending: false)
  }

  /// Greater values first, nil after all.
  ///
  /// - Parameter path: A property, such as `\.$name` or `\.$owner.$name`.
  public static func descending<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>
  ) -> SortKey where Column.Element: MagicComparable {
    SortKey(Operand(path), isDescending: true)
  }

  /// Smaller numbers first, nil before all.
  ///
  /// - Parameter expression: The number that is calculated of each object.
  public static func ascending(_ expression: MagicExpression<Object, some Codable>) -> SortKey {
    SortKey(expression.operand, isDescending: false)
  }

  /// Greater numbers first, nil after all.
  ///
  /// - Parameter expression: The number that is calculated of each object.
  public static func descending(_ expression: MagicExpression<Object, some Codable>) -> SortKey {
    SortKey(expression.operand, isDescending: true)
  }

  func sql(in store: any ObjectStore) throws -> SQL {
    let sql = try ConditionWriter.sql(operand, on: store.plan(Object.self), in: store)
    return isDescending ? "\(sql) DESC" : sql
  }
}
