import SQLiteCore
import SQLiteMapping

// Live results of aggregates, groups and values, as `aggregate` and `values` give them.
extension MagicData {
  /// Fetches the values of one property, and fetches them anew after each commit that has changed them.
  ///
  ///     for try await cities in magic.observe(valuesOf: \Team.$city, isDistinct: true) { … }
  ///
  /// Else as ``observe(_:)``.
  ///
  /// - Parameters:
  ///   - path: A property that is no relation, such as `\Team.$city`.
  ///   - filter: The condition on the objects; nil for all.
  ///   - order: The order of the values.
  ///   - isDistinct: Whether each value comes once.
  ///   - limit: The most values to fetch.
  ///   - offset: The number of values to pass over first.
  public func observe<Object: MagicObject, Column: MagicColumn>(
    valuesOf path: KeyPath<Object, Column>, where filter: Filter<Object>? = nil,
    orderedBy order: [SortKey<Object>] = [], isDistinct: Bool = false, limit: Int? = nil,
    offset: Int = 0
  ) -> ObservedResults<[Column.Value]> {
    let parts = ValueQuery.Parts(filter, order, isDistinct: isDistinct, limit, offset)
    return observe(Object.self, [QueryNode(path)], parts) { values in
      try values.map { try Column.value(from: $0) }
    }
  }

  /// Calculates one value of many objects, and calculates it anew after each commit that has changed it.
  ///
  ///     for try await total in magic.observe(.sum(\Order.$amount), where: \.$isPaid == false) { … }
  ///
  /// Else as ``observe(_:)``.
  ///
  /// - Parameters:
  ///   - aggregate: The value to calculate.
  ///   - filter: The condition on the objects; nil for all.
  public func observe<Object: MagicObject, Result>(
    _ aggregate: Aggregate<Object, Result>, where filter: Filter<Object>? = nil
  ) -> ObservedResults<Result> {
    observe(Object.self, [aggregate.node], .init(of: filter)) {
      [result = aggregate.result, resultOfNone = aggregate.resultOfNone] values in
      // Without a table there is no row.
      try values.first.map(result) ?? resultOfNone()
    }
  }

  /// Calculates values of many objects, and calculates them anew after each commit that has changed one of them.
  ///
  ///     for try await (count, total) in magic.observe(.count, .sum(\Order.$amount)) { … }
  ///
  /// Else as ``observe(_:)``.
  ///
  /// - Parameters:
  ///   - aggregates: The values to calculate.
  ///   - filter: The condition on the objects; nil for all.
  public func observe<Object: MagicObject, each Result>(
    _ aggregates: repeat Aggregate<Object, each Result>, where filter: Filter<Object>? = nil
  ) -> ObservedResults<(repeat each Result)> {
    let aggregates = (repeat each aggregates)
    return observe(Object.self, nodes(repeat each aggregates), .init(of: filter)) { values in
      var row = StoredValues(values)
      // Without a table there is no row.
      return values.isEmpty
        ? (repeat try (each aggregates).resultOfNone())
        : (repeat try (each aggregates).result(row.next()))
    }
  }

  /// Calculates a value of each group of objects, and calculates them anew after each commit that has changed one
  /// of them.
  ///
  ///     for try await ages in magic.observe(.average(\Player.$age), by: \.$team.$title) { … }
  ///
  /// Else as ``observe(_:)``.
  ///
  /// - Parameters:
  ///   - aggregate: The value to calculate.
  ///   - key: The property whose values make the groups.
  ///   - filter: The condition on the objects; nil for all.
  ///   - having: The condition on the groups; nil for all.
  ///   - order: The order of the groups; equal ones come in the order of their keys' stored forms.
  ///   - limit: The most groups to fetch.
  ///   - offset: The number of groups to pass over first.
  public func observe<
    Object: MagicObject, Result, Key: MagicColumn
  >(
    _ aggregate: Aggregate<Object, Result>, by key: KeyPath<Object, Key>,
    where filter: Filter<Object>? = nil, having: GroupFilter<Object>? = nil,
    orderedBy order: [GroupSortKey<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) -> ObservedResults<[(key: Key.Value, value: Result)]> {
    let keys = [QueryNode(key)], values = [aggregate.node]
    let parts = ValueQuery.Parts(of: filter, keyCount: 1, having, order, limit, offset)
    return observe(Object.self, keys + values, parts) { stored in
      try StoredValues.rows(of: stored) { row in
        (try Key.value(from: row.next()), try aggregate.result(row.next()))
      }
    }
  }

  /// Calculates a value of each group of objects, by what is calculated of them, and calculates them anew after each
  /// commit that has changed one of them.
  ///
  ///     for try await numbers in magic.observe(.count, by: (\Invoice.$date).year) { … }
  ///
  /// Else as ``observe(_:)``.
  ///
  /// - Parameters:
  ///   - aggregate: The value to calculate.
  ///   - key: The expression whose values make the groups.
  ///   - filter: The condition on the objects; nil for all.
  ///   - having: The condition on the groups; nil for all.
  ///   - order: The order of the groups; equal ones come in the order of their keys' stored forms.
  ///   - limit: The most groups to fetch.
  ///   - offset: The number of groups to pass over first.
  public func observe<
    Object: MagicObject, Result, Key: Codable & SendableMetatype
  >(
    _ aggregate: Aggregate<Object, Result>, by key: MagicExpression<Object, Key>,
    where filter: Filter<Object>? = nil, having: GroupFilter<Object>? = nil,
    orderedBy order: [GroupSortKey<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) -> ObservedResults<[(key: Key?, value: Result)]> {
    let keys = [key.node], values = [aggregate.node]
    let parts = ValueQuery.Parts(of: filter, keyCount: 1, having, order, limit, offset)
    return observe(Object.self, keys + values, parts) { stored in
      try StoredValues.rows(of: stored) { row in
        (try row.next(as: Key.self), try aggregate.result(row.next()))
      }
    }
  }

  /// Calculates values of each group of objects, and calculates them anew after each commit that has changed one
  /// of them.
  ///
  ///     let teams = magic.observe(.count, .average(\Player.$age), by: \.$team.$title, \.$team.$city, limit: 10)
  ///     for try await groups in teams { … }
  ///
  /// Else as ``observe(_:)``.
  ///
  /// - Parameters:
  ///   - aggregates: The values to calculate.
  ///   - keys: The properties whose values make the groups.
  ///   - filter: The condition on the objects; nil for all.
  ///   - having: The condition on the groups; nil for all.
  ///   - order: The order of the groups; equal ones come in the order of their keys' stored forms.
  ///   - limit: The most groups to fetch.
  ///   - offset: The number of groups to pass over first.
  public func observe<
    Object: MagicObject, each Result, each Key: MagicColumn
  >(
    _ aggregates: repeat Aggregate<Object, each Result>, by keys: repeat KeyPath<Object, each Key>,
    where filter: Filter<Object>? = nil, having: GroupFilter<Object>? = nil,
    orderedBy order: [GroupSortKey<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) -> ObservedResults<[(key: (repeat (each Key).Value), value: (repeat each Result))]> {
    let aggregates = (repeat each aggregates)
    let keys = nodes(repeat each keys), values = nodes(repeat each aggregates)
    let parts = ValueQuery.Parts(of: filter, keyCount: keys.count, having, order, limit, offset)
    return observe(Object.self, keys + values, parts) { stored in
      try StoredValues.rows(of: stored) { row in
        (
          (repeat try (each Key).value(from: row.next())),
          (repeat try (each aggregates).result(row.next()))
        )
      }
    }
  }

  /// Calculates values of each group of objects, by what is calculated of them, and calculates them anew after each
  /// commit that has changed one of them.
  ///
  ///     let years = magic.observe(.count, .sum(\Invoice.$total), by: (\Invoice.$date).year, (\Invoice.$date).month)
  ///     for try await groups in years { … }
  ///
  /// Else as ``observe(_:)``.
  ///
  /// - Parameters:
  ///   - aggregates: The values to calculate.
  ///   - keys: The expressions whose values make the groups.
  ///   - filter: The condition on the objects; nil for all.
  ///   - having: The condition on the groups; nil for all.
  ///   - order: The order of the groups; equal ones come in the order of their keys' stored forms.
  ///   - limit: The most groups to fetch.
  ///   - offset: The number of groups to pass over first.
  public func observe<
    Object: MagicObject, each Result, each Key: Codable & SendableMetatype
  >(
    _ aggregates: repeat Aggregate<Object, each Result>,
    by keys: repeat MagicExpression<Object, each Key>,
    where filter: Filter<Object>? = nil, having: GroupFilter<Object>? = nil,
    orderedBy order: [GroupSortKey<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) -> ObservedResults<[(key: (repeat (each Key)?), value: (repeat each Result))]> {
    let aggregates = (repeat each aggregates)
    let keys = nodes(repeat each keys), values = nodes(repeat each aggregates)
    let parts = ValueQuery.Parts(of: filter, keyCount: keys.count, having, order, limit, offset)
    return observe(Object.self, keys + values, parts) { stored in
      try StoredValues.rows(of: stored) { row in
        (
          (repeat try row.next(as: (each Key).self)),
          (repeat try (each aggregates).result(row.next()))
        )
      }
    }
  }

  /// Calculates values of each group of objects, by properties and by what is calculated of them, and calculates them
  /// anew after each commit that has changed one of them.
  ///
  ///     let sales = magic.observe(.sum(\Invoice.$total), by: \.$country, and: (\Invoice.$date).year)
  ///     for try await groups in sales { … }
  ///
  /// Else as ``observe(_:)``.
  ///
  /// - Parameters:
  ///   - aggregates: The values to calculate.
  ///   - keys: The properties whose values make the groups.
  ///   - expressions: The expressions whose values make them besides.
  ///   - filter: The condition on the objects; nil for all.
  ///   - having: The condition on the groups; nil for all.
  ///   - order: The order of the groups; equal ones come in the order of their keys' stored forms.
  ///   - limit: The most groups to fetch.
  ///   - offset: The number of groups to pass over first.
  public func observe<
    Object: MagicObject, each Result, each Key: MagicColumn,
    each Element: Codable & SendableMetatype
  >(
    _ aggregates: repeat Aggregate<Object, each Result>, by keys: repeat KeyPath<Object, each Key>,
    and expressions: repeat MagicExpression<Object, each Element>,
    where filter: Filter<Object>? = nil, having: GroupFilter<Object>? = nil,
    orderedBy order: [GroupSortKey<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) -> ObservedResults<
    [(key: (repeat (each Key).Value, repeat (each Element)?), value: (repeat each Result))]
  > {
    let aggregates = (repeat each aggregates)
    let keys = nodes(repeat each keys) + nodes(repeat each expressions)
    let values = nodes(repeat each aggregates)
    let parts = ValueQuery.Parts(of: filter, keyCount: keys.count, having, order, limit, offset)
    return observe(Object.self, keys + values, parts) { stored in
      try StoredValues.rows(of: stored) { row in
        (
          (
            repeat try (each Key).value(from: row.next()),
            repeat try row.next(as: (each Element).self)
          ),
          (repeat try (each aggregates).result(row.next()))
        )
      }
    }
  }

  /// Fetches what is calculated of each object, and fetches them anew after each commit that has
  /// changed them.
  ///
  ///     for try await numbers in magic.observe(valuesOf: (\Artist.$albums).count) { … }
  ///
  /// Else as ``observe(_:)``.
  ///
  /// - Parameters:
  ///   - expression: The value.
  ///   - filter: The condition on the objects; nil for all.
  ///   - order: The order of the values.
  ///   - isDistinct: Whether each combination of values comes once.
  ///   - limit: The most rows to fetch.
  ///   - offset: The number of rows to pass over first.
  public func observe<
    Object: MagicObject, Element: Codable & SendableMetatype
  >(
    valuesOf expression: MagicExpression<Object, Element>,
    where filter: Filter<Object>? = nil, orderedBy order: [SortKey<Object>] = [],
    isDistinct: Bool = false, limit: Int? = nil, offset: Int = 0
  ) -> ObservedResults<[Element?]> {
    let parts = ValueQuery.Parts(filter, order, isDistinct: isDistinct, limit, offset)
    return observe(Object.self, [expression.node], parts) { stored in
      try StoredValues.rows(of: stored) { row in
        try row.next(as: Element.self)
      }
    }
  }

  /// Fetches values of objects, and fetches them anew after each commit that has
  /// changed them.
  ///
  ///     for try await rows in magic.observe(valuesOf: \Track.$name, \.$album.$title) { … }
  ///
  /// Else as ``observe(_:)``.
  ///
  /// - Parameters:
  ///   - paths: Properties that are columns.
  ///   - filter: The condition on the objects; nil for all.
  ///   - order: The order of the values.
  ///   - isDistinct: Whether each combination of values comes once.
  ///   - limit: The most rows to fetch.
  ///   - offset: The number of rows to pass over first.
  public func observe<
    Object: MagicObject, each Column: MagicColumn
  >(
    valuesOf paths: repeat KeyPath<Object, each Column>,
    where filter: Filter<Object>? = nil, orderedBy order: [SortKey<Object>] = [],
    isDistinct: Bool = false, limit: Int? = nil, offset: Int = 0
  ) -> ObservedResults<[(repeat (each Column).Value)]> {
    let parts = ValueQuery.Parts(filter, order, isDistinct: isDistinct, limit, offset)
    return observe(Object.self, nodes(repeat each paths), parts) { stored in
      try StoredValues.rows(of: stored) { row in
        (repeat try (each Column).value(from: row.next()))
      }
    }
  }

  /// Fetches what is calculated of objects, and fetches them anew after each commit that has
  /// changed them.
  ///
  ///     for try await rows in magic.observe(valuesOf: (\Artist.$name).lowercased(), (\Artist.$albums).count) { … }
  ///
  /// Else as ``observe(_:)``.
  ///
  /// - Parameters:
  ///   - expressions: The values.
  ///   - filter: The condition on the objects; nil for all.
  ///   - order: The order of the values.
  ///   - isDistinct: Whether each combination of values comes once.
  ///   - limit: The most rows to fetch.
  ///   - offset: The number of rows to pass over first.
  public func observe<
    Object: MagicObject, each Element: Codable & SendableMetatype
  >(
    valuesOf expressions: repeat MagicExpression<Object, each Element>,
    where filter: Filter<Object>? = nil, orderedBy order: [SortKey<Object>] = [],
    isDistinct: Bool = false, limit: Int? = nil, offset: Int = 0
  ) -> ObservedResults<[(repeat (each Element)?)]> {
    let parts = ValueQuery.Parts(filter, order, isDistinct: isDistinct, limit, offset)
    return observe(Object.self, nodes(repeat each expressions), parts) { stored in
      try StoredValues.rows(of: stored) { row in
        (repeat try row.next(as: (each Element).self))
      }
    }
  }

  /// Fetches values of objects and what is calculated of them, and fetches them anew after each commit that has
  /// changed them.
  ///
  ///     for try await rows in magic.observe(valuesOf: \Artist.$name, and: (\Artist.$albums).count) { … }
  ///
  /// Else as ``observe(_:)``.
  ///
  /// - Parameters:
  ///   - paths: Properties that are columns.
  ///   - expressions: What is calculated.
  ///   - filter: The condition on the objects; nil for all.
  ///   - order: The order of the values.
  ///   - isDistinct: Whether each combination of values comes once.
  ///   - limit: The most rows to fetch.
  ///   - offset: The number of rows to pass over first.
  public func observe<
    Object: MagicObject, each Column: MagicColumn, each Element: Codable & SendableMetatype
  >(
    valuesOf paths: repeat KeyPath<Object, each Column>,
    and expressions: repeat MagicExpression<Object, each Element>,
    where filter: Filter<Object>? = nil, orderedBy order: [SortKey<Object>] = [],
    isDistinct: Bool = false, limit: Int? = nil, offset: Int = 0
  ) -> ObservedResults<[(repeat (each Column).Value, repeat (each Element)?)]> {
    let parts = ValueQuery.Parts(filter, order, isDistinct: isDistinct, limit, offset)
    return observe(Object.self, nodes(repeat each paths) + nodes(repeat each expressions), parts) {
      stored in
      try StoredValues.rows(of: stored) { row in
        (
          repeat try (each Column).value(from: row.next()),
          repeat try row.next(as: (each Element).self)
        )
      }
    }
  }

  /// Observes the columns of a query.
  ///
  /// - Parameter make: Makes the result of the stored values, row by row.
  private func observe<Object: MagicObject, Result>(
    _ type: Object.Type, _ nodes: [QueryNode], _ parts: ValueQuery.Parts,
    _ make: @escaping @Sendable ([Value]) throws -> Result
  ) -> ObservedResults<Result> {
    let others = nodes + parts.order.map(\.node) + (parts.having.map { [$0] } ?? [])
    return ObservedResults(self, condition(type, parts.filter, others: others)) {
      magic, observation in
      let query = try ValueQuery(nodes, of: magic.plan(type), parts, in: magic)
      return try await magic.reading(query.plan) { connection in
        try observation.take(connection) {
          var values: [Value] = []
          try query.forEachRow(connection, in: magic) { row in
            for column in nodes.indices { values.append(try row.value(at: Int32(column))) }
          }
          let found = values
          return (ResultPrint(values: found), { try make(found) })
        }
      }
    }
  }
}

/// The values of a result, read one after the other.
private struct StoredValues {
  private let values: [Value]
  private var index = 0

  init(_ values: [Value]) { self.values = values }

  /// The next value.
  mutating func next() -> Value {
    defer { index += 1 }
    return values[index]
  }

  /// The next value of an expression, which may be nil.
  mutating func next<Element: Codable>(as type: Element.Type) throws -> Element? {
    let stored = next()
    return stored.isNull ? nil : try Storage.value(Element.self, of: stored)
  }

  /// Makes all rows. Each takes the same number of values.
  static func rows<Row>(
    of values: [Value], _ make: (inout StoredValues) throws -> Row
  ) throws -> [Row] {
    var (row, rows) = (StoredValues(values), [Row]())
    while row.index < values.count { rows.append(try make(&row)) }
    return rows
  }
}
