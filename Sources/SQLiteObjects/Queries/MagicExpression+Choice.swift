import SQLiteCore

// Values that depend on others: the first that is not nil, and the one for which a condition holds.

extension MagicCalculation {
  /// The value, or another one where it is nil.
  ///
  ///     magic.objects(of: Person.self, orderedBy: [.ascending((\Person.$nick).or(""))])
  ///
  /// - Parameter value: What stands for nil.
  public func or(_ value: Element) -> MagicExpression<Object, Element> {
    MagicExpression(["coalesce(", ", ", ")"], node, QueryNode(value), mayBeNull: false)
  }

  /// The value, or another property where it is nil.
  ///
  ///     let names = try magic.fetch(Person.all.values((\Person.$nick).or(\.$name)))
  ///
  /// - Parameter path: What stands for nil.
  public func or<Column: MagicColumn<Element>>(
    _ path: KeyPath<Object, Column>
  ) -> MagicExpression<Object, Element> {
    MagicExpression(["coalesce(", ", ", ")"], node, QueryNode(path))
  }

  /// The value, or what is calculated where it is nil.
  ///
  /// - Parameter expression: What stands for nil.
  public func or(
    _ expression: MagicExpression<Object, Element>
  ) -> MagicExpression<Object, Element> {
    MagicExpression(["coalesce(", ", ", ")"], node, expression.node)
  }
}

extension MagicExpression {
  /// One value for the objects that a filter holds for, and another for the others.
  ///
  ///     magic.objects(of: Person.self, orderedBy: [.ascending(.when(\.$age < 18, then: 0, else: 1))])
  ///
  /// - Parameters:
  ///   - filter: The condition.
  ///   - value: The value where it holds.
  ///   - other: The value where it does not hold.
  public static func when(
    _ filter: Filter<Object>, then value: Element, else other: Element
  ) -> MagicExpression { choice(filter, QueryNode(value), QueryNode(other)) }

  /// One value for the objects that a filter holds for, and what another expression gives for the others: so that
  /// several conditions are asked one after the other.
  ///
  ///     let size: MagicExpression<Track, String> =
  ///       .when(\.$bytes < 1_000, then: "small", else: .when(\.$bytes < 9_000, then: "medium", else: "large"))
  ///
  /// - Parameters:
  ///   - filter: The condition.
  ///   - value: The value where it holds.
  ///   - other: The value where it does not hold.
  public static func when(
    _ filter: Filter<Object>, then value: Element, else other: MagicExpression
  ) -> MagicExpression { choice(filter, QueryNode(value), other.node) }

  /// One value for the objects that a filter holds for, and what is calculated for the others.
  ///
  /// - Parameters:
  ///   - filter: The condition.
  ///   - value: The value where it holds.
  ///   - other: The value where it does not hold, such as `\Person.$name`.
  public static func when(
    _ filter: Filter<Object>, then value: Element,
    else other: some MagicCalculation<Object, Element>
  ) -> MagicExpression { choice(filter, QueryNode(value), other.node) }

  /// One value for the objects that a filter holds for, and a property for the others.
  ///
  /// - Parameters:
  ///   - filter: The condition.
  ///   - value: The value where it holds.
  ///   - path: The property where it does not hold, such as `\.$name`.
  public static func when<Column: MagicColumn<Element>>(
    _ filter: Filter<Object>, then value: Element, else path: KeyPath<Object, Column>
  ) -> MagicExpression { choice(filter, QueryNode(value), QueryNode(path)) }

  /// A property for the objects that a filter holds for, and a value for the others.
  ///
  /// - Parameters:
  ///   - filter: The condition.
  ///   - path: The property where it holds, such as `\.$name`.
  ///   - other: The value where it does not hold.
  public static func when<Column: MagicColumn<Element>>(
    _ filter: Filter<Object>, then path: KeyPath<Object, Column>, else other: Element
  ) -> MagicExpression { choice(filter, QueryNode(path), QueryNode(other)) }

  /// An expression for the objects that a filter holds for, and a value for the others.
  ///
  /// - Parameters:
  ///   - filter: The condition.
  ///   - value: The value where it holds, such as `\Person.$name`.
  ///   - other: The value where it does not hold.
  public static func when(
    _ filter: Filter<Object>, then value: some MagicCalculation<Object, Element>,
    else other: Element
  ) -> MagicExpression { choice(filter, value.node, QueryNode(other)) }

  /// An expression for the objects that a filter holds for, and another one for the others.
  ///
  ///     let name: MagicExpression<Person, String> =
  ///       .when(\.$prefersNick == true, then: \Person.$nick, else: \Person.$name)
  ///
  /// - Parameters:
  ///   - filter: The condition.
  ///   - value: The value where it holds.
  ///   - other: The value where it does not hold.
  public static func when(
    _ filter: Filter<Object>, then value: some MagicCalculation<Object, Element>,
    else other: some MagicCalculation<Object, Element>
  ) -> MagicExpression { choice(filter, value.node, other.node) }

  /// A value for the objects that a filter holds for, and nil for the others.
  ///
  ///     try magic.fetch(Line.all.aggregate(.count(.when(\Line.$isPaid == true, then: 1))))
  ///
  /// - Parameters:
  ///   - filter: The condition.
  ///   - value: The value where it holds.
  public static func when(_ filter: Filter<Object>, then value: Element) -> MagicExpression {
    choice(filter, QueryNode(value), .value(.null))
  }

  /// What is calculated for the objects that a filter holds for, and nil for the others.
  ///
  ///     try magic.fetch(Line.all.aggregate(.sum(.when(\Line.$isPaid == true, then: \Line.$price))))
  ///
  /// - Parameters:
  ///   - filter: The condition.
  ///   - value: The value where it holds.
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
