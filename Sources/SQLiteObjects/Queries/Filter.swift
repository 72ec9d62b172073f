public import SQLiteCore

/// A condition on objects, which the database evaluates.
///
///     \.$age > 30 && (\.$name != "x" || (\Person.$school).hasPrefix("ETH"))
///
/// `\.$age` is the key path of a property's wrapper, `\.$owner.$name` leads through a relation.
/// Conditions mean what they mean in Swift: `!=` and `!` keep objects whose property is nil. Texts
/// are compared by their bytes.
public struct Filter<Object: MagicObject>: Sendable {
  let node: QueryNode

  init(_ node: QueryNode) {
    self.node = node
  }

  /// A condition in SQL, where the operators of filters do not suffice.
  ///
  ///     Filter<Track>(sql: "\(\Track.$name) GLOB \(pattern) AND \(\Track.$album.$year) % 4 = 0")
  ///
  /// An interpolated key path is its column, also behind relations; an interpolated value is bound, never
  /// spliced into the text. What is no expression by itself, such as SQL that closes a parenthesis which it has not
  /// opened, ends a statement or has a parameter without a value, makes the query throw.
  ///
  /// - Parameter sql: A condition.
  public init(sql: FilterText<Object>) {
    node = .sql(sql.pieces, sql.operands)
  }

  /// True if both are.
  public static func && (left: Filter, right: Filter) -> Filter {
    Filter(.and(left.node, right.node))
  }

  /// True if one of them is.
  public static func || (left: Filter, right: Filter) -> Filter {
    Filter(.or(left.node, right.node))
  }

  /// True if the other is not.
  public static prefix func ! (operand: Filter) -> Filter {
    Filter(.not(operand.node))
  }

  /// The condition as a store evaluates it.
  package func sql(in store: any ObjectStore) throws -> SQL {
    try ExpressionSQL.condition(node, on: store.plan(Object.self), in: store)
  }
}

/// True if the property is in the range: `18...65 ~= \.$age`.
public func ~= <Object: MagicObject, Column: MagicColumn>(
  range: ClosedRange<Column.Element>, path: KeyPath<Object, Column>
) -> Filter<Object> where Column.Element: Comparable & MagicComparable {
  path.isIn(range)
}

/// True if the property is in the range: `18..<65 ~= \.$age`.
public func ~= <Object: MagicObject, Column: MagicColumn>(
  range: Range<Column.Element>, path: KeyPath<Object, Column>
) -> Filter<Object> where Column.Element: Comparable & MagicComparable {
  path.isIn(range)
}

extension MagicCalculation {
  /// True if the value is one of the values: `(\Person.$name).isIn(["Ann", "Bob"])`.
  ///
  /// - Parameter values: Any number of values.
  public func isIn(_ values: some Sequence<Element>) -> Filter<Object>
  where Element: Equatable {
    let values = values.map { QueryNode($0) }
    let isIn = QueryNode.isIn(node, values)
    guard QueryNode.needsOrder(Element.self) else { return Filter(isIn) }
    // As an equality, by whatever index there is.
    return Filter(.and(.isIn(node.ordered(as: Element.self), values), isIn))
  }
}

extension MagicCalculation where Element: Comparable & MagicComparable {
  /// True if the value is in the range: `(\Person.$age).isIn(18...65)`.
  ///
  /// - Parameter range: The values.
  public func isIn(_ range: ClosedRange<Element>) -> Filter<Object> {
    Filter(
      .and(
        .comparison(node.ordered(as: Element.self), .greaterOrEqual, QueryNode(range.lowerBound)),
        .comparison(node.ordered(as: Element.self), .lessOrEqual, QueryNode(range.upperBound))))
  }

  /// True if the value is in the range: `(\Person.$age).isIn(18..<65)`.
  ///
  /// - Parameter range: The values.
  public func isIn(_ range: Range<Element>) -> Filter<Object> {
    Filter(
      .and(
        .comparison(node.ordered(as: Element.self), .greaterOrEqual, QueryNode(range.lowerBound)),
        .comparison(node.ordered(as: Element.self), .less, QueryNode(range.upperBound))))
  }
}

extension MagicCalculation where Element: MagicObject {
  /// True if the relation leads to one of the objects: `(\Track.$album).isIn(albums)`.
  ///
  /// - Parameter objects: Objects that were saved, else the query throws.
  public func isIn(_ objects: some Sequence<Element>) -> Filter<Object> {
    let filters = objects.map { QueryNode.comparison(node, .equal, QueryNode(object: $0)) }
    guard let first = filters.first else { return Filter(.isIn(node, [QueryNode]())) }
    return Filter(filters.dropFirst().reduce(first, QueryNode.or))
  }
}

extension MagicCalculation where Element == String {
  /// True if the text has no characters: `(\Person.$name).isEmpty`.
  public var isEmpty: Filter<Object> { Filter(.comparison(node, .equal, QueryNode(""))) }

  /// True if the text begins with another, byte by byte: `(\Person.$name).hasPrefix("An")`.
  ///
  /// - Parameter prefix: The beginning.
  public func hasPrefix(_ prefix: String) -> Filter<Object> {
    Filter(.hasPrefix(node, prefix))
  }

  /// True if the text contains another, byte by byte: case matters.
  ///
  /// - Parameter part: What to look for.
  public func contains(_ part: String) -> Filter<Object> {
    Filter(.contains(node, part))
  }

  /// True if the text is like a pattern: SQLite's LIKE, for which case does not matter in ASCII.
  ///
  /// - Parameter pattern: Text in which `%` stands for any text and `_` for any character.
  public func like(_ pattern: String) -> Filter<Object> {
    Filter(.like(node, pattern))
  }
}

/// A condition or a value in SQL with columns and values in it, written as a literal.
///
///     Filter<Track>(sql: "length(\(\Track.$name)) > \(limit)")
///     MagicExpression<Track, String>(sql: "hex(\(\Track.$name))")
public struct FilterText<Object: MagicObject>: ExpressibleByStringInterpolation, Sendable {
  /// The SQL before, between and behind the columns.
  let pieces: [SQL]
  let operands: [QueryNode]

  /// Takes a literal without columns and values.
  ///
  /// - Parameter value: The literal's text.
  public init(stringLiteral value: String) {
    pieces = [SQL(unchecked: value)]
    operands = []
  }

  /// Takes a literal with columns or values.
  ///
  /// - Parameter stringInterpolation: The pieces of the literal.
  public init(stringInterpolation: StringInterpolation) {
    pieces = stringInterpolation.pieces + [SQL(stringInterpolation: stringInterpolation.sql)]
    operands = stringInterpolation.operands
  }

  /// The pieces of a literal as the compiler hands them over.
  public struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var pieces: [SQL] = []
    fileprivate var operands: [QueryNode] = []
    fileprivate var sql: SQL.StringInterpolation

    /// Prepares for a literal.
    ///
    /// - Parameters:
    ///   - literalCapacity: The size of its text.
    ///   - interpolationCount: The number of its columns and values.
    public init(literalCapacity: Int, interpolationCount: Int) {
      sql = SQL.StringInterpolation(
        literalCapacity: literalCapacity, interpolationCount: interpolationCount)
    }

    /// Appends the literal's own text.
    ///
    /// - Parameter literal: SQL.
    public mutating func appendLiteral(_ literal: String) { sql.appendLiteral(literal) }

    /// Appends the column of a property.
    ///
    /// - Parameter path: The property, such as `\Track.$name` or `\Track.$album.$title`.
    public mutating func appendInterpolation(_ path: KeyPath<Object, some MagicColumn>) {
      append(QueryNode(path))
    }

    /// Appends a value that is calculated of the object.
    ///
    /// - Parameter expression: The expression.
    public mutating func appendInterpolation(_ expression: MagicExpression<Object, some Codable>) {
      append(expression.node)
    }

    /// Binds a value as a property of its type is stored; nil is NULL.
    ///
    /// - Parameter value: The value that is bound to a parameter.
    public mutating func appendInterpolation(_ value: some Codable) { append(QueryNode(value)) }

    /// Binds a list for `IN`, of any length: `\(\Track.$id) IN \(ids)`.
    ///
    /// - Parameter list: The values.
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

    /// Binds bytes as a property of their type is stored.
    ///
    /// - Parameter bytes: The value that is bound to a parameter.
    public mutating func appendInterpolation(_ bytes: [UInt8]) { append(QueryNode(bytes)) }

    /// Appends SQL with the values bound to it.
    ///
    /// - Parameter fragment: A piece of SQL.
    public mutating func appendInterpolation(_ fragment: SQL) { sql.appendInterpolation(fragment) }

    /// Appends the name of a table, a column or another thing of the schema, quoted.
    ///
    /// - Parameter name: The name as it is, with or without quotes in it.
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
