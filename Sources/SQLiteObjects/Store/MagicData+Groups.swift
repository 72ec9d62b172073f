import SQLiteCore
import SQLiteMapping

extension MagicData {
  /// Calculates one value of many objects, blocking the thread.
  ///
  ///     let total = try magic.aggregate(.sum(\Player.$goals), where: \.$age < 20)
  ///
  /// - Parameters:
  ///   - aggregate: The value to calculate.
  ///   - filter: The condition on the objects; nil for all.
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func aggregate<Object: MagicObject, Result>(
    _ aggregate: Aggregate<Object, Result>, where filter: Filter<Object>? = nil
  ) throws -> Result {
    let query = try ValueQuery(
      [aggregate.node], of: plan(Object.self), .init(of: filter), in: self)
    let layout = TupleLayout(aggregate.reader)
    let rows = try selecting(query) {
      try query.rows(layout, as: Result.self, from: $0, in: self)
    }
    // Without a table there is no row.
    return try rows.first ?? aggregate.resultOfNone()
  }

  /// As the blocking form, without blocking the task.
  nonisolated(nonsending) public func aggregate<Object: MagicObject, Result>(
    _ aggregate: Aggregate<Object, Result>, where filter: Filter<Object>? = nil
  ) async throws -> sending Result {
    let query = try await making([aggregate.node], of: Object.self, .init(of: filter))
    let layout = TupleLayout(aggregate.reader)
    return try await selecting(query) {
      let rows = try query.rows(layout, as: Result.self, from: $0, in: self)
      return Handoff(try rows.first ?? aggregate.resultOfNone())
    }.take()
  }

  /// Calculates values of many objects, blocking the thread.
  ///
  ///     let (count, oldest) = try magic.aggregate(.count, .max(\Player.$age))
  ///
  /// - Parameters:
  ///   - aggregates: The values to calculate.
  ///   - filter: The condition on the objects; nil for all.
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func aggregate<Object: MagicObject, each Result>(
    _ aggregates: repeat Aggregate<Object, each Result>, where filter: Filter<Object>? = nil
  ) throws -> (repeat each Result) {
    let query = try ValueQuery(
      nodes(repeat each aggregates), of: plan(Object.self), .init(of: filter), in: self)
    let layout = TupleLayout(repeat (each aggregates).reader)
    let rows = try selecting(query) {
      try query.rows(layout, as: (repeat each Result).self, from: $0, in: self)
    }
    // Without a table there is no row.
    return try rows.first ?? (repeat try (each aggregates).resultOfNone())
  }

  /// As the blocking form, without blocking the task.
  nonisolated(nonsending) public func aggregate<Object: MagicObject, each Result>(
    _ aggregates: repeat Aggregate<Object, each Result>, where filter: Filter<Object>? = nil
  ) async throws -> sending (repeat each Result) {
    let query = try await making(
      nodes(repeat each aggregates), of: Object.self, .init(of: filter))
    let layout = TupleLayout(repeat (each aggregates).reader)
    let results = (repeat (each aggregates).resultOfNone)
    return try await selecting(query) {
      let rows = try query.rows(layout, as: (repeat each Result).self, from: $0, in: self)
      return Handoff(try rows.first ?? (repeat try (each results)()))
    }.take()
  }

  /// Calculates a value of each group of objects, blocking the thread.
  ///
  ///     let ages = try magic.aggregate(.average(\Player.$age), by: \.$team.$title)
  ///
  /// - Parameters:
  ///   - aggregate: The value to calculate.
  ///   - key: The property whose values make the groups.
  ///   - filter: The condition on the objects; nil for all.
  ///   - having: The condition on the groups; nil for all.
  ///   - order: The order of the groups; equal ones, and all unless it is given, come in the order of their keys'
  ///     stored forms.
  ///   - limit: The most groups to fetch.
  ///   - offset: The number of groups to pass over first.
  /// - Returns: The groups, each with its key and its value.
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func aggregate<
    Object: MagicObject, Result, Key: MagicColumn
  >(
    _ aggregate: Aggregate<Object, Result>, by key: KeyPath<Object, Key>,
    where filter: Filter<Object>? = nil, having: GroupFilter<Object>? = nil,
    orderedBy order: [GroupSortKey<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> [(key: Key.Value, value: Result)] {
    let query = try groups(
      [QueryNode(key)], [aggregate.node], filter, having, order, limit, offset)
    let layout = TupleLayout(ColumnReader(Key.self), aggregate.reader)
    return try selecting(query) {
      try query.rows(layout, as: (key: Key.Value, value: Result).self, from: $0, in: self)
    }
  }

  /// As the blocking form, without blocking the task.
  nonisolated(nonsending) public func aggregate<
    Object: MagicObject, Result, Key: MagicColumn
  >(
    _ aggregate: Aggregate<Object, Result>, by key: KeyPath<Object, Key>,
    where filter: Filter<Object>? = nil, having: GroupFilter<Object>? = nil,
    orderedBy order: [GroupSortKey<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) async throws -> sending [(key: Key.Value, value: Result)] {
    let query = try groups(
      [QueryNode(key)], [aggregate.node], filter, having, order, limit, offset)
    let layout = TupleLayout(ColumnReader(Key.self), aggregate.reader)
    return try await selecting(query) {
      Handoff(
        try query.rows(layout, as: (key: Key.Value, value: Result).self, from: $0, in: self))
    }.take()
  }

  /// Calculates a value of each group of objects, by what is calculated of them, blocking the thread.
  ///
  ///     let numbers = try magic.aggregate(.count, by: (\Invoice.$date).year)
  ///
  /// - Parameters:
  ///   - aggregate: The value to calculate.
  ///   - key: The expression whose values make the groups.
  ///   - filter: The condition on the objects; nil for all.
  ///   - having: The condition on the groups; nil for all.
  ///   - order: The order of the groups; equal ones, and all unless it is given, come in the order of their keys'
  ///     stored forms.
  ///   - limit: The most groups to fetch.
  ///   - offset: The number of groups to pass over first.
  /// - Returns: The groups, each with its key, nil where the expression has no value, and its value.
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func aggregate<
    Object: MagicObject, Result, Key: Codable & SendableMetatype
  >(
    _ aggregate: Aggregate<Object, Result>, by key: MagicExpression<Object, Key>,
    where filter: Filter<Object>? = nil, having: GroupFilter<Object>? = nil,
    orderedBy order: [GroupSortKey<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> [(key: Key?, value: Result)] {
    let query = try groups(
      [key.node], [aggregate.node], filter, having, order, limit, offset)
    let layout = TupleLayout(ColumnReader(Key.self), aggregate.reader)
    return try selecting(query) {
      try query.rows(layout, as: (key: Key?, value: Result).self, from: $0, in: self)
    }
  }

  /// As the blocking form, without blocking the task.
  nonisolated(nonsending) public func aggregate<
    Object: MagicObject, Result, Key: Codable & SendableMetatype
  >(
    _ aggregate: Aggregate<Object, Result>, by key: MagicExpression<Object, Key>,
    where filter: Filter<Object>? = nil, having: GroupFilter<Object>? = nil,
    orderedBy order: [GroupSortKey<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) async throws -> sending [(key: Key?, value: Result)] {
    let query = try groups(
      [key.node], [aggregate.node], filter, having, order, limit, offset)
    let layout = TupleLayout(ColumnReader(Key.self), aggregate.reader)
    return try await selecting(query) {
      Handoff(
        try query.rows(layout, as: (key: Key?, value: Result).self, from: $0, in: self))
    }.take()
  }

  /// Calculates values of each group of objects, blocking the thread.
  ///
  ///     for (title, (count, age)) in try magic.aggregate(
  ///       .count, .average(\Player.$age), by: \.$team.$title, having: .count > 3,
  ///       orderedBy: [.descending(.count)], limit: 10) { … }
  ///
  /// - Parameters:
  ///   - aggregates: The values to calculate.
  ///   - keys: The properties whose values make the groups.
  ///   - filter: The condition on the objects; nil for all.
  ///   - having: The condition on the groups; nil for all.
  ///   - order: The order of the groups; equal ones, and all unless it is given, come in the order of their keys'
  ///     stored forms.
  ///   - limit: The most groups to fetch.
  ///   - offset: The number of groups to pass over first.
  /// - Returns: The groups, each with its key and its value; of several, these are tuples.
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func aggregate<
    Object: MagicObject, each Result, each Key: MagicColumn
  >(
    _ aggregates: repeat Aggregate<Object, each Result>, by keys: repeat KeyPath<Object, each Key>,
    where filter: Filter<Object>? = nil, having: GroupFilter<Object>? = nil,
    orderedBy order: [GroupSortKey<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> [(key: (repeat (each Key).Value), value: (repeat each Result))] {
    let query = try groups(
      nodes(repeat each keys), nodes(repeat each aggregates), filter, having, order, limit, offset)
    let layout = TupleLayout(
      TupleLayout(repeat ColumnReader((each Key).self)),
      TupleLayout(repeat (each aggregates).reader))
    return try selecting(query) {
      try query.rows(
        layout, as: (key: (repeat (each Key).Value), value: (repeat each Result)).self, from: $0,
        in: self)
    }
  }

  /// As ``aggregate(_:by:where:having:orderedBy:limit:offset:)``, without blocking the task.
  nonisolated(nonsending) public func aggregate<
    Object: MagicObject, each Result, each Key: MagicColumn
  >(
    _ aggregates: repeat Aggregate<Object, each Result>, by keys: repeat KeyPath<Object, each Key>,
    where filter: Filter<Object>? = nil, having: GroupFilter<Object>? = nil,
    orderedBy order: [GroupSortKey<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) async throws -> sending [(key: (repeat (each Key).Value), value: (repeat each Result))] {
    let (keyNodes, nodes) = (nodes(repeat each keys), nodes(repeat each aggregates))
    let query = try await making {
      try self.groups(keyNodes, nodes, filter, having, order, limit, offset)
    }
    let layout = TupleLayout(
      TupleLayout(repeat ColumnReader((each Key).self)),
      TupleLayout(repeat (each aggregates).reader))
    return try await selecting(query) {
      Handoff(
        try query.rows(
          layout, as: (key: (repeat (each Key).Value), value: (repeat each Result)).self, from: $0,
          in: self))
    }.take()
  }

  /// Calculates values of each group of objects, by what is calculated of them, blocking the thread.
  ///
  ///     try magic.aggregate(.count, by: \Player.$age / 10, (\Player.$friends).count)
  ///
  /// - Parameters:
  ///   - aggregates: The values to calculate.
  ///   - keys: The expressions whose values make the groups; `MagicExpression(\.$name)` is one of a property.
  ///   - filter: The condition on the objects; nil for all.
  ///   - having: The condition on the groups; nil for all.
  ///   - order: The order of the groups; equal ones, and all unless it is given, come in the order of their keys'
  ///     stored forms.
  ///   - limit: The most groups to fetch.
  ///   - offset: The number of groups to pass over first.
  /// - Returns: The groups, each with its key and its value; of several, these are tuples. A key is nil where its
  ///   expression has no value.
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func aggregate<
    Object: MagicObject, each Result, each Key: Codable & SendableMetatype
  >(
    _ aggregates: repeat Aggregate<Object, each Result>,
    by keys: repeat MagicExpression<Object, each Key>,
    where filter: Filter<Object>? = nil, having: GroupFilter<Object>? = nil,
    orderedBy order: [GroupSortKey<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> [(key: (repeat (each Key)?), value: (repeat each Result))] {
    let query = try groups(
      nodes(repeat each keys), nodes(repeat each aggregates), filter, having, order, limit, offset)
    let layout = TupleLayout(
      TupleLayout(repeat ColumnReader((each Key).self)),
      TupleLayout(repeat (each aggregates).reader))
    return try selecting(query) {
      try query.rows(
        layout, as: (key: (repeat (each Key)?), value: (repeat each Result)).self, from: $0,
        in: self)
    }
  }

  /// As the blocking form, without blocking the task.
  nonisolated(nonsending) public func aggregate<
    Object: MagicObject, each Result, each Key: Codable & SendableMetatype
  >(
    _ aggregates: repeat Aggregate<Object, each Result>,
    by keys: repeat MagicExpression<Object, each Key>,
    where filter: Filter<Object>? = nil, having: GroupFilter<Object>? = nil,
    orderedBy order: [GroupSortKey<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) async throws -> sending [(key: (repeat (each Key)?), value: (repeat each Result))] {
    let (keyNodes, nodes) = (nodes(repeat each keys), nodes(repeat each aggregates))
    let query = try await making {
      try self.groups(keyNodes, nodes, filter, having, order, limit, offset)
    }
    let layout = TupleLayout(
      TupleLayout(repeat ColumnReader((each Key).self)),
      TupleLayout(repeat (each aggregates).reader))
    return try await selecting(query) {
      Handoff(
        try query.rows(
          layout, as: (key: (repeat (each Key)?), value: (repeat each Result)).self, from: $0,
          in: self))
    }.take()
  }

  /// Calculates values of each group of objects, by properties and by what is calculated of them, blocking the
  /// thread.
  ///
  ///     for ((country, year), total) in try magic.aggregate(
  ///       .sum(\Invoice.$total), by: \.$country, and: (\Invoice.$date).year) { … }
  ///
  /// - Parameters:
  ///   - aggregates: The values to calculate.
  ///   - keys: The properties whose values make the groups.
  ///   - expressions: The expressions whose values make them besides.
  ///   - filter: The condition on the objects; nil for all.
  ///   - having: The condition on the groups; nil for all.
  ///   - order: The order of the groups; equal ones, and all unless it is given, come in the order of their keys'
  ///     stored forms.
  ///   - limit: The most groups to fetch.
  ///   - offset: The number of groups to pass over first.
  /// - Returns: The groups, each with its keys, the properties first, and its value; of several, this is a tuple.
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func aggregate<
    Object: MagicObject, each Result, each Key: MagicColumn,
    each Element: Codable & SendableMetatype
  >(
    _ aggregates: repeat Aggregate<Object, each Result>, by keys: repeat KeyPath<Object, each Key>,
    and expressions: repeat MagicExpression<Object, each Element>,
    where filter: Filter<Object>? = nil, having: GroupFilter<Object>? = nil,
    orderedBy order: [GroupSortKey<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> [(
    key: (repeat (each Key).Value, repeat (each Element)?), value: (repeat each Result)
  )] {
    let query = try groups(
      nodes(repeat each keys) + nodes(repeat each expressions), nodes(repeat each aggregates),
      filter, having, order, limit, offset)
    let layout = TupleLayout(
      TupleLayout(
        repeat ColumnReader((each Key).self), and: repeat ColumnReader((each Element).self)),
      TupleLayout(repeat (each aggregates).reader))
    return try selecting(query) {
      try query.rows(
        layout,
        as: (key: (repeat (each Key).Value, repeat (each Element)?), value: (repeat each Result))
          .self, from: $0, in: self)
    }
  }

  /// As the blocking form, without blocking the task.
  nonisolated(nonsending) public func aggregate<
    Object: MagicObject, each Result, each Key: MagicColumn,
    each Element: Codable & SendableMetatype
  >(
    _ aggregates: repeat Aggregate<Object, each Result>, by keys: repeat KeyPath<Object, each Key>,
    and expressions: repeat MagicExpression<Object, each Element>,
    where filter: Filter<Object>? = nil, having: GroupFilter<Object>? = nil,
    orderedBy order: [GroupSortKey<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) async throws
    -> sending [(
      key: (repeat (each Key).Value, repeat (each Element)?), value: (repeat each Result)
    )]
  {
    let query = try groups(
      nodes(repeat each keys) + nodes(repeat each expressions), nodes(repeat each aggregates),
      filter, having, order, limit, offset)
    let layout = TupleLayout(
      TupleLayout(
        repeat ColumnReader((each Key).self), and: repeat ColumnReader((each Element).self)),
      TupleLayout(repeat (each aggregates).reader))
    return try await selecting(query) {
      Handoff(
        try query.rows(
          layout,
          as: (key: (repeat (each Key).Value, repeat (each Element)?), value: (repeat each Result))
            .self, from: $0, in: self))
    }.take()
  }

  /// The query for values of groups: the keys first, then the values.
  private func groups<Object: MagicObject>(
    _ keys: [QueryNode], _ values: [QueryNode], _ filter: Filter<Object>?,
    _ having: GroupFilter<Object>?, _ order: [GroupSortKey<Object>], _ limit: Int?, _ offset: Int
  ) throws -> ValueQuery {
    try ValueQuery(
      keys + values, of: plan(Object.self),
      .init(of: filter, keyCount: keys.count, having, order, limit, offset), in: self)
  }

  /// The nodes of aggregates.
  func nodes<Object: MagicObject, each Result>(
    _ aggregates: repeat Aggregate<Object, each Result>
  ) -> [QueryNode] {
    var nodes: [QueryNode] = []
    for aggregate in repeat each aggregates { nodes.append(aggregate.node) }
    return nodes
  }
}
