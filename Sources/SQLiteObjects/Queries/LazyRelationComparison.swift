/// Returns a filter for the objects whose lazy relation references an object.
///
/// Fetching throws ``MagicError/notSaved(type:)`` if `right` isn't in the store.
public func == <Object: MagicObject, Column: MagicColumn, Target: MagicObject>(
  left: KeyPath<Object, Column>, right: Target
) -> Filter<Object> where Column.Element == AsyncMagical<Target> {
  Filter(.comparison(QueryNode(left), .equal, QueryNode(object: right)))
}

/// Returns a filter for the objects whose lazy relation references a different object or is nil.
///
/// Fetching throws ``MagicError/notSaved(type:)`` if `right` isn't in the store.
public func != <Object: MagicObject, Column: MagicColumn, Target: MagicObject>(
  left: KeyPath<Object, Column>, right: Target
) -> Filter<Object> where Column.Element == AsyncMagical<Target> {
  Filter(.comparison(QueryNode(left), .notEqual, QueryNode(object: right)))
}
