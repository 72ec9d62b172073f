public import SQLiteCore

/// A column of the object that a relation leads to, as in `\.$owner.$name`. Opaque.
///
/// It is nil where the relation leads nowhere.
@dynamicMemberLookup
public struct RelatedColumn<Column: MagicColumn>: MagicColumn {
  /// The type of the property, or nil.
  public typealias Value = Column.Element?
  /// The type of the property without the optional.
  public typealias Element = Column.Element

  /// The properties that lead there.
  public let route: ColumnRoute

  fileprivate init<Object: MagicObject>(_ cell: MagicCell, _ path: KeyPath<Object, Column>) {
    route = ColumnRoute(cell, Prototype<Object>.slots(path))
  }

  fileprivate init<Object: MagicObject>(
    behind route: ColumnRoute, _ path: KeyPath<Object, Column>
  ) {
    let rest = Prototype<Object>.slots(path)
    self.route = ColumnRoute(route.cell, rest.flatMap { rest in route.rest.map { $0 + rest } })
  }

  /// A property of the object that this relation leads to, for queries.
  ///
  /// - Parameter path: The property, such as `\.$name`.
  public subscript<Object: MagicObject, Next: MagicColumn>(
    dynamicMember path: KeyPath<Object, Next>
  ) -> RelatedColumn<Next> where Column.Element == Object {
    RelatedColumn<Next>(behind: route, path)
  }

  /// A property of the object that this lazy relation leads to, for queries.
  ///
  /// - Parameter path: The property, such as `\.$name`.
  public subscript<Object: MagicObject, Next: MagicColumn>(
    dynamicMember path: KeyPath<Object, Next>
  ) -> RelatedColumn<Next> where Column.Element == AsyncMagical<Object> {
    RelatedColumn<Next>(behind: route, path)
  }

  /// Makes a value of a stored one.
  public static func value(from stored: SQLiteCore.Value) throws -> Column.Element? {
    stored.isNull ? nil : try ValueCoding.value(Column.Element.self, from: stored)
  }
}

extension MagicValue where Value: MagicObject {
  /// A property of the object that this relation leads to, for queries.
  ///
  /// - Parameter path: The property, such as `\.$name`.
  public subscript<Column: MagicColumn>(
    dynamicMember path: KeyPath<Value, Column>
  ) -> RelatedColumn<Column> { RelatedColumn(cell, path) }
}

extension MagicValue {
  /// A property of the object that this lazy relation leads to, for queries.
  ///
  /// - Parameter path: The property, such as `\.$name`.
  public subscript<Object: MagicObject, Column: MagicColumn>(
    dynamicMember path: KeyPath<Object, Column>
  ) -> RelatedColumn<Column> where Value == AsyncMagical<Object> { RelatedColumn(cell, path) }
}

extension OptionMagicValue where Wrapped: MagicObject {
  /// A property of the object that this relation leads to, for queries.
  ///
  /// - Parameter path: The property, such as `\.$name`.
  public subscript<Column: MagicColumn>(
    dynamicMember path: KeyPath<Wrapped, Column>
  ) -> RelatedColumn<Column> { RelatedColumn(cell, path) }
}

extension OptionMagicValue {
  /// A property of the object that this lazy relation leads to, for queries.
  ///
  /// - Parameter path: The property, such as `\.$name`.
  public subscript<Object: MagicObject, Column: MagicColumn>(
    dynamicMember path: KeyPath<Object, Column>
  ) -> RelatedColumn<Column> where Wrapped == AsyncMagical<Object> { RelatedColumn(cell, path) }
}
