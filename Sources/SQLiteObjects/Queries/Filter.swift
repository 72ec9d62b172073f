public import SQLiteCore

/// A condition on objects, which the database evaluates.
///
///     \.$age > 30 && (\.$name != "x" || (\Person.$school).hasPrefix("ETH"))
///
/// `\.$age` is the key path of a property's wrapper. `\.$owner.$name` accesses a property of a
/// related object. Conditions have the meaning that they have in Swift: `!=` and `!` also match
/// objects whose property is nil. Strings are compared by their bytes.
public struct Filter<Object: MagicObject>: Sendable {
  let node: QueryNode

  init(_ node: QueryNode) {
    self.node = node
  }

  /// Creates a filter from SQL, for conditions that the operators of filters can't express.
  ///
  ///     Filter<Track>(sql: "\(\Track.$name) GLOB \(pattern) AND \(\Track.$album.$year) % 4 = 0")
  ///
  /// An interpolated key path becomes its column, even if it accesses a related object. An
  /// interpolated value is bound and never inserted into the text. The text must be a complete
  /// expression: fetching throws `SQLiteError` if it closes a parenthesis that it hasn't opened,
  /// ends the statement, or has a parameter without a value.
  ///
  /// - Parameter sql: The condition.
  public init(sql: FilterText<Object>) {
    node = .sql(sql.pieces, sql.operands)
  }

  /// Returns a filter for the objects that match both filters.
  public static func && (left: Filter, right: Filter) -> Filter {
    Filter(.and(left.node, right.node))
  }

  /// Returns a filter for the objects that match at least one of two filters.
  public static func || (left: Filter, right: Filter) -> Filter {
    Filter(.or(left.node, right.node))
  }

  /// Returns a filter for the objects that don't match another filter.
  public static prefix func ! (operand: Filter) -> Filter {
    Filter(.not(operand.node))
  }

  /// Returns the condition as SQL for a store.
  package func sql(in store: any ObjectStore) throws -> SQL {
    try ExpressionSQL.condition(node, on: store.plan(Object.self), in: store)
  }
}

/// Returns a filter for the objects whose property is in a range, such as `18...65 ~= \.$age`.
public func ~= <Object: MagicObject, Column: MagicColumn>(
  range: ClosedRange<Column.Element>, path: KeyPath<Object, Column>
) -> Filter<Object> where Column.Element: Comparable & MagicComparable {
  path.isIn(range)
}

/// Returns a filter for the objects whose property is in a range, such as `18..<65 ~= \.$age`.
public func ~= <Object: MagicObject, Column: MagicColumn>(
  range: Range<Column.Element>, path: KeyPath<Object, Column>
) -> Filter<Object> where Column.Element: Comparable & MagicComparable {
  path.isIn(range)
}

extension MagicCalculation {
  /// Returns a filter for the objects whose value is in a list, such as
  /// `(\Person.$name).isIn(["Ann", "Bob"])`.
  ///
  /// - Parameter values: The list, of any length.
  public func isIn(_ values: some Sequence<Element>) -> Filter<Object>
  where Element: Equatable {
    let values = values.map { QueryNode($0) }
    let isIn = QueryNode.isIn(node, values)
    guard QueryNode.needsOrder(Element.self) else { return Filter(isIn) }
    // Like an equality, this can use an index in byte order and an index in the order of the type.
    return Filter(.and(.isIn(node.ordered(as: Element.self), values), isIn))
  }
}

extension MagicCalculation where Element: Comparable & MagicComparable {
  /// Returns a filter for the objects whose value is in a range, such as
  /// `(\Person.$age).isIn(18...65)`.
  ///
  /// - Parameter range: The range, which includes its bounds.
  public func isIn(_ range: ClosedRange<Element>) -> Filter<Object> {
    Filter(
      .and(
        .comparison(node.ordered(as: Element.self), .greaterOrEqual, QueryNode(range.lowerBound)),
        .comparison(node.ordered(as: Element.self), .lessOrEqual, QueryNode(range.upperBound))))
  }

  /// Returns a filter for the objects whose value is in a range, such as
  /// `(\Person.$age).isIn(18..<65)`.
  ///
  /// - Parameter range: The range, which excludes its upper bound.
  public func isIn(_ range: Range<Element>) -> Filter<Object> {
    Filter(
      .and(
        .comparison(node.ordered(as: Element.self), .greaterOrEqual, QueryNode(range.lowerBound)),
        .comparison(node.ordered(as: Element.self), .less, QueryNode(range.upperBound))))
  }
}

extension MagicCalculation where Element: MagicObject {
  /// Returns a filter for the objects whose relation references one of the given objects, such as
  /// `(\Track.$album).isIn(albums)`.
  ///
  /// - Parameter objects: The objects. Fetching throws ``MagicError/notSaved(type:)`` if one isn't
  ///   in the store.
  public func isIn(_ objects: some Sequence<Element>) -> Filter<Object> {
    let filters = objects.map { QueryNode.comparison(node, .equal, QueryNode(object: $0)) }
    guard let first = filters.first else { return Filter(.isIn(node, [QueryNode]())) }
    return Filter(filters.dropFirst().reduce(first, QueryNode.or))
  }
}

extension MagicCalculation where Element == String {
  /// A filter for the objects whose text is empty, such as `(\Person.$name).isEmpty`.
  public var isEmpty: Filter<Object> { Filter(.comparison(node, .equal, QueryNode(""))) }

  /// Returns a filter for the objects whose text begins with a prefix, such as
  /// `(\Person.$name).hasPrefix("An")`. Bytes are compared, so case matters.
  ///
  /// - Parameter prefix: The prefix.
  public func hasPrefix(_ prefix: String) -> Filter<Object> {
    Filter(.hasPrefix(node, prefix))
  }

  /// Returns a filter for the objects whose text contains another text. Bytes are compared, so case
  /// matters.
  ///
  /// - Parameter part: The text to search for.
  public func contains(_ part: String) -> Filter<Object> {
    Filter(.contains(node, part))
  }

  /// Returns a filter for the objects whose text matches a pattern of SQLite's `LIKE`, which
  /// ignores the case of ASCII letters.
  ///
  /// - Parameter pattern: The pattern, in which `%` matches any text, even an empty one, and `_`
  ///   matches any single character.
  public func like(_ pattern: String) -> Filter<Object> {
    Filter(.like(node, pattern))
  }
}

/// The SQL of a condition or of a value, written as a string literal with interpolated columns and
/// values.
///
///     Filter<Track>(sql: "length(\(\Track.$name)) > \(limit)")
///     MagicExpression<Track, String>(sql: "hex(\(\Track.$name))")
public struct FilterText<Object: MagicObject>: ExpressibleByStringInterpolation, Sendable {
  /// The SQL before, between and after the columns.
  let pieces: [SQL]
  let operands: [QueryNode]

  /// Creates SQL from a literal without interpolations.
  ///
  /// - Parameter value: The text of the literal.
  public init(stringLiteral value: String) {
    pieces = [SQL(unchecked: value)]
    operands = []
  }

  /// Creates SQL from a literal with interpolated columns or values.
  ///
  /// - Parameter stringInterpolation: The pieces of the literal.
  public init(stringInterpolation: StringInterpolation) {
    pieces = stringInterpolation.pieces + [SQL(stringInterpolation: stringInterpolation.sql)]
    operands = stringInterpolation.operands
  }

  /// The pieces of a literal, which the compiler appends one by one.
  public struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var pieces: [SQL] = []
    fileprivate var operands: [QueryNode] = []
    fileprivate var sql: SQL.StringInterpolation

    /// Creates an empty interpolation with room for a literal.
    ///
    /// - Parameters:
    ///   - literalCapacity: The approximate size of the literal's text.
    ///   - interpolationCount: The number of interpolated columns and values.
    public init(literalCapacity: Int, interpolationCount: Int) {
      sql = SQL.StringInterpolation(
        literalCapacity: literalCapacity, interpolationCount: interpolationCount)
    }

    /// Appends text of the literal, which must be SQL.
    ///
    /// - Parameter literal: The text.
    public mutating func appendLiteral(_ literal: String) { sql.appendLiteral(literal) }

    /// Appends the column of a property.
    ///
    /// - Parameter path: The property, such as `\Track.$name` or `\Track.$album.$title`.
    public mutating func appendInterpolation(_ path: KeyPath<Object, some MagicColumn>) {
      append(QueryNode(path))
    }

    /// Appends an expression.
    ///
    /// - Parameter expression: The value that is calculated for each object.
    public mutating func appendInterpolation(_ expression: MagicExpression<Object, some Codable>) {
      append(expression.node)
    }

    /// Appends a parameter and binds a value to it, in the form in which a property of its type is
    /// stored. Nil becomes NULL. Fetching throws
    /// ``MagicError/unstorableValue(type:property:reason:)`` if the value can't be stored.
    ///
    /// - Parameter value: The value to bind.
    public mutating func appendInterpolation(_ value: some Codable) { append(QueryNode(value)) }

    /// Appends a parenthesized list and binds its values, as in `\(\Track.$id) IN \(ids)`.
    ///
    /// - Parameter list: The values. The list may have any length. Fetching throws
    ///   ``MagicError/unstorableValue(type:property:reason:)`` if one of them can't be stored.
    public mutating func appendInterpolation<Element: Codable>(_ list: [Element]) {
      var values: [Value] = []
      for element in list {
        guard case .value(let value) = QueryNode(element) else {
          return append(QueryNode(element))
        }
        values.append(value)
      }
      sql.appendInterpolation(values)
    }

    /// Appends a parameter and binds bytes to it, in the form in which a property of type `[UInt8]`
    /// is stored.
    ///
    /// - Parameter bytes: The bytes to bind.
    public mutating func appendInterpolation(_ bytes: [UInt8]) { append(QueryNode(bytes)) }

    /// Appends SQL with its bound values.
    ///
    /// - Parameter fragment: The SQL.
    public mutating func appendInterpolation(_ fragment: SQL) { sql.appendInterpolation(fragment) }

    /// Appends the quoted name of a table, a column or another schema object.
    ///
    /// - Parameter name: The name, unquoted. Quotation marks in it are escaped.
    public mutating func appendInterpolation(identifier name: String) {
      sql.appendInterpolation(identifier: name)
    }

    private mutating func append(_ node: QueryNode) {
      pieces.append(SQL(stringInterpolation: sql))
      sql = SQL.StringInterpolation(literalCapacity: 0, interpolationCount: 0)
      operands.append(node)
    }
  }
}
