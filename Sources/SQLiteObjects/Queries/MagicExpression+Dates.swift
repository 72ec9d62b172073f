public import Essentials
import SQLiteCore
import SQLiteMapping

// Dates of objects are stored as text in UTC, `YYYY-MM-DD HH:MM:SS[.fraction]`, with each part at a
// fixed position. SQLite's own functions would first round to milliseconds, which moves the last
// moment of a year into the next year.
extension MagicCalculation where Element == Date {
  /// An expression for the year in UTC, from 0 to 9999. The year before 0001 is 0000, as in ISO
  /// 8601.
  ///
  ///     magic.objects(of: Invoice.self, where: (\Invoice.$date).year == 2009)
  ///
  /// All dates use the Gregorian calendar, including dates before its introduction in 1582.
  public var year: MagicExpression<Object, Int> { part(1, 4) }

  /// An expression for the month in UTC, from 1 to 12.
  ///
  ///     magic.objects(of: Invoice.self, where: (\Invoice.$date).month == 12)
  public var month: MagicExpression<Object, Int> { part(6, 2) }

  /// An expression for the day of the month in UTC, from 1 to 31.
  ///
  ///     magic.objects(of: Invoice.self, where: (\Invoice.$date).day == 1)
  public var day: MagicExpression<Object, Int> { part(9, 2) }

  /// An expression for the day of the week in UTC, from 1 for Sunday to 7 for Saturday, as in
  /// `Calendar`.
  ///
  ///     magic.objects(of: Invoice.self, where: (\Invoice.$date).weekday == 1)
  public var weekday: MagicExpression<Object, Int> {
    MagicExpression(["(strftime('%w', substr(", ", 1, 10)) + 1)"], node)
  }

  /// An expression for the hour in UTC, from 0 to 23.
  ///
  ///     magic.objects(of: Invoice.self, where: (\Invoice.$date).hour < 8)
  public var hour: MagicExpression<Object, Int> { part(12, 2) }

  /// An expression for the minute in UTC, from 0 to 59.
  ///
  ///     magic.objects(of: Invoice.self, where: (\Invoice.$date).minute == 0)
  public var minute: MagicExpression<Object, Int> { part(15, 2) }

  /// An expression for the whole second in UTC, from 0 to 59.
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

/// Returns a node for the seconds from 2001-01-01 00:00:00 UTC to a date. The conversion is exact.
private func seconds(_ date: QueryNode) -> QueryNode {
  .form(["magicdata_date_seconds(", ")"], [date])
}

private func date<Object: MagicObject>(
  _ date: QueryNode, _ arithmetic: QueryArithmetic, _ other: QueryNode
) -> MagicExpression<Object, Date> {
  MagicExpression(
    .form(["magicdata_date(", ")"], [.arithmetic(seconds(date), arithmetic, other)]))
}

/// Returns an expression for the date that is `right` seconds after `left`. Fetching throws
/// `SQLiteError` if the result isn't in the years 0000 to 9999.
///
///     magic.objects(of: Loan.self, where: \.$due + 86_400 < .now)
public func + <Object: MagicObject, Column: MagicColumn<Date>>(
  left: KeyPath<Object, Column>, right: TimeInterval
) -> MagicExpression<Object, Date> { date(QueryNode(left), .sum, QueryNode(right)) }

/// Returns an expression for the date that is `right` seconds after `left`. Fetching throws
/// `SQLiteError` if the result isn't in the years 0000 to 9999.
public func + <Object: MagicObject>(
  left: some MagicCalculation<Object, Date>, right: TimeInterval
) -> MagicExpression<Object, Date> { date(left.node, .sum, QueryNode(right)) }

/// Returns an expression for the date that is a calculated number of seconds, `right`, after
/// `left`. Fetching throws `SQLiteError` if the result isn't in the years 0000 to 9999.
public func + <Object: MagicObject>(
  left: some MagicCalculation<Object, Date>, right: some MagicCalculation<Object, TimeInterval>
) -> MagicExpression<Object, Date> { date(left.node, .sum, right.node) }

/// Returns an expression for the date that is `right` seconds before `left`. Fetching throws
/// `SQLiteError` if the result isn't in the years 0000 to 9999.
public func - <Object: MagicObject, Column: MagicColumn<Date>>(
  left: KeyPath<Object, Column>, right: TimeInterval
) -> MagicExpression<Object, Date> { date(QueryNode(left), .difference, QueryNode(right)) }

/// Returns an expression for the date that is `right` seconds before `left`. Fetching throws
/// `SQLiteError` if the result isn't in the years 0000 to 9999.
public func - <Object: MagicObject>(
  left: some MagicCalculation<Object, Date>, right: TimeInterval
) -> MagicExpression<Object, Date> { date(left.node, .difference, QueryNode(right)) }

/// Returns an expression for the date that is a calculated number of seconds, `right`, before
/// `left`. Fetching throws `SQLiteError` if the result isn't in the years 0000 to 9999.
public func - <Object: MagicObject>(
  left: some MagicCalculation<Object, Date>, right: some MagicCalculation<Object, TimeInterval>
) -> MagicExpression<Object, Date> { date(left.node, .difference, right.node) }

/// Returns an expression for the number of seconds from the right date to the left one.
///
///     magic.objects(of: Loan.self, where: \.$returned - \.$lent > 14 * 86_400)
public func - <Object: MagicObject, Left: MagicColumn<Date>, Right: MagicColumn<Date>>(
  left: KeyPath<Object, Left>, right: KeyPath<Object, Right>
) -> MagicExpression<Object, TimeInterval> {
  MagicExpression(.arithmetic(seconds(QueryNode(left)), .difference, seconds(QueryNode(right))))
}

/// Returns an expression for the number of seconds from the right date to the left one.
public func - <Object: MagicObject>(
  left: some MagicCalculation<Object, Date>, right: some MagicCalculation<Object, Date>
) -> MagicExpression<Object, TimeInterval> {
  MagicExpression(.arithmetic(seconds(left.node), .difference, seconds(right.node)))
}

/// Returns an expression for the number of seconds from a given date to a property.
public func - <Object: MagicObject, Column: MagicColumn<Date>>(
  left: KeyPath<Object, Column>, right: Date
) -> MagicExpression<Object, TimeInterval> {
  MagicExpression(.arithmetic(seconds(QueryNode(left)), .difference, seconds(QueryNode(right))))
}

/// Returns an expression for the number of seconds from a property to a given date.
public func - <Object: MagicObject, Column: MagicColumn<Date>>(
  left: Date, right: KeyPath<Object, Column>
) -> MagicExpression<Object, TimeInterval> {
  MagicExpression(.arithmetic(seconds(QueryNode(left)), .difference, seconds(QueryNode(right))))
}

/// Returns an expression for the number of seconds from a given date to a calculated date.
public func - <Object: MagicObject>(
  left: MagicExpression<Object, Date>, right: Date
) -> MagicExpression<Object, TimeInterval> {
  MagicExpression(.arithmetic(seconds(left.node), .difference, seconds(QueryNode(right))))
}

/// Returns an expression for the number of seconds from a calculated date to a given date.
public func - <Object: MagicObject>(
  left: Date, right: MagicExpression<Object, Date>
) -> MagicExpression<Object, TimeInterval> {
  MagicExpression(.arithmetic(seconds(QueryNode(left)), .difference, seconds(right.node)))
}

/// Returns an expression for the number of seconds from a property to a calculated date.
///
///     magic.objects(of: Loan.self, where: (\Loan.$returned).or(.now) - \.$lent > 14 * 86_400)
public func - <Object: MagicObject, Column: MagicColumn<Date>>(
  left: MagicExpression<Object, Date>, right: KeyPath<Object, Column>
) -> MagicExpression<Object, TimeInterval> {
  MagicExpression(.arithmetic(seconds(left.node), .difference, seconds(QueryNode(right))))
}

/// Returns an expression for the number of seconds from a calculated date to a property.
public func - <Object: MagicObject, Column: MagicColumn<Date>>(
  left: KeyPath<Object, Column>, right: MagicExpression<Object, Date>
) -> MagicExpression<Object, TimeInterval> {
  MagicExpression(.arithmetic(seconds(QueryNode(left)), .difference, seconds(right.node)))
}
