public import Essentials
import SQLiteCore
import SQLiteMapping

// Of decimals the average and the values between others are decimals too, rounded to the digits that `Decimal` has.
extension Aggregate where Result == Decimal? {
  /// The average; nil of no objects.
  ///
  ///     let price = try magic.aggregate(.average(\Track.$price))
  ///
  /// - Parameter path: A property.
  public static func average<Column: MagicColumn<Decimal>>(
    _ path: KeyPath<Object, Column>
  ) -> Aggregate { Aggregate(.form(.decimalAverage, [QueryNode(path)]), Aggregate.optional) }

  /// The average; nil of no objects.
  ///
  /// - Parameter expression: The number that is calculated of each object.
  public static func average(_ expression: MagicExpression<Object, Decimal>) -> Aggregate {
    Aggregate(.form(.decimalAverage, [expression.node]), Aggregate.optional)
  }

  /// The value in the middle of the sorted ones, of an even number of values the average of the two; nil of
  /// no objects.
  ///
  /// - Parameter path: A property.
  public static func median<Column: MagicColumn<Decimal>>(
    _ path: KeyPath<Object, Column>
  ) -> Aggregate { percentile(path, 0.5) }

  /// The value that a part of the sorted values lies below, calculated between the two nearest ones; nil of no
  /// objects.
  ///
  /// - Parameters:
  ///   - path: A property.
  ///   - part: The part, from 0 for the smallest value to 1 for the greatest; else the query throws.
  /// - Complexity: O(*n* log *n*), in the memory of all values of a group.
  public static func percentile<Column: MagicColumn<Decimal>>(
    _ path: KeyPath<Object, Column>, _ part: Double
  ) -> Aggregate {
    Aggregate(
      .form(["magicdata_percentile(", ", ", ")"], [QueryNode(path), .value(.real(part))]),
      Aggregate.optional)
  }
}

extension Aggregate where Result == Duration {
  /// The sum, which is exact; zero of no objects. One that does not fit `Duration` throws.
  ///
  ///     let length = try magic.aggregate(.sum(\Track.$length))
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

extension QueryForm {
  fileprivate static let decimalAverage = QueryForm(["magicdata_decimal_average(", ")"])
}
