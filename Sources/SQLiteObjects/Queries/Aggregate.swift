import SQLiteCore
import SQLiteMapping

/// A value that the database calculates from many objects, such as their number or a sum.
///
///     try magic.fetch(Player.where(\.$isKeeper == true).aggregate(.average(\.$age)))
///     try magic.fetch(Player.all.aggregate(.count, .sum(\.$goals), by: \.$team.$title))
public struct Aggregate<Object: MagicObject, Result>: Sendable {
  let node: QueryNode
  /// A closure that converts the stored value, which may be NULL, to the result.
  let result: @Sendable (Value) throws -> Result
  /// A closure that returns the result if no value is stored, because the table doesn't exist yet.
  let resultForNoRows: @Sendable () throws -> Result

  /// Creates an aggregate from SQL.
  ///
  /// - Parameters:
  ///   - node: The aggregate function with its operand.
  ///   - resultForNoRows: Returns the result if the table doesn't exist yet. By default, that is the
  ///     result for NULL.
  ///   - result: Converts the stored value, which may be NULL, to the result.
  init(
    _ node: QueryNode, resultForNoRows: (@Sendable () throws -> Result)? = nil,
    _ result: @escaping @Sendable (Value) throws -> Result
  ) {
    self.node = node
    self.result = result
    self.resultForNoRows = resultForNoRows ?? { try result(.null) }
  }

  /// The node of the aggregate, with the collation that orders values of type `Result`.
  var orderedNode: QueryNode { node.ordered(as: Result.self) }
}

extension Aggregate where Result == Int {
  /// An aggregate for the number of objects.
  public static var count: Aggregate { Aggregate(.form(.count, []), Aggregate.integer) }

  /// Returns an aggregate for the number of objects that match a filter. Use it together with
  /// aggregates of all objects of the query.
  ///
  ///     try magic.fetch(Order.all.aggregate(.count, .count(where: \Order.$isPaid == true), by: \.$country))
  ///
  /// - Parameter filter: The condition that the counted objects match.
  public static func count(where filter: Filter<Object>) -> Aggregate {
    Aggregate(.form(["count(CASE WHEN ", " THEN 1 END)"], [filter.node]), Aggregate.integer)
  }

  /// Returns an aggregate for the number of objects whose property isn't nil.
  ///
  /// - Parameter path: A property that may be nil.
  public static func count(_ path: KeyPath<Object, some MagicColumn>) -> Aggregate {
    Aggregate(.form(["count(", ")"], [QueryNode(path)]), Aggregate.integer)
  }

  /// Returns an aggregate for the number of objects for which an expression isn't nil.
  ///
  /// - Parameter expression: The value that is calculated for each object.
  public static func count(_ expression: MagicExpression<Object, some Codable>) -> Aggregate {
    Aggregate(.form(["count(", ")"], [expression.node]), Aggregate.integer)
  }

  /// Returns an aggregate for the number of distinct values of a property. Nil isn't counted.
  ///
  /// - Parameter path: The property.
  public static func distinctCount(_ path: KeyPath<Object, some MagicColumn>) -> Aggregate {
    Aggregate(.form(["count(DISTINCT ", ")"], [QueryNode(path)]), Aggregate.integer)
  }

  /// Returns an aggregate for the number of distinct values of an expression. Nil isn't counted.
  ///
  /// - Parameter expression: The value that is calculated for each object.
  public static func distinctCount(
    _ expression: MagicExpression<Object, some Codable>
  ) -> Aggregate {
    Aggregate(.form(["count(DISTINCT ", ")"], [expression.node]), Aggregate.integer)
  }

  private static func integer(_ value: Value) throws -> Int {
    value.isNull ? 0 : try ColumnStorage.value(Int.self, of: value)
  }
}

extension Aggregate where Result: Codable & Numeric & SendableMetatype {
  /// Returns an aggregate for the sum of a property. It is zero if there are no values.
  ///
  /// Fetching throws `SQLiteError` if a sum of integers doesn't fit in 64 bits or in `Result`, or
  /// if `Decimal` can't hold a sum of decimals exactly. The sum of positive and negative infinity
  /// is NaN.
  ///
  /// - Parameter path: A numeric property.
  public static func sum<Column: MagicColumn<Result>>(
    _ path: KeyPath<Object, Column>
  ) -> Aggregate where Result: MagicComparable {
    sum(QueryNode(path))
  }

  /// Returns an aggregate for the sum of an expression. It is zero if there are no values.
  ///
  /// Fetching throws `SQLiteError` if a sum of integers doesn't fit in 64 bits or in `Result`, or
  /// if `Decimal` can't hold a sum of decimals exactly. The sum of positive and negative infinity
  /// is NaN.
  ///
  /// - Parameter expression: The number that is calculated for each object.
  public static func sum(_ expression: MagicExpression<Object, Result>) -> Aggregate
  where Result: MagicComparable {
    sum(expression.node)
  }

  private static func sum(_ operand: QueryNode) -> Aggregate {
    Aggregate(.form(.sum(of: Result.self), [operand]), resultForNoRows: { .zero }) {
      $0.isNull ? notANumber : try ColumnStorage.value(Result.self, of: $0)
    }
  }

  /// NaN, the result of a sum for which SQLite returns NULL; zero for types without NaN.
  private static var notANumber: Result {
    guard let type = Result.self as? any FloatingPoint.Type else { return .zero }
    return type.nan as? Result ?? .zero
  }
}

// Averages and percentiles have the type `MagicNumber.Average`: `Decimal` for decimals, otherwise
// `Double`.
extension Aggregate {
  /// Returns an aggregate for the average of a property. It is nil if there are no values.
  ///
  /// - Parameter path: A numeric property.
  public static func average<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>
  ) -> Aggregate where Column.Element: MagicNumber, Result == Column.Element.Average? {
    Aggregate(.form(.average(of: Column.Element.self), [QueryNode(path)]), Aggregate.optional)
  }

  /// Returns an aggregate for the average of an expression. It is nil if there are no values.
  ///
  /// - Parameter expression: The number that is calculated for each object.
  public static func average<Number: MagicNumber>(
    _ expression: MagicExpression<Object, Number>
  ) -> Aggregate where Result == Number.Average? {
    Aggregate(.form(.average(of: Number.self), [expression.node]), Aggregate.optional)
  }

  /// Returns an aggregate for the median of a property. For an even number of values, it is the
  /// average of the two middle values. It is nil if there are no values.
  ///
  /// - Complexity: O(*n* log *n*) time. All values of a group are held in memory.
  ///
  /// - Parameter path: A numeric property.
  public static func median<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>
  ) -> Aggregate where Column.Element: MagicNumber, Result == Column.Element.Average? {
    percentile(QueryNode(path), 0.5)
  }

  /// Returns an aggregate for the median of an expression. For an even number of values, it is the
  /// average of the two middle values. It is nil if there are no values.
  ///
  ///     try magic.fetch(Invoice.all.aggregate(.median(\Invoice.$paid - \Invoice.$date)))
  ///
  /// - Complexity: O(*n* log *n*) time. All values of a group are held in memory.
  ///
  /// - Parameter expression: The number that is calculated for each object.
  public static func median<Number: MagicNumber>(
    _ expression: MagicExpression<Object, Number>
  ) -> Aggregate where Result == Number.Average? {
    percentile(expression.node, 0.5)
  }

  /// Returns an aggregate for a percentile of a property: the value below which a fraction of the
  /// sorted values lies. It is interpolated between the two nearest values, and nil if there are no
  /// values.
  ///
  /// - Parameters:
  ///   - path: A numeric property.
  ///   - part: The fraction, from 0 for the smallest value to 1 for the greatest. Fetching throws
  ///     `SQLiteError` for other fractions.
  /// - Complexity: O(*n* log *n*) time. All values of a group are held in memory.
  public static func percentile<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>, _ part: Double
  ) -> Aggregate where Column.Element: MagicNumber, Result == Column.Element.Average? {
    percentile(QueryNode(path), part)
  }

  /// Returns an aggregate for a percentile of an expression: the value below which a fraction of
  /// the sorted values lies. It is interpolated between the two nearest values, and nil if there
  /// are no values.
  ///
  /// - Parameters:
  ///   - expression: The number that is calculated for each object.
  ///   - part: The fraction, from 0 for the smallest value to 1 for the greatest. Fetching throws
  ///     `SQLiteError` for other fractions.
  /// - Complexity: O(*n* log *n*) time. All values of a group are held in memory.
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
  /// Returns an aggregate for the smallest value of a property. It is nil if there are no values.
  ///
  /// - Parameter path: The property.
  public static func min<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>
  ) -> Aggregate where Column.Element: MagicComparable, Result == Column.Element? {
    Aggregate(.form(.min(of: Column.Element.self), [QueryNode(path)]), Aggregate.optional)
  }

  /// Returns an aggregate for the smallest value of an expression. It is nil if there are no
  /// values.
  ///
  /// - Parameter expression: The value that is calculated for each object.
  public static func min<Element: Codable & MagicComparable & SendableMetatype>(
    _ expression: MagicExpression<Object, Element>
  ) -> Aggregate where Result == Element? {
    Aggregate(.form(.min(of: Element.self), [expression.node]), Aggregate.optional)
  }

  /// Returns an aggregate for the greatest value of a property. It is nil if there are no values.
  ///
  /// - Parameter path: The property.
  public static func max<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>
  ) -> Aggregate where Column.Element: MagicComparable, Result == Column.Element? {
    Aggregate(.form(.max(of: Column.Element.self), [QueryNode(path)]), Aggregate.optional)
  }

  /// Returns an aggregate for the greatest value of an expression. It is nil if there are no
  /// values.
  ///
  /// - Parameter expression: The value that is calculated for each object.
  public static func max<Element: Codable & MagicComparable & SendableMetatype>(
    _ expression: MagicExpression<Object, Element>
  ) -> Aggregate where Result == Element? {
    Aggregate(.form(.max(of: Element.self), [expression.node]), Aggregate.optional)
  }

  static func optional<Wrapped: Codable>(_ value: Value) throws -> Wrapped?
  where Result == Wrapped? {
    value.isNull ? nil : try ColumnStorage.value(Wrapped.self, of: value)
  }
}

extension Aggregate where Result == Duration {
  /// Returns an aggregate for the exact sum of a property. It is zero if there are no values.
  ///
  ///     let length = try magic.fetch(Track.all.aggregate(.sum(\.$length)))
  ///
  /// Fetching throws `SQLiteError` if the sum doesn't fit in a `Duration`.
  ///
  /// - Parameter path: A property of type `Duration`.
  public static func sum<Column: MagicColumn<Duration>>(
    _ path: KeyPath<Object, Column>
  ) -> Aggregate {
    Aggregate(.form(.sum(of: Duration.self), [QueryNode(path)])) {
      $0.isNull ? .zero : try ColumnStorage.value(Duration.self, of: $0)
    }
  }
}
