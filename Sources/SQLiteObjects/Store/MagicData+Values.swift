import SQLiteCore
import SQLiteMapping

extension MagicData {
  /// Fetches the values of one property, without their objects, blocking the thread.
  ///
  ///     let cities = try magic.values(of: \Team.$city, orderedBy: [.ascending(\.$city)], isDistinct: true)
  ///
  /// - Parameters:
  ///   - path: A property that is a column, such as `\Team.$city` or `\Track.$album.$title`.
  ///   - filter: The condition on the objects; nil for all.
  ///   - order: The order; equal ones come in the order in which their objects were first saved.
  ///   - isDistinct: Whether each value comes once.
  ///   - limit: The most values to fetch.
  ///   - offset: The number of values to pass over first.
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func values<Object: MagicObject, Column: MagicColumn>(
    of path: KeyPath<Object, Column>, where filter: Filter<Object>? = nil,
    orderedBy order: [SortKey<Object>] = [], isDistinct: Bool = false, limit: Int? = nil,
    offset: Int = 0
  ) throws -> [Column.Value] {
    let parts = ValueQuery.Parts(filter, order, isDistinct: isDistinct, limit, offset)
    let layout = TupleLayout(ColumnReader(Column.self))
    let query = try ValueQuery([QueryNode(path)], of: plan(Object.self), parts, in: self)
    return try selecting(query) {
      try query.rows(layout, as: Column.Value.self, from: $0, in: self)
    }
  }

  /// As the blocking form, without blocking the task.
  nonisolated(nonsending) public func values<Object: MagicObject, Column: MagicColumn>(
    of path: KeyPath<Object, Column>, where filter: Filter<Object>? = nil,
    orderedBy order: [SortKey<Object>] = [], isDistinct: Bool = false, limit: Int? = nil,
    offset: Int = 0
  ) async throws -> sending [Column.Value] {
    let parts = ValueQuery.Parts(filter, order, isDistinct: isDistinct, limit, offset)
    let layout = TupleLayout(ColumnReader(Column.self))
    let query = try await making([QueryNode(path)], of: Object.self, parts)
    return try await selecting(query) {
      Handoff(try query.rows(layout, as: Column.Value.self, from: $0, in: self))
    }.take()
  }

  /// Fetches what is calculated of each object, without the objects, blocking the thread.
  ///
  ///     let counts = try magic.values(of: (\Artist.$albums).count)
  ///
  /// - Parameters:
  ///   - expression: The value.
  ///   - filter: The condition on the objects; nil for all.
  ///   - order: The order; equal ones come in the order in which their objects were first saved.
  ///   - isDistinct: Whether each value comes once.
  ///   - limit: The most values to fetch.
  ///   - offset: The number of values to pass over first.
  /// - Returns: The values, nil where the expression has none.
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func values<Object: MagicObject, Element: Codable & SendableMetatype>(
    of expression: MagicExpression<Object, Element>, where filter: Filter<Object>? = nil,
    orderedBy order: [SortKey<Object>] = [], isDistinct: Bool = false, limit: Int? = nil,
    offset: Int = 0
  ) throws -> [Element?] {
    let parts = ValueQuery.Parts(filter, order, isDistinct: isDistinct, limit, offset)
    let layout = TupleLayout(ColumnReader(Element.self))
    let query = try ValueQuery([expression.node], of: plan(Object.self), parts, in: self)
    return try selecting(query) { try query.rows(layout, as: Element?.self, from: $0, in: self) }
  }

  /// As the blocking form, without blocking the task.
  nonisolated(nonsending) public func values<
    Object: MagicObject, Element: Codable & SendableMetatype
  >(
    of expression: MagicExpression<Object, Element>, where filter: Filter<Object>? = nil,
    orderedBy order: [SortKey<Object>] = [], isDistinct: Bool = false, limit: Int? = nil,
    offset: Int = 0
  ) async throws -> sending [Element?] {
    let parts = ValueQuery.Parts(filter, order, isDistinct: isDistinct, limit, offset)
    let layout = TupleLayout(ColumnReader(Element.self))
    let query = try await making([expression.node], of: Object.self, parts)
    return try await selecting(query) {
      Handoff(try query.rows(layout, as: Element?.self, from: $0, in: self))
    }.take()
  }
}

// A tuple of one value is no type of its own to `==`, so one property has its own forms above.
extension MagicData {
  /// Fetches values of objects without the objects, blocking the thread.
  ///
  ///     for (name, title, artist) in try magic.values(
  ///       of: \Track.$name, \.$album.$title, \.$album.$artist.$name, where: \.$length > 300) { … }
  ///
  /// The objects of relations are joined; their values are nil where a relation leads nowhere.
  ///
  /// - Parameters:
  ///   - paths: Properties that are columns, such as `\Track.$name` or `\.$album.$title`.
  ///   - filter: The condition on the objects; nil for all.
  ///   - order: The order; equal ones come in the order in which their objects were first saved.
  ///   - isDistinct: Whether each combination of values comes once.
  ///   - limit: The most rows to fetch.
  ///   - offset: The number of rows to pass over first.
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func values<Object: MagicObject, each Column: MagicColumn>(
    of paths: repeat KeyPath<Object, each Column>, where filter: Filter<Object>? = nil,
    orderedBy order: [SortKey<Object>] = [], isDistinct: Bool = false, limit: Int? = nil,
    offset: Int = 0
  ) throws -> [(repeat (each Column).Value)] {
    let parts = ValueQuery.Parts(filter, order, isDistinct: isDistinct, limit, offset)
    let query = try ValueQuery(nodes(repeat each paths), of: plan(Object.self), parts, in: self)
    let layout = TupleLayout(repeat ColumnReader((each Column).self))
    return try selecting(query) {
      try query.rows(layout, as: (repeat (each Column).Value).self, from: $0, in: self)
    }
  }

  /// As ``values(of:where:orderedBy:isDistinct:limit:offset:)``, without blocking the task.
  nonisolated(nonsending) public func values<Object: MagicObject, each Column: MagicColumn>(
    of paths: repeat KeyPath<Object, each Column>, where filter: Filter<Object>? = nil,
    orderedBy order: [SortKey<Object>] = [], isDistinct: Bool = false, limit: Int? = nil,
    offset: Int = 0
  ) async throws -> sending [(repeat (each Column).Value)] {
    let parts = ValueQuery.Parts(filter, order, isDistinct: isDistinct, limit, offset)
    let query = try await making(nodes(repeat each paths), of: Object.self, parts)
    let layout = TupleLayout(repeat ColumnReader((each Column).self))
    return try await selecting(query) {
      Handoff(try query.rows(layout, as: (repeat (each Column).Value).self, from: $0, in: self))
    }
    .take()
  }

  /// Fetches what is calculated of objects without the objects, blocking the thread.
  ///
  ///     try magic.values(of: MagicExpression(\.$name), (\Artist.$albums).count)
  ///
  /// - Parameters:
  ///   - expressions: The values; `MagicExpression(\.$name)` is one of a property.
  ///   - filter: The condition on the objects; nil for all.
  ///   - order: The order; equal ones come in the order in which their objects were first saved.
  ///   - isDistinct: Whether each combination of values comes once.
  ///   - limit: The most rows to fetch.
  ///   - offset: The number of rows to pass over first.
  /// - Returns: The values, nil where an expression has none.
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func values<Object: MagicObject, each Element: Codable & SendableMetatype>(
    of expressions: repeat MagicExpression<Object, each Element>,
    where filter: Filter<Object>? = nil, orderedBy order: [SortKey<Object>] = [],
    isDistinct: Bool = false, limit: Int? = nil, offset: Int = 0
  ) throws -> [(repeat (each Element)?)] {
    let parts = ValueQuery.Parts(filter, order, isDistinct: isDistinct, limit, offset)
    let query = try ValueQuery(
      nodes(repeat each expressions), of: plan(Object.self), parts, in: self)
    let layout = TupleLayout(repeat ColumnReader((each Element).self))
    return try selecting(query) {
      try query.rows(layout, as: (repeat (each Element)?).self, from: $0, in: self)
    }
  }

  /// As the blocking form, without blocking the task.
  nonisolated(nonsending) public func values<
    Object: MagicObject, each Element: Codable & SendableMetatype
  >(
    of expressions: repeat MagicExpression<Object, each Element>,
    where filter: Filter<Object>? = nil, orderedBy order: [SortKey<Object>] = [],
    isDistinct: Bool = false, limit: Int? = nil, offset: Int = 0
  ) async throws -> sending [(repeat (each Element)?)] {
    let parts = ValueQuery.Parts(filter, order, isDistinct: isDistinct, limit, offset)
    let query = try await making(nodes(repeat each expressions), of: Object.self, parts)
    let layout = TupleLayout(repeat ColumnReader((each Element).self))
    return try await selecting(query) {
      Handoff(try query.rows(layout, as: (repeat (each Element)?).self, from: $0, in: self))
    }
    .take()
  }

  /// Fetches values of objects and what is calculated of them, without the objects, blocking the thread.
  ///
  ///     for (name, country, spent) in try magic.values(
  ///       of: \Customer.$name, \.$country, and: (\Customer.$invoices).sum(\.$total)) { … }
  ///
  /// - Parameters:
  ///   - paths: Properties that are columns, such as `\Track.$name` or `\.$album.$title`.
  ///   - expressions: What is calculated.
  ///   - filter: The condition on the objects; nil for all.
  ///   - order: The order; equal ones come in the order in which their objects were first saved.
  ///   - isDistinct: Whether each combination of values comes once.
  ///   - limit: The most rows to fetch.
  ///   - offset: The number of rows to pass over first.
  /// - Returns: The values of the properties, and behind them those of the expressions, nil where one has none.
  /// - Throws: ``MagicError`` or `SQLiteError`.
  public func values<
    Object: MagicObject, each Column: MagicColumn, each Element: Codable & SendableMetatype
  >(
    of paths: repeat KeyPath<Object, each Column>,
    and expressions: repeat MagicExpression<Object, each Element>,
    where filter: Filter<Object>? = nil, orderedBy order: [SortKey<Object>] = [],
    isDistinct: Bool = false, limit: Int? = nil, offset: Int = 0
  ) throws -> [(repeat (each Column).Value, repeat (each Element)?)] {
    let parts = ValueQuery.Parts(filter, order, isDistinct: isDistinct, limit, offset)
    let nodes = nodes(repeat each paths) + nodes(repeat each expressions)
    let query = try ValueQuery(nodes, of: plan(Object.self), parts, in: self)
    let layout = TupleLayout(
      repeat ColumnReader((each Column).self), and: repeat ColumnReader((each Element).self))
    return try selecting(query) {
      try query.rows(
        layout, as: (repeat (each Column).Value, repeat (each Element)?).self, from: $0, in: self)
    }
  }

  /// As the blocking form, without blocking the task.
  nonisolated(nonsending) public func values<
    Object: MagicObject, each Column: MagicColumn, each Element: Codable & SendableMetatype
  >(
    of paths: repeat KeyPath<Object, each Column>,
    and expressions: repeat MagicExpression<Object, each Element>,
    where filter: Filter<Object>? = nil, orderedBy order: [SortKey<Object>] = [],
    isDistinct: Bool = false, limit: Int? = nil, offset: Int = 0
  ) async throws -> sending [(repeat (each Column).Value, repeat (each Element)?)] {
    let parts = ValueQuery.Parts(filter, order, isDistinct: isDistinct, limit, offset)
    let nodes = nodes(repeat each paths) + nodes(repeat each expressions)
    let query = try ValueQuery(nodes, of: plan(Object.self), parts, in: self)
    let layout = TupleLayout(
      repeat ColumnReader((each Column).self), and: repeat ColumnReader((each Element).self))
    return try await selecting(query) {
      Handoff(
        try query.rows(
          layout, as: (repeat (each Column).Value, repeat (each Element)?).self, from: $0, in: self)
      )
    }
    .take()
  }

  /// Fetches values of objects as any `Decodable` type, blocking the thread.
  ///
  ///     struct Line: Decodable { var name: String; var album: Album?; struct Album: Decodable { var title: String } }
  ///     let lines = try magic.values(of: \Track.$name, \.$album.$title, as: Line.self)
  ///
  /// A value has the name of its property, behind relations with theirs before it: `album.title`. A nested
  /// type takes the values whose names begin with its property's name and a dot; a coding key may also be
  /// such a name as a whole.
  ///
  /// - Parameters:
  ///   - paths: Properties that are columns.
  ///   - type: The type of the rows.
  ///   - filter: The condition on the objects; nil for all.
  ///   - order: The order; equal ones come in the order in which their objects were first saved.
  ///   - isDistinct: Whether each combination of values comes once.
  ///   - limit: The most rows to fetch.
  ///   - offset: The number of rows to pass over first.
  /// - Throws: ``MagicError``, `SQLiteError` or `RowDecodingError`.
  public func values<Object: MagicObject, each Column: MagicColumn, Row: Decodable>(
    of paths: repeat KeyPath<Object, each Column>, as type: Row.Type,
    where filter: Filter<Object>? = nil, orderedBy order: [SortKey<Object>] = [],
    isDistinct: Bool = false, limit: Int? = nil, offset: Int = 0
  ) throws -> [Row] {
    let parts = ValueQuery.Parts(filter, order, isDistinct: isDistinct, limit, offset)
    let query = try namedQuery(Object.self, nodes(repeat each paths), parts)
    return try selecting(query) { try query.objects(of: type, $0, in: self) }
  }

  /// As the blocking form, without blocking the task.
  nonisolated(nonsending) public func values<
    Object: MagicObject, each Column: MagicColumn, Row: Decodable & SendableMetatype
  >(
    of paths: repeat KeyPath<Object, each Column>, as type: Row.Type,
    where filter: Filter<Object>? = nil, orderedBy order: [SortKey<Object>] = [],
    isDistinct: Bool = false, limit: Int? = nil, offset: Int = 0
  ) async throws -> sending [Row] {
    let parts = ValueQuery.Parts(filter, order, isDistinct: isDistinct, limit, offset)
    let nodes = nodes(repeat each paths)
    let query = try await making { try self.namedQuery(Object.self, nodes, parts) }
    return try await selecting(query) { Handoff(try query.objects(of: type, $0, in: self)) }.take()
  }

  /// Lends values of objects one row after the other, in the memory of one, blocking the thread.
  ///
  ///     try magic.forEachValue(of: \Track.$name, \.$album.$title) { name, title in print(name, title ?? "") }
  ///
  /// All rows are of one snapshot.
  ///
  /// - Parameters:
  ///   - paths: Properties that are columns.
  ///   - filter: The condition on the objects; nil for all.
  ///   - order: The order; equal ones come in the order in which their objects were first saved.
  ///   - body: Takes the values of one row. An error of it ends the query.
  /// - Throws: ``MagicError``, `SQLiteError` or what `body` throws.
  public func forEachValue<Object: MagicObject, each Column: MagicColumn>(
    of paths: repeat KeyPath<Object, each Column>, where filter: Filter<Object>? = nil,
    orderedBy order: [SortKey<Object>] = [],
    _ body: (repeat (each Column).Value) throws -> Void
  ) throws {
    let parts = ValueQuery.Parts(filter, order)
    let query = try ValueQuery(nodes(repeat each paths), of: plan(Object.self), parts, in: self)
    let layout = TupleLayout(repeat ColumnReader((each Column).self))
    try selecting(query) {
      try query.forEachRow($0, in: self) { row in
        let values = try layout.columns.tuple(row, as: (repeat (each Column).Value).self)
        try body(repeat each values)
      }
    }
  }

  /// As ``forEachValue(of:where:orderedBy:_:)``, without blocking the task: `body` runs on a thread of the
  /// database's own.
  nonisolated(nonsending) public func forEachValue<Object: MagicObject, each Column: MagicColumn>(
    of paths: repeat KeyPath<Object, each Column>, where filter: Filter<Object>? = nil,
    orderedBy order: [SortKey<Object>] = [],
    _ body: @escaping @Sendable (repeat (each Column).Value) throws -> Void
  ) async throws {
    let parts = ValueQuery.Parts(filter, order)
    let query = try await making(nodes(repeat each paths), of: Object.self, parts)
    let layout = TupleLayout(repeat ColumnReader((each Column).self))
    // `selecting` may begin twice.
    try await reading(query.plan) {
      try query.forEachRow($0, in: self) { row in
        let values = try layout.columns.tuple(row, as: (repeat (each Column).Value).self)
        try body(repeat each values)
      }
    }
  }

  /// A query whose columns have the names of the properties that lead to them.
  private func namedQuery<Object: MagicObject>(
    _ type: Object.Type, _ nodes: [QueryNode], _ parts: ValueQuery.Parts
  ) throws -> ValueQuery {
    let plan = try plan(type)
    let names = try nodes.map { node in
      guard case .column(let slots) = node else { return "" }
      var (plan, names) = (plan, [String]())
      for slot in slots {
        names.append(plan.properties[slot].name)
        if let target = plan.properties[slot].role.target { plan = try self.plan(target) }
      }
      return names.joined(separator: ".")
    }
    return try ValueQuery(nodes, names: names, of: plan, parts, in: self)
  }
}

// The parts that the calls above share with those for groups.
extension MagicData {
  /// Runs a body that reads one query, without a transaction if the tables are known.
  func selecting<Result>(
    _ query: ValueQuery, _ body: (Connection) throws -> Result
  ) throws -> Result {
    guard isReady(query.plan) else { return try reading(query.plan, body) }
    return try onceMoreIfTablesChanged {
      try select(body)
    } again: {
      try reading(query.plan, body)
    }
  }

  /// As the blocking form, without blocking the task.
  nonisolated(nonsending) func selecting<Result: Sendable>(
    _ query: ValueQuery, _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    guard isReady(query.plan) else { return try await reading(query.plan, body) }
    return try await onceMoreIfTablesChanged {
      try await select(body)
    } again: {
      try await reading(query.plan, body)
    }
  }

  /// Makes a query without blocking the task: ``making(_:)``.
  nonisolated(nonsending) func making<Object: MagicObject>(
    _ nodes: [QueryNode], of type: Object.Type, _ parts: ValueQuery.Parts
  ) async throws -> ValueQuery {
    let plan = try plan(type)
    return try await making { try ValueQuery(nodes, of: plan, parts, in: self) }
  }

  /// The columns that paths lead to.
  func nodes<Object: MagicObject, each Column: MagicColumn>(
    _ paths: repeat KeyPath<Object, each Column>
  ) -> [QueryNode] {
    var nodes: [QueryNode] = []
    for path in repeat each paths { nodes.append(QueryNode(path)) }
    return nodes
  }

  /// The nodes of expressions.
  func nodes<Object: MagicObject, each Element>(
    _ expressions: repeat MagicExpression<Object, each Element>
  ) -> [QueryNode] {
    var nodes: [QueryNode] = []
    for expression in repeat each expressions { nodes.append(expression.node) }
    return nodes
  }
}
