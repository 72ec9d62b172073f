public import Essentials
import SQLiteCore
import SQLiteMapping

// Dates of objects are text in UTC, `YYYY-MM-DD HH:MM:SS[.fraction]`, whose parts stand at fixed places. SQLite's own
// functions would round to milliseconds first, and with it the last moment of a year into the next one.
extension MagicCalculation where Element == Date {
  /// The year in UTC, from 0 to 9999: that before 0001 is 0000, as in ISO 8601.
  ///
  ///     magic.objects(of: Invoice.self, where: (\Invoice.$date).year == 2009)
  ///
  /// Days are of the Gregorian calendar at all times, also before it was made, in 1582.
  public var year: MagicExpression<Object, Int> { part(1, 4) }

  /// The month in UTC, from 1 to 12.
  ///
  ///     magic.objects(of: Invoice.self, where: (\Invoice.$date).month == 12)
  public var month: MagicExpression<Object, Int> { part(6, 2) }

  /// The day of the month in UTC, from 1 to 31.
  ///
  ///     magic.objects(of: Invoice.self, where: (\Invoice.$date).day == 1)
  public var day: MagicExpression<Object, Int> { part(9, 2) }

  /// The day of the week in UTC, from 1 for Sunday to 7 for Saturday, as `Calendar` counts it.
  ///
  ///     magic.objects(of: Invoice.self, where: (\Invoice.$date).weekday == 1)
  public var weekday: MagicExpression<Object, Int> {
    MagicExpression(["(strftime('%w', substr(", ", 1, 10)) + 1)"], node)
  }

  /// The hour in UTC, from 0 to 23.
  ///
  ///     magic.objects(of: Invoice.self, where: (\Invoice.$date).hour < 8)
  public var hour: MagicExpression<Object, Int> { part(12, 2) }

  /// The minute in UTC, from 0 to 59.
  ///
  ///     magic.objects(of: Invoice.self, where: (\Invoice.$date).minute == 0)
  public var minute: MagicExpression<Object, Int> { part(15, 2) }

  /// The whole second in UTC, from 0 to 59.
  ///
  ///     magic.objects(of: Invoice.self, where: (\Invoice.$date).second == 0)
  public var second: MagicExpression<Object, Int> { part(18, 2) }

  private func part(_ start: Int64, _ count: Int64) -> MagicExpression<Object, Int> {
    MagicExpression(
      .form(
        ["CAST(substr(", ", ", ", ", ") AS INTEGER)"],
        [node, .value(.integer(start)), .value(.integer(count))]))
  }
}

/// Seconds as `Date` counts them, which are exact.
private func seconds(_ date: QueryNode) -> QueryNode {
  .form(["magicdata_date_seconds(", ")"], [date])
}

private func date<Object: MagicObject>(
  _ date: QueryNode, _ arithmetic: QueryArithmetic, _ other: QueryNode
) -> MagicExpression<Object, Date> {
  MagicExpression(
    .form(["magicdata_date(", ")"], [.arithmetic(seconds(date), arithmetic, other)]))
}

/// The date so many seconds later. The query throws if it is not in the years 0000 to 9999.
///
///     magic.objects(of: Loan.self, where: \.$due + 86_400 < .now)
public func + <Object: MagicObject, Column: MagicColumn<Date>>(
  left: KeyPath<Object, Column>, right: TimeInterval
) -> MagicExpression<Object, Date> { date(QueryNode(left), .sum, QueryNode(right)) }

/// The date so many seconds later. The query throws if it is not in the years 0000 to 9999.
public func + <Object: MagicObject>(
  left: some MagicCalculation<Object, Date>, right: TimeInterval
) -> MagicExpression<Object, Date> { date(left.node, .sum, QueryNode(right)) }

/// The date so many seconds later. The query throws if it is not in the years 0000 to 9999.
public func + <Object: MagicObject>(
  left: some MagicCalculation<Object, Date>, right: some MagicCalculation<Object, TimeInterval>
) -> MagicExpression<Object, Date> { date(left.node, .sum, right.node) }

/// The date so many seconds earlier. The query throws if it is not in the years 0000 to 9999.
public func - <Object: MagicObject, Column: MagicColumn<Date>>(
  left: KeyPath<Object, Column>, right: TimeInterval
) -> MagicExpression<Object, Date> { date(QueryNode(left), .difference, QueryNode(right)) }

/// The date so many seconds earlier. The query throws if it is not in the years 0000 to 9999.
public func - <Object: MagicObject>(
  left: some MagicCalculation<Object, Date>, right: TimeInterval
) -> MagicExpression<Object, Date> { date(left.node, .difference, QueryNode(right)) }

/// The date so many seconds earlier. The query throws if it is not in the years 0000 to 9999.
public func - <Object: MagicObject>(
  left: some MagicCalculation<Object, Date>, right: some MagicCalculation<Object, TimeInterval>
) -> MagicExpression<Object, Date> { date(left.node, .difference, right.node) }

/// The seconds from the right date to the left one.
///
///     magic.objects(of: Loan.self, where: \.$returned - \.$lent > 14 * 86_400)
public func - <Object: MagicObject, Left: MagicColumn<Date>, Right: MagicColumn<Date>>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, TimeInterval> {
  MagicExpression(.arithmetic(seconds(QueryNode(left)), .difference, seconds(QueryNode(right))))
}

/// The seconds from the right date to the left one.
public func - <Object: MagicObject>(
  left: some MagicCalculation<Object, Date>, right: some MagicCalculation<Object, Date>
) -> MagicExpression<Object, TimeInterval> {
  MagicExpression(.arithmetic(seconds(left.node), .difference, seconds(right.node)))
}

/// The seconds from a date to that of each object.
public func - <Object: MagicObject, Column: MagicColumn<Date>>(
  left: KeyPath<Object, Column>, right: Date
) -> MagicExpression<Object, TimeInterval> {
  MagicExpression(.arithmetic(seconds(QueryNode(left)), .difference, seconds(QueryNode(right))))
}

/// The seconds from the date of each object to another.
public func - <Object: MagicObject, Column: MagicColumn<Date>>(
  left: Date, right: KeyPath<Object, Column>
) -> MagicExpression<Object, TimeInterval> {
  MagicExpression(.arithmetic(seconds(QueryNode(left)), .difference, seconds(QueryNode(right))))
}

/// The seconds from a date to the one that is calculated.
public func - <Object: MagicObject>(
  left: MagicExpression<Object, Date>, right: Date
) -> MagicExpression<Object, TimeInterval> {
  MagicExpression(.arithmetic(seconds(left.node), .difference, seconds(QueryNode(right))))
}

/// The seconds from the date that is calculated to another.
public func - <Object: MagicObject>(
  left: Date, right: MagicExpression<Object, Date>
) -> MagicExpression<Object, TimeInterval> {
  MagicExpression(.arithmetic(seconds(QueryNode(left)), .difference, seconds(right.node)))
}

/// The seconds from the right date to the one that is calculated.
///
///     magic.objects(of: Loan.self, where: (\Loan.$returned).or(.now) - \.$lent > 14 * 86_400)
public func - <Object: MagicObject, Column: MagicColumn<Date>>(
  left: MagicExpression<Object, Date>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, TimeInterval> {
  MagicExpression(.arithmetic(seconds(left.node), .difference, seconds(QueryNode(right))))
}

/// The seconds from the date that is calculated to the left one.
public func - <Object: MagicObject, Column: MagicColumn<Date>>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Date>
) -> MagicExpression<Object, TimeInterval> {
  MagicExpression(.arithmetic(seconds(QueryNode(left)), .difference, seconds(right.node)))
}
