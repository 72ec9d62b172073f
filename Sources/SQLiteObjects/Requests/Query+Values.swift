import SQLiteCore
import SQLiteMapping

/// The rows of a request: one for each object, or one for each group of objects.
struct RowRequest: Sendable {
  let query: QueryParts
  /// Nil for a row of each object.
  let groups: Groups?
  /// The columns.
  let nodes: [QueryNode]
  /// Reads the columns as a row.
  let layout: TupleLayout

  /// The request for an array of the rows.
  ///
  /// - Parameter type: The type of a row, which the layout fits.
  func request<Row>(_ type: Row.Type = Row.self) -> Request<[Row]> {
    Request(rows: self) { store in
      let query = try self.query(in: store)
      return PreparedRequest(query.plan, isOneStatement: true, query.rowFilter) {
        [layout] connection, print in
        let rows = Handoff(
          try query.rows(layout, as: Row.self, from: connection, in: store, &print))
        return { rows.take() }
      }
    }
  }

  /// The query, written for a store.
  func query(in store: any ObjectStore) throws -> ValueQuery {
    try ValueQuery(nodes, of: query, groups, in: store)
  }

  /// Passes the rows of the query to a closure one by one.
  func forEach<Row>(
    _ query: ValueQuery, in store: any ObjectStore, _ connection: Connection,
    _ body: (sending Row) throws -> Void
  ) throws {
    try query.forEachRow(connection, in: store) { row in
      try body(Handoff(layout.columns.tuple(row, as: Row.self)).take())
    }
  }
}

// A tuple of one element from a parameter pack isn't the element's type to the type checker, so one column has overloads.
extension Query {
  private func rows<Row>(_ nodes: [QueryNode], _ layout: TupleLayout) -> Request<[Row]> {
    RowRequest(query: parts, groups: nil, nodes: nodes, layout: layout).request()
  }

  /// A request for values of one property, without the objects.
  ///
  ///     let names = try magic.fetch(City.all.values(\.$name))                           // [String]
  ///
  /// - Parameter path: A property that is stored in a column, such as `\.$name` or `\.$album.$title`.
  public func values<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>
  ) -> Request<[Column.Value]> {
    rows([QueryNode(path)], TupleLayout(ColumnReader(Column.self)))
  }

  /// A request for a value that is computed from each object.
  ///
  ///     let counts = try magic.fetch(Artist.all.values((\.$albums).count))               // [Int?]
  ///
  /// - Parameter expression: The expression.
  public func values<Element: Codable & SendableMetatype>(
    _ expression: MagicExpression<Object, Element>
  ) -> Request<[Element?]> {
    rows([expression.node], TupleLayout(ColumnReader(Element.self)))
  }

  /// A request for values of properties, without the objects.
  ///
  ///     let tracks = try magic.fetch(Track.all.values(\.$name, \.$album.$title))        // [(String, String?)]
  ///
  /// Related objects are joined. Their values are nil where a relation is nil.
  ///
  /// - Parameter paths: Properties that are stored in a column, such as `\.$name` or `\.$album.$title`.
  public func values<each Column: MagicColumn>(
    _ paths: repeat KeyPath<Object, each Column>
  ) -> Request<[(repeat (each Column).Value)]> {
    rows(
      nodes(repeat each paths), TupleLayout(repeat ColumnReader((each Column).self)))
  }

  /// A request for values that are computed from each object.
  ///
  /// - Parameter expressions: The expressions. Use `MagicExpression(\.$name)` for a property.
  public func values<each Element: Codable & SendableMetatype>(
    _ expressions: repeat MagicExpression<Object, each Element>
  ) -> Request<[(repeat (each Element)?)]> {
    rows(
      nodes(repeat each expressions), TupleLayout(repeat ColumnReader((each Element).self)))
  }

  /// A request for values of properties, followed by values that are computed from each object.
  ///
  ///     Customer.all.values(\.$name, \.$country, and: (\Customer.$invoices).sum(\.$total))
  ///
  /// - Parameters:
  ///   - paths: Properties that are stored in a column, such as `\.$name` or `\.$album.$title`.
  ///   - expressions: The expressions.
  public func values<each Column: MagicColumn, each Element: Codable & SendableMetatype>(
    _ paths: repeat KeyPath<Object, each Column>,
    and expressions: repeat MagicExpression<Object, each Element>
  ) -> Request<[(repeat (each Column).Value, repeat (each Element)?)]> {
    rows(
      nodes(repeat each paths) + nodes(repeat each expressions),
      TupleLayout(
        repeat ColumnReader((each Column).self), and: repeat ColumnReader((each Element).self)))
  }

  /// A request for values of properties, decoded as a type.
  ///
  ///     struct Line: Decodable { var name: String; var album: Album?; struct Album: Decodable { var title: String } }
  ///     let lines = try magic.fetch(Track.all.values(\.$name, \.$album.$title, as: Line.self))
  ///
  /// A value is decoded by the name of its property. Through relations, their names precede it: `album.title`. A nested
  /// type decodes the values whose names start with its property's name and a dot. A coding key can also be such a name
  /// as a whole.
  ///
  /// - Parameters:
  ///   - paths: Properties that are stored in a column.
  ///   - type: The type of the rows. A row that doesn't fit it throws `RowDecodingError`.
  public func values<each Column: MagicColumn, Row: Decodable & SendableMetatype>(
    _ paths: repeat KeyPath<Object, each Column>, as type: Row.Type
  ) -> Request<[Row]> {
    let nodes = nodes(repeat each paths)
    return Request { [parts] store in
      let names = try store.plan(Object.self).names(of: nodes, in: store)
      let query = try ValueQuery(nodes, names: names, of: parts, in: store)
      return PreparedRequest(query.plan, isOneStatement: true, query.rowFilter) {
        connection, print in
        let rows = Handoff(try query.objects(of: type, connection, in: store, &print))
        return { rows.take() }
      }
    }
  }

  /// The columns of properties.
  func nodes<each Column: MagicColumn>(_ paths: repeat KeyPath<Object, each Column>) -> [QueryNode]
  {
    var nodes: [QueryNode] = []
    for path in repeat each paths { nodes.append(QueryNode(path)) }
    return nodes
  }

  /// The nodes of expressions.
  func nodes<each Element>(
    _ expressions: repeat MagicExpression<Object, each Element>
  ) -> [QueryNode] {
    var nodes: [QueryNode] = []
    for expression in repeat each expressions { nodes.append(expression.node) }
    return nodes
  }
}

extension ObjectPlan {
  /// The names of columns: those of the properties on their paths, joined by dots.
  fileprivate func names(of nodes: [QueryNode], in store: any ObjectStore) throws -> [String] {
    try nodes.map { node in
      guard case .column(let slots) = node else { return "" }
      var (plan, names) = (self, [String]())
      for slot in slots {
        names.append(plan.properties[slot].name)
        if let target = plan.properties[slot].role.target { plan = try store.plan(target) }
      }
      return names.joined(separator: ".")
    }
  }
}
