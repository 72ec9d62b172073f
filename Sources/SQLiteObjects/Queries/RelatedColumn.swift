public import SQLiteCore
import SQLiteMapping

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
  public let route: _ColumnRoute

  fileprivate init<Object: MagicObject>(
    behind route: _ColumnRoute, _ path: KeyPath<Object, Column>
  ) {
    let rest = Prototype<Object>.slots(path)
    self.route = _ColumnRoute(route.cell, rest.flatMap { rest in route.rest.map { $0 + rest } })
  }

  /// Makes a value of a stored one.
  public static func value(from stored: SQLiteCore.Value) throws -> Column.Element? {
    stored.isNull ? nil : try Storage.value(Column.Element.self, of: stored)
  }
}

// What wrappers with `@dynamicMemberLookup` lead to.
extension MagicColumn where Element: MagicObject {
  /// A property of the object that this relation leads to, for queries.
  ///
  /// - Parameter path: The property, such as `\.$name`.
  public subscript<Next: MagicColumn>(
    dynamicMember path: KeyPath<Element, Next>
  ) -> RelatedColumn<Next> { RelatedColumn(behind: route, path) }
}

extension MagicColumn {
  /// A property of the object that this lazy relation leads to, for queries.
  ///
  /// - Parameter path: The property, such as `\.$name`.
  public subscript<Object: MagicObject, Next: MagicColumn>(
    dynamicMember path: KeyPath<Object, Next>
  ) -> RelatedColumn<Next> where Element == AsyncMagical<Object> {
    RelatedColumn(behind: route, path)
  }
}

extension MagicColumn where Element: MagicRelation {
  /// All objects that a relation of these objects leads to, for queries.
  ///
  /// - Parameter path: The relation, such as `\.$tracks`.
  public subscript<Next: MagicColumn>(
    dynamicMember path: KeyPath<Element.Target, Next>
  ) -> RelatedCollection<Next.Element.Target> where Next.Element: MagicRelation {
    RelatedCollection(behind: route, path)
  }

  /// The objects that a reference of these objects leads to, for queries.
  ///
  /// - Parameter path: The relation, such as `\.$tracks`.
  public subscript<Next: MagicColumn>(
    dynamicMember path: KeyPath<Element.Target, Next>
  ) -> RelatedCollection<Next.Element> where Next.Element: MagicObject {
    RelatedCollection(behind: route, path)
  }

  /// The objects that a lazy reference of these objects leads to, for queries.
  ///
  /// - Parameter path: The relation, such as `\.$tracks`.
  public subscript<Object: MagicObject, Next: MagicColumn>(
    dynamicMember path: KeyPath<Element.Target, Next>
  ) -> RelatedCollection<Object> where Next.Element == AsyncMagical<Object> {
    RelatedCollection(behind: route, path)
  }
}

/// The objects that relations lead to, one of them to many, as in `\Artist.$albums.$tracks`. Opaque.
///
/// Filters and expressions ask about them as about a relation: `(\Artist.$albums.$tracks).count > 100`. It has no
/// value that could be fetched.
@dynamicMemberLookup
public struct RelatedCollection<Target: MagicObject>: MagicColumn {
  /// The objects.
  public typealias Value = [Target]
  /// The objects.
  public typealias Element = [Target]

  /// The properties that lead there.
  public let route: _ColumnRoute

  init<Object: MagicObject>(behind route: _ColumnRoute, _ path: KeyPath<Object, some MagicColumn>) {
    let rest = Prototype<Object>.slots(path)
    self.route = _ColumnRoute(route.cell, rest.flatMap { rest in route.rest.map { $0 + rest } })
  }

  /// Always throws: the objects are in no column.
  public static func value(from stored: SQLiteCore.Value) throws -> [Target] {
    throw SQLiteError(.mismatch, "the objects of a relation are in no column")
  }
}
