import SQLiteCore

// Replacements for nil, and values that depend on a condition.

extension MagicCalculation {
  /// Returns an expression that replaces nil with a value.
  ///
  ///     magic.objects(of: Person.self, orderedBy: [.ascending((\Person.$nick).or(""))])
  ///
  /// - Parameter value: The replacement for nil.
  public func or(_ value: Element) -> MagicExpression<Object, Element> {
    MagicExpression(["coalesce(", ", ", ")"], node, QueryNode(value), mayBeNull: false)
  }

  /// Returns an expression that replaces nil with the value of a property.
  ///
  ///     let names = try magic.fetch(Person.all.values((\Person.$nick).or(\.$name)))
  ///
  /// - Parameter path: The property that replaces nil.
  public func or<Column: MagicColumn<Element>>(
    _ path: KeyPath<Object, Column>
  ) -> MagicExpression<Object, Element> {
    MagicExpression(["coalesce(", ", ", ")"], node, QueryNode(path))
  }

  /// Returns an expression that replaces nil with the value of another expression.
  ///
  /// - Parameter expression: The expression that replaces nil.
  public func or(
    _ expression: MagicExpression<Object, Element>
  ) -> MagicExpression<Object, Element> {
    MagicExpression(["coalesce(", ", ", ")"], node, expression.node)
  }
}

extension MagicExpression {
  /// Returns an expression with one value for the objects that match a filter, and another value
  /// for all others.
  ///
  ///     magic.objects(of: Person.self, orderedBy: [.ascending(.when(\.$age < 18, then: 0, else: 1))])
  ///
  /// - Parameters:
  ///   - filter: The condition.
  ///   - value: The value for objects that match.
  ///   - other: The value for objects that don't match.
  public static func when(
    _ filter: Filter<Object>, then value: Element, else other: Element
  ) -> MagicExpression { choice(filter, QueryNode(value), QueryNode(other)) }

  /// Returns an expression with a value for the objects that match a filter, and another expression
  /// for all others. Nest calls to test several conditions in order.
  ///
  ///     let size: MagicExpression<Track, String> =
  ///       .when(\.$bytes < 1_000, then: "small", else: .when(\.$bytes < 9_000, then: "medium", else: "large"))
  ///
  /// - Parameters:
  ///   - filter: The condition.
  ///   - value: The value for objects that match.
  ///   - other: The expression for objects that don't match.
  public static func when(
    _ filter: Filter<Object>, then value: Element, else other: MagicExpression
  ) -> MagicExpression { choice(filter, QueryNode(value), other.node) }

  /// Returns an expression with a value for the objects that match a filter, and a calculated value
  /// for all others.
  ///
  /// - Parameters:
  ///   - filter: The condition.
  ///   - value: The value for objects that match.
  ///   - other: The property or expression for objects that don't match, such as `\Person.$name`.
  public static func when(
    _ filter: Filter<Object>, then value: Element,
    else other: some MagicCalculation<Object, Element>
  ) -> MagicExpression { choice(filter, QueryNode(value), other.node) }

  /// Returns an expression with a value for the objects that match a filter, and a property for all
  /// others.
  ///
  /// - Parameters:
  ///   - filter: The condition.
  ///   - value: The value for objects that match.
  ///   - path: The property for objects that don't match, such as `\.$name`.
  public static func when<Column: MagicColumn<Element>>(
    _ filter: Filter<Object>, then value: Element, else path: KeyPath<Object, Column>
  ) -> MagicExpression { choice(filter, QueryNode(value), QueryNode(path)) }

  /// Returns an expression with a property for the objects that match a filter, and a value for all
  /// others.
  ///
  /// - Parameters:
  ///   - filter: The condition.
  ///   - path: The property for objects that match, such as `\.$name`.
  ///   - other: The value for objects that don't match.
  public static func when<Column: MagicColumn<Element>>(
    _ filter: Filter<Object>, then path: KeyPath<Object, Column>, else other: Element
  ) -> MagicExpression { choice(filter, QueryNode(path), QueryNode(other)) }

  /// Returns an expression with a calculated value for the objects that match a filter, and a fixed
  /// value for all others.
  ///
  /// - Parameters:
  ///   - filter: The condition.
  ///   - value: The property or expression for objects that match, such as `\Person.$name`.
  ///   - other: The value for objects that don't match.
  public static func when(
    _ filter: Filter<Object>, then value: some MagicCalculation<Object, Element>,
    else other: Element
  ) -> MagicExpression { choice(filter, value.node, QueryNode(other)) }

  /// Returns an expression with one calculated value for the objects that match a filter, and
  /// another one for all others.
  ///
  ///     let name: MagicExpression<Person, String> =
  ///       .when(\.$prefersNick == true, then: \Person.$nick, else: \Person.$name)
  ///
  /// - Parameters:
  ///   - filter: The condition.
  ///   - value: The property or expression for objects that match.
  ///   - other: The property or expression for objects that don't match.
  public static func when(
    _ filter: Filter<Object>, then value: some MagicCalculation<Object, Element>,
    else other: some MagicCalculation<Object, Element>
  ) -> MagicExpression { choice(filter, value.node, other.node) }

  /// Returns an expression with a value for the objects that match a filter, and nil for all
  /// others.
  ///
  ///     try magic.fetch(Line.all.aggregate(.count(.when(\Line.$isPaid == true, then: 1))))
  ///
  /// - Parameters:
  ///   - filter: The condition.
  ///   - value: The value for objects that match.
  public static func when(_ filter: Filter<Object>, then value: Element) -> MagicExpression {
    choice(filter, QueryNode(value), .value(.null))
  }

  /// Returns an expression with a calculated value for the objects that match a filter, and nil for
  /// all others.
  ///
  ///     try magic.fetch(Line.all.aggregate(.sum(.when(\Line.$isPaid == true, then: \Line.$price))))
  ///
  /// - Parameters:
  ///   - filter: The condition.
  ///   - value: The property or expression for objects that match.
  public static func when(
    _ filter: Filter<Object>, then value: some MagicCalculation<Object, Element>
  ) -> MagicExpression {
    choice(filter, value.node, .value(.null))
  }

  private static func choice(
    _ filter: Filter<Object>, _ value: QueryNode, _ other: QueryNode
  ) -> MagicExpression {
    MagicExpression(.choice(filter.node, value, other))
  }
}
