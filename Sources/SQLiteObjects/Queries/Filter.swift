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

  /// A condition in SQL, where the operators of filters do not suffice.
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
  package func sql(in store: any ObjectStore) throws -> SQL {
    try ConditionWriter.sql(condition, on: store.plan(Object.self), in: store)
  }
}

/// True if the property is in the range: `18...65 ~= \.$age`.
public func ~= <Object: MagicObject, Column: MagicColumn>(
  range: ClosedRange<Column.Element>, path: KeyPath<Object, Column>
) -> Filter<Object> where Column.Element: Comparable & MagicComparable {
  path.isIn(range)
}

/// True if the property is in the range: `18..<65 ~= \.$age`.
public func ~= <Object: MagicObject, Column: MagicColumn>(
  range: Range<Column.Element>, path: KeyPath<Object, Column>
) -> Filter<Object> where Column.Element: Comparable & MagicComparable {
  path.isIn(range)
}

extension KeyPath where Root: MagicObject, Value: MagicColumn {
  /// True if the property is one of the values: `(\Person.$name).isIn(["Ann", "Bob"])`.
  ///
  /// - Parameter values: Any number of values.
  public func isIn(_ values: some Sequence<Value.Element>) -> Filter<Root>
  where Value.Element: Equatable {
    Filter(.isIn(Operand(self), values.map { Operand($0) }))
  }
}

extension KeyPath
where Root: MagicObject, Value: MagicColumn, Value.Element: Comparable & MagicComparable {
  /// True if the property is in the range: `(\Person.$age).isIn(18...65)`.
  ///
  /// - Parameter range: The values.
  public func isIn(_ range: ClosedRange<Value.Element>) -> Filter<Root> {
    Filter(
      .and(
        .comparison(Operand(self), .greaterOrEqual, Operand(range.lowerBound)),
        .comparison(Operand(self), .lessOrEqual, Operand(range.upperBound))))
  }

  /// True if the property is in the range: `(\Person.$age).isIn(18..<65)`.
  ///
  /// - Parameter range: The values.
  public func isIn(_ range: Range<Value.Element>) -> Filter<Root> {
    Filter(
      .and(
        .comparison(Operand(self), .greaterOrEqual, Operand(range.lowerBound)),
        .comparison(Operand(self), .less, Operand(range.upperBound))))
  }
}

extension KeyPath where Root: MagicObject, Value: MagicColumn, Value.Element == String {
  /// True if the text begins with another, byte by byte: `(\Person.$name).hasPrefix("An")`.
  ///
  /// - Parameter prefix: The beginning.
  public func hasPrefix(_ prefix: String) -> Filter<Root> {
    Filter(.hasPrefix(Operand(self), prefix))
  }

  /// True if the text contains another, byte by byte: case matters.
  ///
  /// - Parameter part: What to look for.
  public func contains(_ part: String) -> Filter<Root> {
    Filter(.contains(Operand(self), part))
  }

  /// True if the text is like a pattern: SQLite's LIKE, for which case does not matter in ASCII.
  ///
  /// - Parameter pattern: Text in which `%` stands for any text and `_` for any character.
  public func like(_ pattern: String) -> Filter<Root> {
    Filter(.like(Operand(self), pattern))
  }
}

extension KeyPath where Root: MagicObject, Value: MagicColumn, Value.Element: MagicRelation {
  /// True if the relation leads to some object that the filter holds for.
  ///
  ///     (\Person.$friends).contains(where: \.$age > 30)
  ///
  /// - Parameter filter: A condition on the objects at the other end.
  public func contains(where filter: Filter<Value.Element.Target>) -> Filter<Root> {
    Filter(.term(.leads(to: filter.condition, through: relation), around: filter.condition))
  }

  /// True if the relation leads to the object.
  ///
  /// - Parameter object: An object that was saved, else the query throws.
  public func contains(_ object: Value.Element.Target) -> Filter<Root> {
    Filter(.term(.leadsToObject(Operand(object: object), through: relation)))
  }

  /// True if the relation leads to no object.
  public var isEmpty: Filter<Root> {
    Filter(.not(.term(.leads(to: nil, through: relation))))
  }

  /// The number of objects that the relation leads to, duplicates included.
  public var count: MagicExpression<Root, Int> { MagicExpression(relation) }

  private var relation: Operand { Operand(self) { .known(.count($0)) } }
}
