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

extension KeyPath where Root: MagicObject, Value: MagicColumn {
  /// True if the property is one of the values: `(\Person.$name).isIn(["Ann", "Bob"])`.
  ///
  /// - Parameter values: Any number of values.
  public func isIn(_ values: some Sequence<Value.Element>) -> Filter<Root>
  where Value.Element: Equatable {
    Filter(.isIn(Operand(self), values.map { Operand($0) }))
  }
}

extension KeyPath
where Root: MagicObject, Value: MagicColumn, Value.Element: Comparable & MagicComparable {
  /// True if the property is in the range: `(\Person.$age).isIn(18...65)`.
  ///
  /// - Parameter range: The values.
  public func isIn(_ range: ClosedRange<Value.Element>) -> Filter<Root> {
    Filter(
      .and(
        .comparison(Operand(self), .greaterOrEqual, Operand(range.lowerBound)),
        .comparison(Operand(self), .lessOrEqual, Operand(range.upperBound))))
  }

  /// True if the property is in the range: `(\Person.$age).isIn(18..<65)`.
  ///
  /// - Parameter range: The values.
  public func isIn(_ range: Range<Value.Element>) -> Filter<Root> {
    Filter(
      .and(
        .comparison(Operand(self), .greaterOrEqual, Operand(range.lowerBound)),
        .comparison(Operand(self), .less, Operand(range.upperBound))))
  }
}
