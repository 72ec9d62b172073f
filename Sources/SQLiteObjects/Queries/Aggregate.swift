import SQLiteCore

/// A value that is calculated of many objects.
///
///     try magic.aggregate(.average(\Player.$age), where: \.$isKeeper == true)
///     try magic.aggregate(.count, of: Player.self, by: \.$team.$title)
public struct Aggregate<Object: MagicObject, Result>: Sendable {
  let operand: Operand?
  let function: @Sendable (SQL) -> SQL
  let result: @Sendable (Value) throws -> Result

  private init(
    _ operand: Operand?, _ function: @escaping @Sendable (SQL) -> SQL,
    _ result: @escaping @Sendable (Value) throws -> Result
  ) {
    self.operand = operand
    self.function = function
    self.result = result
  }
}

extension Aggregate where Result == Int {
  /// The number of objects.
  public static var count: Aggregate {
    Aggregate(nil, { _ in "count(*)" }, Aggregate.integer)
  }

  /// The number of objects whose property is not nil.
  ///
  /// - Parameter path: A property that may be nil.
  public static func count(_ path: KeyPath<Object, some MagicColumn>) -> Aggregate {
    Aggregate(Operand(path), { "count(\($0))" }, Aggregate.integer)
  }

  /// The number of different values of the property, nil not counted.
  ///
  /// - Parameter path: A property.
  public static func distinctCount(_ path: KeyPath<Object, some MagicColumn>) -> Aggregate {
    Aggregate(Operand(path), { "count(DISTINCT \($0))" }, Aggregate.integer)
  }

  private static func integer(_ value: Value) throws -> Int {
    value.isNull ? 0 : try ValueCoding.value(Int.self, from: value)
  }
}

extension Aggregate where Result: Codable & Numeric & SendableMetatype {
  /// The sum; zero of no objects. A sum that does not fit 64 bits throws.
  ///
  /// - Parameter path: A property that is a number.
  public static func sum<Column: MagicColumn<Result>>(
    _ path: KeyPath<Object, Column>
  ) -> Aggregate where Result: MagicComparable {
    sum(Operand(path))
  }

  /// The sum; zero of no objects. A sum that does not fit 64 bits throws.
  ///
  /// - Parameter expression: The number that is calculated of each object.
  public static func sum(_ expression: MagicExpression<Object, Result>) -> Aggregate
  where Result: MagicComparable {
    sum(expression.operand)
  }

  private static func sum(_ operand: Operand) -> Aggregate {
    Aggregate(
      operand, { "sum(\($0))" },
      { $0.isNull ? .zero : try ValueCoding.value(Result.self, from: $0) })
  }
}

extension Aggregate where Result == Double? {
  /// The average; nil of no objects.
  ///
  /// - Parameter path: A property that is a number.
  public static func average<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>
  ) -> Aggregate where Column.Element: Numeric & MagicComparable {
    Aggregate(Operand(path), { "avg(\($0))" }, Aggregate.real)
  }

  private static func real(_ value: Value) throws -> Double? {
    value.isNull ? nil : try ValueCoding.value(Double.self, from: value)
  }
}

extension Aggregate {
  /// The smallest value; nil of no objects.
  ///
  /// - Parameter path: A property.
  public static func min<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>
  ) -> Aggregate where Column.Element: MagicComparable, Result == Column.Element? {
    Aggregate(Operand(path), { "min(\($0))" }, Aggregate.optional)
  }

  /// The greatest value; nil of no objects.
  ///
  /// - Parameter path: A property.
  public static func max<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>
  ) -> Aggregate where Column.Element: MagicComparable, Result == Column.Element? {
    Aggregate(Operand(path), { "max(\($0))" }, Aggregate.optional)
  }

  private static func optional<Wrapped: Codable>(_ value: Value) throws -> Wrapped?
  where Result == Wrapped? {
    value.isNull ? nil : try ValueCoding.value(Wrapped.self, from: value)
  }
}
