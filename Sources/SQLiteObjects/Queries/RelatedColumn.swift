public import SQLiteCore
import SQLiteMapping

/// A property of a related object in a query, such as `\.$owner.$name`. Key paths create it.
///
/// Its value is nil if a relation on the path is nil.
@dynamicMemberLookup
public struct RelatedColumn<Column: MagicColumn>: MagicColumn {
  /// The type of the value in a query, which is optional because the relation may be nil.
  public typealias Value = Column.Element?
  /// The type of the property's value. For an optional property, it is the wrapped type.
  public typealias Element = Column.Element

  /// The path from the queried object to this property. Only queries use it.
  public let route: _ColumnRoute

  fileprivate init<Object: MagicObject>(
    after route: _ColumnRoute, _ path: KeyPath<Object, Column>
  ) {
    let rest = KeyPathSlots<Object>.slots(path)
    self.route = _ColumnRoute(route.cell, rest.flatMap { rest in route.rest.map { $0 + rest } })
  }

  /// Converts a stored value to the property's type; NULL becomes nil.
  ///
  /// - Parameter stored: The stored value.
  /// - Throws: `SQLiteError` or a decoding error if the value doesn't fit the type.
  public static func value(from stored: SQLiteCore.Value) throws -> Column.Element? {
    stored.isNull ? nil : try ColumnStorage.value(Column.Element.self, of: stored)
  }
}

// The members of the wrappers with `@dynamicMemberLookup`.
extension MagicColumn where Element: MagicObject {
  /// Accesses a property of the object that this relation references, for use in a query.
  ///
  /// - Parameter path: The property of the related object, such as `\.$name`.
  public subscript<Next: MagicColumn>(
    dynamicMember path: KeyPath<Element, Next>
  ) -> RelatedColumn<Next> { RelatedColumn(after: route, path) }
}

extension MagicColumn {
  /// Accesses a property of the object that this lazy relation references, for use in a query.
  ///
  /// - Parameter path: The property of the related object, such as `\.$name`.
  public subscript<Object: MagicObject, Next: MagicColumn>(
    dynamicMember path: KeyPath<Object, Next>
  ) -> RelatedColumn<Next> where Element == AsyncMagical<Object> {
    RelatedColumn(after: route, path)
  }
}

extension MagicColumn where Element: MagicRelation {
  /// Accesses the objects in a to-many relation of the related objects, for use in a query.
  ///
  /// - Parameter path: The relation of the related objects, such as `\.$tracks`.
  public subscript<Next: MagicColumn>(
    dynamicMember path: KeyPath<Element.Target, Next>
  ) -> RelatedCollection<Next.Element.Target> where Next.Element: MagicRelation {
    RelatedCollection(after: route, path)
  }

  /// Accesses the objects that a to-one relation of the related objects references, for use in a
  /// query.
  ///
  /// - Parameter path: The relation of the related objects, such as `\.$album`.
  public subscript<Next: MagicColumn>(
    dynamicMember path: KeyPath<Element.Target, Next>
  ) -> RelatedCollection<Next.Element> where Next.Element: MagicObject {
    RelatedCollection(after: route, path)
  }

  /// Accesses the objects that a lazy to-one relation of the related objects references, for use in
  /// a query.
  ///
  /// - Parameter path: The relation of the related objects, such as `\.$album`.
  public subscript<Object: MagicObject, Next: MagicColumn>(
    dynamicMember path: KeyPath<Element.Target, Next>
  ) -> RelatedCollection<Object> where Next.Element == AsyncMagical<Object> {
    RelatedCollection(after: route, path)
  }
}

/// The objects at the end of a path of several relations in a query, such as
/// `\Artist.$albums.$tracks`. At least one of the relations is to-many. Key paths create it.
///
/// It can't be fetched as a value, but filters and expressions can use it like a to-many relation:
///
///     magic.objects(of: Artist.self, where: (\Artist.$albums.$tracks).count > 100)
@dynamicMemberLookup
public struct RelatedCollection<Target: MagicObject>: MagicColumn {
  /// An array of the related objects. No query can fetch it as a value.
  public typealias Value = [Target]
  /// An array of the related objects. No query can fetch it as a value.
  public typealias Element = [Target]

  /// The path from the queried object to the related objects. Only queries use it.
  public let route: _ColumnRoute

  init<Object: MagicObject>(after route: _ColumnRoute, _ path: KeyPath<Object, some MagicColumn>) {
    let rest = KeyPathSlots<Object>.slots(path)
    self.route = _ColumnRoute(route.cell, rest.flatMap { rest in route.rest.map { $0 + rest } })
  }

  /// Always throws, because no column stores the objects.
  ///
  /// - Parameter stored: The stored value.
  /// - Throws: `SQLiteError` with `ResultCode.mismatch`.
  public static func value(from stored: SQLiteCore.Value) throws -> [Target] {
    throw SQLiteError(.mismatch, "the objects of a relation are not stored in a column")
  }
}
