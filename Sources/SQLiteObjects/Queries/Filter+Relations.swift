import Essentials
import SQLiteCore

// Conditions and calculations on the objects of a to-many relation: an array, a set, a dictionary
// or a reverse relation, and further relations of these objects. ``ExpressionSQL/RelatedShape``
// describes their SQL.
extension KeyPath where Root: MagicObject, Value: MagicColumn, Value.Element: MagicRelation {
  /// Returns a filter for the objects that have a related object that matches a filter.
  ///
  ///     (\Customer.$invoices).contains { \.$total > 10 }
  ///
  /// - Parameter filter: Returns the condition on the related objects.
  public func contains(_ filter: () -> Filter<Value.Element.Target>) -> Filter<Root> {
    contains(where: filter())
  }

  /// Returns a filter for the objects that have a related object that matches a filter.
  ///
  /// - Parameter filter: The condition on the related objects.
  public func contains(where filter: Filter<Value.Element.Target>) -> Filter<Root> {
    Filter(related { $0.filter = filter.node })
  }

  /// Returns a filter for the objects whose relation contains an object.
  ///
  /// - Parameter object: The related object. Fetching throws ``MagicError/notSaved(type:)`` if it
  ///   isn't in the store.
  public func contains(_ object: Value.Element.Target) -> Filter<Root> {
    Filter(related { $0.filter = .comparison(.column([]), .equal, QueryNode(object: object)) })
  }

  /// Returns a filter for the objects whose related objects all match a filter. Objects without
  /// related objects match, too.
  ///
  ///     (\Customer.$invoices).allSatisfy { \.$isPaid == true }
  ///
  /// - Parameter filter: Returns the condition on the related objects.
  public func allSatisfy(_ filter: () -> Filter<Value.Element.Target>) -> Filter<Root> {
    !contains(where: !filter())
  }

  /// A filter for the objects that have no related objects.
  public var isEmpty: Filter<Root> { Filter(.not(related { _ in })) }

  /// An expression for the number of related objects. An object that an array contains several
  /// times is counted several times. In a reverse relation, each object is counted once. At the end
  /// of a path of several relations, an object is counted once for each way in which the path
  /// reaches it.
  public var count: MagicExpression<Root, Int> { MagicExpression(aggregate(.count)) }

  /// Returns an expression for the number of related objects that match a filter.
  ///
  ///     (\Customer.$invoices).count { \.$total > 10 } >= 2
  ///
  /// - Parameter filter: Returns the condition on the related objects.
  public func count(_ filter: () -> Filter<Value.Element.Target>) -> MagicExpression<Root, Int> {
    count(where: filter())
  }

  /// Returns an expression for the number of related objects that match a filter.
  ///
  /// - Parameter filter: The condition on the related objects.
  public func count(where filter: Filter<Value.Element.Target>) -> MagicExpression<Root, Int> {
    MagicExpression(aggregate(.count, where: filter))
  }

  /// Returns an expression for the sum of a property of the related objects. It is zero if there
  /// are no values. Fetching throws `SQLiteError` if a sum of integers doesn't fit in 64 bits, or
  /// if `Decimal` can't hold a sum of decimals exactly.
  ///
  ///     (\Customer.$invoices).sum(\.$total) > 1_000
  ///
  /// - Parameters:
  ///   - path: A numeric property of the related objects.
  ///   - filter: A condition on the related objects, or nil to include all.
  public func sum<Column: MagicColumn>(
    _ path: KeyPath<Value.Element.Target, Column>, where filter: Filter<Value.Element.Target>? = nil
  ) -> MagicExpression<Root, Column.Element> where Column.Element: Numeric & MagicComparable {
    MagicExpression(aggregate(.sum(of: Column.Element.self), QueryNode(path), where: filter))
  }

  /// Returns an expression for the sum of an expression over the related objects. It is zero if
  /// there are no values. Fetching throws `SQLiteError` if a sum of integers doesn't fit in 64
  /// bits, or if `Decimal` can't hold a sum of decimals exactly.
  ///
  ///     (\Order.$lines).sum(\.$price * \.$quantity)
  ///
  /// - Parameters:
  ///   - expression: The number that is calculated for each related object.
  ///   - filter: A condition on the related objects, or nil to include all.
  public func sum<Number: Codable & Numeric & MagicComparable>(
    _ expression: MagicExpression<Value.Element.Target, Number>,
    where filter: Filter<Value.Element.Target>? = nil
  ) -> MagicExpression<Root, Number> {
    MagicExpression(aggregate(.sum(of: Number.self), expression.node, where: filter))
  }

  /// Returns an expression for the average of a property of the related objects. It is nil if there
  /// are no values.
  ///
  /// - Parameters:
  ///   - path: A numeric property of the related objects.
  ///   - filter: A condition on the related objects, or nil to include all.
  public func average<Column: MagicColumn>(
    _ path: KeyPath<Value.Element.Target, Column>, where filter: Filter<Value.Element.Target>? = nil
  ) -> MagicExpression<Root, Column.Element.Average> where Column.Element: MagicNumber {
    MagicExpression(aggregate(.average(of: Column.Element.self), QueryNode(path), where: filter))
  }

  /// Returns an expression for the average of an expression over the related objects. It is nil if
  /// there are no values.
  ///
  /// - Parameters:
  ///   - expression: The number that is calculated for each related object.
  ///   - filter: A condition on the related objects, or nil to include all.
  public func average<Number: MagicNumber>(
    _ expression: MagicExpression<Value.Element.Target, Number>,
    where filter: Filter<Value.Element.Target>? = nil
  ) -> MagicExpression<Root, Number.Average> {
    MagicExpression(aggregate(.average(of: Number.self), expression.node, where: filter))
  }

  /// Returns an expression for the smallest value of a property of the related objects. It is nil
  /// if there are no values.
  ///
  /// - Parameters:
  ///   - path: A property of the related objects.
  ///   - filter: A condition on the related objects, or nil to include all.
  public func min<Column: MagicColumn>(
    _ path: KeyPath<Value.Element.Target, Column>, where filter: Filter<Value.Element.Target>? = nil
  ) -> MagicExpression<Root, Column.Element> where Column.Element: MagicComparable {
    MagicExpression(aggregate(.min(of: Column.Element.self), QueryNode(path), where: filter))
  }

  /// Returns an expression for the smallest value of an expression over the related objects. It is
  /// nil if there are no values.
  ///
  /// - Parameters:
  ///   - expression: The value that is calculated for each related object.
  ///   - filter: A condition on the related objects, or nil to include all.
  public func min<Element: Codable & MagicComparable>(
    _ expression: MagicExpression<Value.Element.Target, Element>,
    where filter: Filter<Value.Element.Target>? = nil
  ) -> MagicExpression<Root, Element> {
    MagicExpression(aggregate(.min(of: Element.self), expression.node, where: filter))
  }

  /// Returns an expression for the greatest value of a property of the related objects. It is nil
  /// if there are no values.
  ///
  ///     magic.objects(of: Customer.self, orderedBy: [.descending((\Customer.$invoices).max(\.$date))])
  ///
  /// - Parameters:
  ///   - path: A property of the related objects.
  ///   - filter: A condition on the related objects, or nil to include all.
  public func max<Column: MagicColumn>(
    _ path: KeyPath<Value.Element.Target, Column>, where filter: Filter<Value.Element.Target>? = nil
  ) -> MagicExpression<Root, Column.Element> where Column.Element: MagicComparable {
    MagicExpression(aggregate(.max(of: Column.Element.self), QueryNode(path), where: filter))
  }

  /// Returns an expression for the greatest value of an expression over the related objects. It is
  /// nil if there are no values.
  ///
  /// - Parameters:
  ///   - expression: The value that is calculated for each related object.
  ///   - filter: A condition on the related objects, or nil to include all.
  public func max<Element: Codable & MagicComparable>(
    _ expression: MagicExpression<Value.Element.Target, Element>,
    where filter: Filter<Value.Element.Target>? = nil
  ) -> MagicExpression<Root, Element> {
    MagicExpression(aggregate(.max(of: Element.self), expression.node, where: filter))
  }

  /// Returns a node for a query of the related objects, or a failure if the key path isn't a
  /// relation. By default, the query tests whether a related object exists; `change` can set
  /// another result, and a filter.
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
  /// The aggregate that counts rows, `count(*)`.
  static let count = QueryForm(
    ["count(*)"], mayBeNull: false, forNoRows: .integer(0), combining: sum.pieces)
  private static let average = QueryForm(["avg(", ")"], forNoRows: .null)
  private static let decimalAverage = QueryForm(
    ["magicdata_decimal_average(", ")"], forNoRows: .null)
  private static let sum = combined(
    ["ifnull(sum(", "), 0)"], mayBeNull: false, forNoRows: .integer(0))
  // A real number, also for no rows. It is NULL if it isn't a number. A sum of partial sums would
  // skip such a NULL, so this sum isn't split.
  private static let realSum = QueryForm(["total(", ")"], forNoRows: .real(0))
  private static let floatSum = QueryForm(["magicdata_float(total(", "))"], forNoRows: .real(0))
  private static let decimalSum = combined(
    ["magicdata_decimal_sum(", ")"], mayBeNull: false, forNoRows: nil)
  private static let min = combined(["min(", ")"])
  private static let decimalMin = combined(["min(", " COLLATE magicdata_decimal)"])
  private static let max = combined(["max(", ")"])
  private static let decimalMax = combined(["max(", " COLLATE magicdata_decimal)"])

  /// Returns an aggregate that can be split: applied to the results for parts of the rows, it
  /// returns the result for all rows.
  private static func combined(
    _ pieces: [String], mayBeNull: Bool = true, forNoRows: Value? = .null
  ) -> QueryForm {
    QueryForm(pieces, mayBeNull: mayBeNull, forNoRows: forNoRows, combining: pieces)
  }

  /// Returns the aggregate for the sum of values of a type. It is zero for no rows, fails if
  /// integers overflow 64 bits, and is exact for decimals and durations.
  static func sum(of type: Any.Type) -> QueryForm {
    if type == Decimal.self || type == Duration.self { return decimalSum }
    if type == Double.self { return realSum }
    return type == Float.self ? floatSum : sum
  }

  /// Returns the aggregate for the average of values of a type: a decimal for decimals, otherwise a
  /// `Double`.
  static func average(of type: Any.Type) -> QueryForm {
    type == Decimal.self ? decimalAverage : average
  }

  /// Returns the aggregate for the minimum, in the order of a type's values.
  static func min(of type: Any.Type) -> QueryForm { QueryNode.needsOrder(type) ? decimalMin : min }

  /// Returns the aggregate function `max` for values of `type`, with the collation of decimals if
  /// the stored form doesn't sort like the values.
  static func max(of type: Any.Type) -> QueryForm { QueryNode.needsOrder(type) ? decimalMax : max }
}
