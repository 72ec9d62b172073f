import SQLiteCore

extension Query {
  /// Returns a request for a value that is computed from all objects of the query.
  ///
  ///     let total = try magic.fetch(Player.where(\.$age < 20).aggregate(.sum(\.$goals)))
  ///
  /// - Parameter aggregate: The value to compute.
  public func aggregate<Value>(_ aggregate: Aggregate<Object, Value>) -> Request<Value> {
    let rows: Request<[Value]> = rows(TupleLayout(ResultColumn(aggregate)), Groups())
    // The query returns no row if the table doesn't exist yet.
    return rows.map { [none = aggregate.resultForNoRows] in try $0.first ?? none() }
  }

  /// Returns a request for values that are computed from all objects of the query.
  ///
  ///     let (count, oldest) = try magic.fetch(Player.all.aggregate(.count, .max(\.$age)))
  ///
  /// - Parameter aggregates: The values to compute.
  public func aggregate<each Value>(
    _ aggregates: repeat Aggregate<Object, each Value>
  ) -> Request<(repeat each Value)> {
    let none = (repeat (each aggregates).resultForNoRows)
    let rows: Request<[(repeat each Value)]> = rows(
      TupleLayout(repeat ResultColumn(each aggregates)), Groups())
    return rows.map { try $0.first ?? (repeat try (each none)()) }
  }

  /// Returns a request for a value that is computed from each group of objects.
  ///
  ///     let ages = try magic.fetch(Player.all.aggregate(.average(\.$age), by: \.$team.$title))
  ///
  /// - Parameters:
  ///   - aggregate: The value to compute.
  ///   - key: The property to group by.
  ///   - having: A condition on the groups, or nil to include all.
  ///   - order: The sort keys of the groups. Ties are ordered by the stored values of the groups'
  ///     keys, and so are all groups if you pass no sort keys.
  ///   - limit: The maximum number of groups, or nil for no limit.
  ///   - offset: The number of groups to skip first.
  /// - Returns: A request for the groups, each with its key and its value. The objects whose
  ///   property is nil form one group, whose key is nil.
  public func aggregate<Value, Key: MagicColumn>(
    _ aggregate: Aggregate<Object, Value>, by key: KeyPath<Object, Key>,
    having: GroupFilter<Object>? = nil, orderedBy order: [GroupSortKey<Object>] = [],
    limit: Int? = nil, offset: Int = 0
  ) -> Request<[(key: Key.Value, value: Value)]> {
    rows(
      TupleLayout(ResultColumn(key), ResultColumn(aggregate)),
      Groups(keyCount: 1, having: having, order: order, limit: limit, offset: offset))
  }

  /// Returns a request for a value that is computed from each group of objects, grouped by an
  /// expression.
  ///
  ///     let numbers = try magic.fetch(Invoice.all.aggregate(.count, by: (\Invoice.$date).year))
  ///
  /// - Parameters:
  ///   - aggregate: The value to compute.
  ///   - key: The expression to group by.
  ///   - having: A condition on the groups, or nil to include all.
  ///   - order: The sort keys of the groups. Ties are ordered by the stored values of the groups'
  ///     keys, and so are all groups if you pass no sort keys.
  ///   - limit: The maximum number of groups, or nil for no limit.
  ///   - offset: The number of groups to skip first.
  /// - Returns: A request for the groups, each with its key and its value. The objects for which
  ///   the expression is nil form one group, whose key is nil.
  public func aggregate<Value, Key: Codable & SendableMetatype>(
    _ aggregate: Aggregate<Object, Value>, by key: MagicExpression<Object, Key>,
    having: GroupFilter<Object>? = nil, orderedBy order: [GroupSortKey<Object>] = [],
    limit: Int? = nil, offset: Int = 0
  ) -> Request<[(key: Key?, value: Value)]> {
    rows(
      TupleLayout(ResultColumn(key), ResultColumn(aggregate)),
      Groups(keyCount: 1, having: having, order: order, limit: limit, offset: offset))
  }

  /// Returns a request for values that are computed from each group of objects.
  ///
  ///     let teams = Player.all.aggregate(
  ///       .count, .average(\.$age), by: \.$team.$title, having: .count > 3, orderedBy: [.descending(.count)], limit: 10)
  ///     for (title, (count, age)) in try magic.fetch(teams) { … }
  ///
  /// - Parameters:
  ///   - aggregates: The values to compute.
  ///   - keys: The properties to group by.
  ///   - having: A condition on the groups, or nil to include all.
  ///   - order: The sort keys of the groups. Ties are ordered by the stored values of the groups'
  ///     keys, and so are all groups if you pass no sort keys.
  ///   - limit: The maximum number of groups, or nil for no limit.
  ///   - offset: The number of groups to skip first.
  /// - Returns: A request for the groups, each with its key and its value. Multiple keys or values
  ///   form a tuple. A key is nil for the objects whose property is nil.
  public func aggregate<each Value, each Key: MagicColumn>(
    _ aggregates: repeat Aggregate<Object, each Value>, by keys: repeat KeyPath<Object, each Key>,
    having: GroupFilter<Object>? = nil, orderedBy order: [GroupSortKey<Object>] = [],
    limit: Int? = nil, offset: Int = 0
  ) -> Request<[(key: (repeat (each Key).Value), value: (repeat each Value))]> {
    groups(
      TupleLayout(repeat ResultColumn(each keys)),
      TupleLayout(repeat ResultColumn(each aggregates)),
      Groups(having: having, order: order, limit: limit, offset: offset))
  }

  /// Returns a request for values that are computed from each group of objects, grouped by
  /// expressions.
  ///
  /// - Parameters:
  ///   - aggregates: The values to compute.
  ///   - keys: The expressions to group by. Use `MagicExpression(\.$name)` for a property.
  ///   - having: A condition on the groups, or nil to include all.
  ///   - order: The sort keys of the groups. Ties are ordered by the stored values of the groups'
  ///     keys, and so are all groups if you pass no sort keys.
  ///   - limit: The maximum number of groups, or nil for no limit.
  ///   - offset: The number of groups to skip first.
  /// - Returns: A request for the groups, each with its key and its value. Multiple keys or values
  ///   form a tuple. A key is nil for the objects for which its expression is nil.
  public func aggregate<each Value, each Key: Codable & SendableMetatype>(
    _ aggregates: repeat Aggregate<Object, each Value>,
    by keys: repeat MagicExpression<Object, each Key>,
    having: GroupFilter<Object>? = nil, orderedBy order: [GroupSortKey<Object>] = [],
    limit: Int? = nil, offset: Int = 0
  ) -> Request<[(key: (repeat (each Key)?), value: (repeat each Value))]> {
    groups(
      TupleLayout(repeat ResultColumn(each keys)),
      TupleLayout(repeat ResultColumn(each aggregates)),
      Groups(having: having, order: order, limit: limit, offset: offset))
  }

  /// Returns a request for values that are computed from each group of objects, grouped by
  /// properties and expressions.
  ///
  ///     for ((country, year), total) in try magic.fetch(
  ///       Invoice.all.aggregate(.sum(\.$total), by: \.$country, and: (\Invoice.$date).year)) { … }
  ///
  /// - Parameters:
  ///   - aggregates: The values to compute.
  ///   - keys: The properties to group by.
  ///   - expressions: The expressions to group by, after the properties.
  ///   - having: A condition on the groups, or nil to include all.
  ///   - order: The sort keys of the groups. Ties are ordered by the stored values of the groups'
  ///     keys, and so are all groups if you pass no sort keys.
  ///   - limit: The maximum number of groups, or nil for no limit.
  ///   - offset: The number of groups to skip first.
  /// - Returns: A request for the groups, each with its key and its value. Multiple keys form a
  ///   tuple, in which the properties precede the expressions. The key of an expression is nil for
  ///   the objects for which the expression is nil. Multiple values form a tuple, too.
  public func aggregate<
    each Value, each Key: MagicColumn, each Element: Codable & SendableMetatype
  >(
    _ aggregates: repeat Aggregate<Object, each Value>, by keys: repeat KeyPath<Object, each Key>,
    and expressions: repeat MagicExpression<Object, each Element>,
    having: GroupFilter<Object>? = nil, orderedBy order: [GroupSortKey<Object>] = [],
    limit: Int? = nil, offset: Int = 0
  ) -> Request<
    [(
      key: (repeat (each Key).Value, repeat (each Element)?), value: (repeat each Value)
    )]
  > {
    groups(
      TupleLayout(repeat ResultColumn(each keys), and: repeat ResultColumn(each expressions)),
      TupleLayout(repeat ResultColumn(each aggregates)),
      Groups(having: having, order: order, limit: limit, offset: offset))
  }

  private func groups<Row>(
    _ keys: TupleLayout, _ values: TupleLayout, _ groups: Groups
  ) -> Request<[Row]> {
    var groups = groups
    groups.keyCount = keys.nodes.count
    return rows(TupleLayout(keys, values), groups)
  }

  private func rows<Row>(_ layout: TupleLayout, _ groups: Groups) -> Request<[Row]> {
    RowRequest(parts, groups, layout).request()
  }
}
