import Essentials
import SQLiteCore

// Conditions and calculations on the objects of a relation: an array, a set, a dictionary, a reverse value, and
// further relations from there. ``ExpressionSQL/RelatedShape`` says what SQL they become.
extension KeyPath where Root: MagicObject, Value: MagicColumn, Value.Element: MagicRelation {
  /// True if the relation leads to some object that the filter holds for.
  ///
  ///     (\Customer.$invoices).contains { \.$total > 10 }
  ///
  /// - Parameter filter: A condition on the objects at the other end.
  public func contains(_ filter: () -> Filter<Value.Element.Target>) -> Filter<Root> {
    contains(where: filter())
  }

  /// True if the relation leads to some object that the filter holds for.
  ///
  /// - Parameter filter: A condition on the objects at the other end.
  public func contains(where filter: Filter<Value.Element.Target>) -> Filter<Root> {
    Filter(related { $0.filter = filter.node })
  }

  /// True if the relation leads to the object.
  ///
  /// - Parameter object: An object that was saved, else the query throws.
  public func contains(_ object: Value.Element.Target) -> Filter<Root> {
    Filter(related { $0.filter = .comparison(.column([]), .equal, QueryNode(object: object)) })
  }

  /// True if the filter holds for all objects that the relation leads to, also if there are none.
  ///
  ///     (\Customer.$invoices).allSatisfy { \.$isPaid == true }
  ///
  /// - Parameter filter: A condition on the objects at the other end.
  public func allSatisfy(_ filter: () -> Filter<Value.Element.Target>) -> Filter<Root> {
    !contains(where: !filter())
  }

  /// True if the relation leads to no object.
  public var isEmpty: Filter<Root> { Filter(.not(related { _ in })) }

  /// The number of objects that the relation leads to: of an array duplicates included, of a reverse value each
  /// object once. Behind a further relation, as often as it is reached.
  public var count: MagicExpression<Root, Int> { MagicExpression(aggregate(.count)) }

  /// The number of objects that the relation leads to and the filter holds for.
  ///
  ///     (\Customer.$invoices).count { \.$total > 10 } >= 2
  ///
  /// - Parameter filter: A condition on the objects at the other end.
  public func count(_ filter: () -> Filter<Value.Element.Target>) -> MagicExpression<Root, Int> {
    count(where: filter())
  }

  /// The number of objects that the relation leads to and the filter holds for.
  ///
  /// - Parameter filter: A condition on the objects at the other end.
  public func count(where filter: Filter<Value.Element.Target>) -> MagicExpression<Root, Int> {
    MagicExpression(aggregate(.count, where: filter))
  }

  /// The sum over the objects that the relation leads to; zero of none.
  ///
  ///     (\Customer.$invoices).sum(\.$total) > 1_000
  ///
  /// - Parameters:
  ///   - path: A property of theirs that is a number.
  ///   - filter: The condition on the objects; nil for all.
  public func sum<Column: MagicColumn>(
    _ path: KeyPath<Value.Element.Target, Column>, where filter: Filter<Value.Element.Target>? = nil
  ) -> MagicExpression<Root, Column.Element> where Column.Element: Numeric & MagicComparable {
    MagicExpression(aggregate(.sum(of: Column.Element.self), QueryNode(path), where: filter))
  }

  /// The sum over the objects that the relation leads to; zero of none.
  ///
  ///     (\Order.$lines).sum(\.$price * \.$quantity)
  ///
  /// - Parameters:
  ///   - expression: The number that is calculated of each object.
  ///   - filter: The condition on the objects; nil for all.
  public func sum<Number: Codable & Numeric & MagicComparable>(
    _ expression: MagicExpression<Value.Element.Target, Number>,
    where filter: Filter<Value.Element.Target>? = nil
  ) -> MagicExpression<Root, Number> {
    MagicExpression(aggregate(.sum(of: Number.self), expression.node, where: filter))
  }

  /// The average over the objects that the relation leads to; nil of none.
  ///
  /// - Parameters:
  ///   - path: A property of theirs that is a number.
  ///   - filter: The condition on the objects; nil for all.
  public func average<Column: MagicColumn>(
    _ path: KeyPath<Value.Element.Target, Column>, where filter: Filter<Value.Element.Target>? = nil
  ) -> MagicExpression<Root, Column.Element.Average> where Column.Element: MagicNumber {
    MagicExpression(aggregate(.average(of: Column.Element.self), QueryNode(path), where: filter))
  }

  /// The average over the objects that the relation leads to; nil of none.
  ///
  /// - Parameters:
  ///   - expression: The number that is calculated of each object.
  ///   - filter: The condition on the objects; nil for all.
  public func average<Number: MagicNumber>(
    _ expression: MagicExpression<Value.Element.Target, Number>,
    where filter: Filter<Value.Element.Target>? = nil
  ) -> MagicExpression<Root, Number.Average> {
    MagicExpression(aggregate(.average(of: Number.self), expression.node, where: filter))
  }

  /// The smallest value among the objects that the relation leads to; nil of none.
  ///
  /// - Parameters:
  ///   - path: A property of theirs.
  ///   - filter: The condition on the objects; nil for all.
  public func min<Column: MagicColumn>(
    _ path: KeyPath<Value.Element.Target, Column>, where filter: Filter<Value.Element.Target>? = nil
  ) -> MagicExpression<Root, Column.Element> where Column.Element: MagicComparable {
    MagicExpression(aggregate(.min(of: Column.Element.self), QueryNode(path), where: filter))
  }

  /// The smallest value among the objects that the relation leads to; nil of none.
  ///
  /// - Parameters:
  ///   - expression: The value that is calculated of each object.
  ///   - filter: The condition on the objects; nil for all.
  public func min<Element: Codable & MagicComparable>(
    _ expression: MagicExpression<Value.Element.Target, Element>,
    where filter: Filter<Value.Element.Target>? = nil
  ) -> MagicExpression<Root, Element> {
    MagicExpression(aggregate(.min(of: Element.self), expression.node, where: filter))
  }

  /// The greatest value among the objects that the relation leads to; nil of none.
  ///
  ///     magic.objects(of: Customer.self, orderedBy: [.descending((\Customer.$invoices).max(\.$date))])
  ///
  /// - Parameters:
  ///   - path: A property of theirs.
  ///   - filter: The condition on the objects; nil for all.
  public func max<Column: MagicColumn>(
    _ path: KeyPath<Value.Element.Target, Column>, where filter: Filter<Value.Element.Target>? = nil
  ) -> MagicExpression<Root, Column.Element> where Column.Element: MagicComparable {
    MagicExpression(aggregate(.max(of: Column.Element.self), QueryNode(path), where: filter))
  }

  /// The greatest value among the objects that the relation leads to; nil of none.
  ///
  /// - Parameters:
  ///   - expression: The value that is calculated of each object.
  ///   - filter: The condition on the objects; nil for all.
  public func max<Element: Codable & MagicComparable>(
    _ expression: MagicExpression<Value.Element.Target, Element>,
    where filter: Filter<Value.Element.Target>? = nil
  ) -> MagicExpression<Root, Element> {
    MagicExpression(aggregate(.max(of: Element.self), expression.node, where: filter))
  }

  /// A question about the objects that the relation leads to.
  private func related(_ change: (inout RelatedQuery) -> Void) -> QueryNode {
    do {
      var query = RelatedQuery(route: try QueryNode.slots(self))
      change(&query)
      return .related(query)
    } catch {
      return .failure(error)
    }
  }

  private func aggregate(
    _ form: QueryForm, _ operand: QueryNode? = nil,
    where filter: Filter<Value.Element.Target>? = nil
  ) -> QueryNode {
    related {
      $0.answer = .aggregate(form)
      $0.operand = operand
      $0.filter = filter?.node
    }
  }
}

extension QueryForm {
  /// The number of rows.
  static let count = QueryForm(
    ["count(*)"], mayBeNull: false, ofNone: .integer(0), combining: sum.pieces)
  private static let average = QueryForm(["avg(", ")"], ofNone: .null)
  private static let decimalAverage = QueryForm(["magicdata_decimal_average(", ")"], ofNone: .null)
  private static let sum = combined(
    ["ifnull(sum(", "), 0)"], mayBeNull: false, ofNone: .integer(0))
  // A real, also of no rows; NULL if it is no number. That would be lost among other parts.
  private static let realSum = QueryForm(["total(", ")"], ofNone: .real(0))
  private static let floatSum = QueryForm(["magicdata_float(total(", "))"], ofNone: .real(0))
  private static let decimalSum = combined(
    ["magicdata_decimal_sum(", ")"], mayBeNull: false, ofNone: nil)
  private static let min = combined(["min(", ")"])
  private static let decimalMin = combined(["min(", " COLLATE magicdata_decimal)"])
  private static let max = combined(["max(", ")"])
  private static let decimalMax = combined(["max(", " COLLATE magicdata_decimal)"])

  /// An aggregate of which the result for all rows is the same aggregate of the results for parts of them.
  private static func combined(
    _ pieces: [String], mayBeNull: Bool = true, ofNone: Value? = .null
  ) -> QueryForm {
    QueryForm(pieces, mayBeNull: mayBeNull, ofNone: ofNone, combining: pieces)
  }

  /// The sum, which is zero of no rows; of integers that do not fit 64 bits an error, and of decimals exact.
  static func sum(of type: Any.Type) -> QueryForm {
    if type == Decimal.self || type == Duration.self { return decimalSum }
    if type == Double.self { return realSum }
    return type == Float.self ? floatSum : sum
  }

  /// The average, as a `Double`, or of decimals as a decimal.
  static func average(of type: Any.Type) -> QueryForm {
    type == Decimal.self ? decimalAverage : average
  }

  /// The smallest value in the order of the type.
  static func min(of type: Any.Type) -> QueryForm { QueryNode.needsOrder(type) ? decimalMin : min }

  /// The greatest value in the order of the type.
  static func max(of type: Any.Type) -> QueryForm { QueryNode.needsOrder(type) ? decimalMax : max }
}
