import SQLiteCore
import SQLiteMapping

/// A value that is calculated of many objects.
///
///     try magic.fetch(Player.where(\.$isKeeper == true).aggregate(.average(\.$age)))
///     try magic.fetch(Player.all.aggregate(.count, .sum(\.$goals), by: \.$team.$title))
public struct Aggregate<Object: MagicObject, Result>: Sendable {
  let node: QueryNode
  /// Makes the result of the stored value, which may be NULL.
  let result: @Sendable (Value) throws -> Result
  /// Makes the result without a table, so that there is no stored value.
  let resultOfNone: @Sendable () throws -> Result

  /// An aggregate in SQL.
  ///
  /// - Parameters:
  ///   - node: The aggregate function with its operand.
  ///   - resultOfNone: Makes the result without a table; nil if it is that of NULL.
  ///   - result: Makes the result of the stored value, which may be NULL.
  init(
    _ node: QueryNode, resultOfNone: (@Sendable () throws -> Result)? = nil,
    _ result: @escaping @Sendable (Value) throws -> Result
  ) {
    self.node = node
    self.result = result
    self.resultOfNone = resultOfNone ?? { try result(.null) }
  }

  /// The value in the order of its type.
  var orderedNode: QueryNode { node.ordered(as: Result.self) }
}

extension Aggregate where Result == Int {
  /// The number of objects.
  public static var count: Aggregate { Aggregate(.form(.count, []), Aggregate.integer) }

  /// The number of objects that a filter holds for, beside other values of the same objects.
  ///
  ///     try magic.fetch(Order.all.aggregate(.count, .count(where: \Order.$isPaid == true), by: \.$country))
  ///
  /// - Parameter filter: The condition.
  public static func count(where filter: Filter<Object>) -> Aggregate {
    Aggregate(.form(["count(CASE WHEN ", " THEN 1 END)"], [filter.node]), Aggregate.integer)
  }

  /// The number of objects whose property is not nil.
  ///
  /// - Parameter path: A property that may be nil.
  public static func count(_ path: KeyPath<Object, some MagicColumn>) -> Aggregate {
    Aggregate(.form(["count(", ")"], [QueryNode(path)]), Aggregate.integer)
  }

  /// The number of objects that the expression is not nil for.
  ///
  /// - Parameter expression: The value that is calculated of each object.
  public static func count(_ expression: MagicExpression<Object, some Codable>) -> Aggregate {
    Aggregate(.form(["count(", ")"], [expression.node]), Aggregate.integer)
  }

  /// The number of different values of the property, nil not counted.
  ///
  /// - Parameter path: A property.
  public static func distinctCount(_ path: KeyPath<Object, some MagicColumn>) -> Aggregate {
    Aggregate(.form(["count(DISTINCT ", ")"], [QueryNode(path)]), Aggregate.integer)
  }

  /// The number of different values of the expression, nil not counted.
  ///
  /// - Parameter expression: The value that is calculated of each object.
  public static func distinctCount(
    _ expression: MagicExpression<Object, some Codable>
  ) -> Aggregate {
    Aggregate(.form(["count(DISTINCT ", ")"], [expression.node]), Aggregate.integer)
  }

  private static func integer(_ value: Value) throws -> Int {
    value.isNull ? 0 : try Storage.value(Int.self, of: value)
  }
}

extension Aggregate where Result: Codable & Numeric & SendableMetatype {
  /// The sum; zero of no objects. A sum of integers that does not fit 64 bits throws; one of infinities of both signs
  /// is NaN.
  ///
  /// - Parameter path: A property that is a number.
  public static func sum<Column: MagicColumn<Result>>(
    _ path: KeyPath<Object, Column>
  ) -> Aggregate where Result: MagicComparable {
    sum(QueryNode(path))
  }

  /// The sum; zero of no objects. A sum of integers that does not fit 64 bits throws; one of infinities of both signs
  /// is NaN.
  ///
  /// - Parameter expression: The number that is calculated of each object.
  public static func sum(_ expression: MagicExpression<Object, Result>) -> Aggregate
  where Result: MagicComparable {
    sum(expression.node)
  }

  private static func sum(_ operand: QueryNode) -> Aggregate {
    Aggregate(.form(.sum(of: Result.self), [operand]), resultOfNone: { .zero }) {
      $0.isNull ? notANumber : try Storage.value(Result.self, of: $0)
    }
  }

  /// A sum that SQLite has no value for.
  private static var notANumber: Result {
    guard let type = Result.self as? any FloatingPoint.Type else { return .zero }
    return type.nan as? Result ?? .zero
  }
}

// Averages and values between others are as `MagicNumber.Average` says: of decimals decimals, else `Double`.
extension Aggregate {
  /// The average; nil of no objects.
  ///
  /// - Parameter path: A property that is a number.
  public static func average<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>
  ) -> Aggregate where Column.Element: MagicNumber, Result == Column.Element.Average? {
    Aggregate(.form(.average(of: Column.Element.self), [QueryNode(path)]), Aggregate.optional)
  }

  /// The average; nil of no objects.
  ///
  /// - Parameter expression: The number that is calculated of each object.
  public static func average<Number: MagicNumber>(
    _ expression: MagicExpression<Object, Number>
  ) -> Aggregate where Result == Number.Average? {
    Aggregate(.form(.average(of: Number.self), [expression.node]), Aggregate.optional)
  }

  /// The value in the middle of the sorted ones, of an even number of values the average of the two; nil of
  /// no objects.
  ///
  /// - Parameter path: A property that is a number.
  public static func median<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>
  ) -> Aggregate where Column.Element: MagicNumber, Result == Column.Element.Average? {
    percentile(QueryNode(path), 0.5)
  }

  /// The value in the middle of the sorted ones, of an even number of values the average of the two; nil of
  /// no objects.
  ///
  ///     try magic.fetch(Invoice.all.aggregate(.median(\Invoice.$paid - \Invoice.$date)))
  ///
  /// - Parameter expression: The number that is calculated of each object.
  public static func median<Number: MagicNumber>(
    _ expression: MagicExpression<Object, Number>
  ) -> Aggregate where Result == Number.Average? {
    percentile(expression.node, 0.5)
  }

  /// The value that a part of the sorted values lies below, calculated between the two nearest ones; nil of no
  /// objects.
  ///
  /// - Parameters:
  ///   - path: A property that is a number.
  ///   - part: The part, from 0 for the smallest value to 1 for the greatest; else the query throws.
  /// - Complexity: O(*n* log *n*), in the memory of all values of a group.
  public static func percentile<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>, _ part: Double
  ) -> Aggregate where Column.Element: MagicNumber, Result == Column.Element.Average? {
    percentile(QueryNode(path), part)
  }

  /// The value that a part of the sorted values lies below, calculated between the two nearest ones; nil of no
  /// objects.
  ///
  /// - Parameters:
  ///   - expression: The number that is calculated of each object.
  ///   - part: The part, from 0 for the smallest value to 1 for the greatest; else the query throws.
  /// - Complexity: O(*n* log *n*), in the memory of all values of a group.
  public static func percentile<Number: MagicNumber>(
    _ expression: MagicExpression<Object, Number>, _ part: Double
  ) -> Aggregate where Result == Number.Average? {
    percentile(expression.node, part)
  }

  private static func percentile<Average: Codable & SendableMetatype>(
    _ operand: QueryNode, _ part: Double
  ) -> Aggregate where Result == Average? {
    Aggregate(
      .form(["magicdata_percentile(", ", ", ")"], [operand, .value(.real(part))]),
      Aggregate.optional)
  }
}

extension Aggregate {
  /// The smallest value; nil of no objects.
  ///
  /// - Parameter path: A property.
  public static func min<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>
  ) -> Aggregate where Column.Element: MagicComparable, Result == Column.Element? {
    Aggregate(.form(.min(of: Column.Element.self), [QueryNode(path)]), Aggregate.optional)
  }

  /// The smallest value; nil of no objects.
  ///
  /// - Parameter expression: The value that is calculated of each object.
  public static func min<Element: Codable & MagicComparable & SendableMetatype>(
    _ expression: MagicExpression<Object, Element>
  ) -> Aggregate where Result == Element? {
    Aggregate(.form(.min(of: Element.self), [expression.node]), Aggregate.optional)
  }

  /// The greatest value; nil of no objects.
  ///
  /// - Parameter path: A property.
  public static func max<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>
  ) -> Aggregate where Column.Element: MagicComparable, Result == Column.Element? {
    Aggregate(.form(.max(of: Column.Element.self), [QueryNode(path)]), Aggregate.optional)
  }

  /// The greatest value; nil of no objects.
  ///
  /// - Parameter expression: The value that is calculated of each object.
  public static func max<Element: Codable & MagicComparable & SendableMetatype>(
    _ expression: MagicExpression<Object, Element>
  ) -> Aggregate where Result == Element? {
    Aggregate(.form(.max(of: Element.self), [expression.node]), Aggregate.optional)
  }

  static func optional<Wrapped: Codable>(_ value: Value) throws -> Wrapped?
  where Result == Wrapped? {
    value.isNull ? nil : try Storage.value(Wrapped.self, of: value)
  }
}

extension Aggregate where Result == Duration {
  /// The sum, which is exact; zero of no objects. One that does not fit `Duration` throws.
  ///
  ///     let length = try magic.fetch(Track.all.aggregate(.sum(\.$length)))
  ///
  /// - Parameter path: A property.
  public static func sum<Column: MagicColumn<Duration>>(
    _ path: KeyPath<Object, Column>
  ) -> Aggregate {
    Aggregate(.form(.sum(of: Duration.self), [QueryNode(path)])) {
      $0.isNull ? .zero : try Storage.value(Duration.self, of: $0)
    }
  }
}
