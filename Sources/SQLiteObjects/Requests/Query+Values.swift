import SQLiteCore
import SQLiteMapping

// A one-element tuple from a parameter pack isn't its element's type to the type checker, so single
// columns have overloads.
extension Query {
  private func rows<Row>(_ layout: TupleLayout) -> Request<[Row]> {
    RowRequest(parts, nil, layout).request()
  }

  /// Returns a request for values of one property, without the objects.
  ///
  ///     let names = try magic.fetch(City.all.values(\.$name))                           // [String]
  ///
  /// - Parameter path: A property that is stored in a column, such as `\.$name` or `\.$album.$title`.
  public func values<Column: MagicColumn>(
    _ path: KeyPath<Object, Column>
  ) -> Request<[Column.Value]> {
    rows(TupleLayout(ResultColumn(path)))
  }

  /// Returns a request for a value that is computed from each object. The value is nil if the
  /// expression is nil for the object.
  ///
  ///     let counts = try magic.fetch(Artist.all.values((\.$albums).count))               // [Int?]
  ///
  /// - Parameter expression: The expression.
  public func values<Element: Codable & SendableMetatype>(
    _ expression: MagicExpression<Object, Element>
  ) -> Request<[Element?]> {
    rows(TupleLayout(ResultColumn(expression)))
  }

  /// Returns a request for a tuple for each object: values that are computed from the object. A
  /// value is nil if its expression is nil for the object.
  ///
  /// - Parameter expressions: The expressions. Use `MagicExpression(\.$name)` for a property.
  public func values<each Element: Codable & SendableMetatype>(
    _ expressions: repeat MagicExpression<Object, each Element>
  ) -> Request<[(repeat (each Element)?)]> {
    rows(TupleLayout(repeat ResultColumn(each expressions)))
  }

  /// Returns a request for values of properties, without the objects.
  ///
  ///     let tracks = try magic.fetch(Track.all.values(\.$name, \.$album.$title))        // [(String, String?)]
  ///
  /// Related objects are joined. The values of a related object are nil if the relation is nil.
  ///
  /// - Parameter paths: Properties that are stored in a column, such as `\.$name` or `\.$album.$title`.
  public func values<each Column: MagicColumn>(
    _ paths: repeat KeyPath<Object, each Column>
  ) -> Request<[(repeat (each Column).Value)]> {
    rows(TupleLayout(repeat ResultColumn(each paths)))
  }

  /// Returns a request for a tuple for each object: the values of properties, followed by values
  /// that are computed from the object. A computed value is nil if its expression is nil for the
  /// object.
  ///
  ///     Customer.all.values(\.$name, \.$country, and: (\Customer.$invoices).sum(\.$total))
  ///
  /// - Parameters:
  ///   - paths: Properties that are stored in a column, such as `\.$name` or `\.$album.$title`.
  ///   - expressions: The values to compute.
  public func values<each Column: MagicColumn, each Element: Codable & SendableMetatype>(
    _ paths: repeat KeyPath<Object, each Column>,
    and expressions: repeat MagicExpression<Object, each Element>
  ) -> Request<[(repeat (each Column).Value, repeat (each Element)?)]> {
    rows(
      TupleLayout(
        repeat ResultColumn(each paths), and: repeat ResultColumn(each expressions)))
  }

  /// Returns a request for values of properties, decoded as a type.
  ///
  ///     struct Line: Decodable { var name: String; var album: Album?; struct Album: Decodable { var title: String } }
  ///     let lines = try magic.fetch(Track.all.values(\.$name, \.$album.$title, as: Line.self))
  ///
  /// Each value is decoded under the name of its property. The names of the relations on the path
  /// precede it, as in `album.title`. A nested type decodes the values whose names start with its
  /// property's name and a dot. A coding key may also be such a dotted name.
  ///
  /// - Parameters:
  ///   - paths: Properties that are stored in a column, such as `\.$name` or `\.$album.$title`.
  ///   - type: The type to decode each row as. Fetching throws `RowDecodingError` if a row doesn't
  ///     fit it.
  public func values<each Column: MagicColumn, Row: Decodable & SendableMetatype>(
    _ paths: repeat KeyPath<Object, each Column>, as type: Row.Type
  ) -> Request<[Row]> {
    let nodes = TupleLayout(repeat ResultColumn(each paths)).nodes
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
}

extension ObjectPlan {
  /// Returns the names under which the values of columns are decoded: the property names on the
  /// path of each column, joined by dots.
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
