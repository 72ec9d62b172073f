public import SQLiteCore
public import SQLiteMapping

extension PropertyTrait {
  /// Declares what happens to an object when the target of one of its relations is removed.
  ///
  /// Without this trait, an optional to-one relation becomes nil, a non-optional one makes the
  /// removal throw, and the links of a collection to the target are deleted.
  ///
  /// The first use of the type throws ``MagicError/unsuitableType(type:reason:)`` if the property
  /// isn't a relation, if the rule is `DeleteRule.nullify` for a non-optional to-one relation, or
  /// if it is `DeleteRule.cascade` for a collection.
  ///
  /// - Parameters:
  ///   - path: A relation, such as `\Self.$owner`.
  ///   - rule: The rule to apply.
  /// - Returns: A trait for the `traits` of a ``MagicObject``.
  public static func onDelete<Object: MagicObject, Property: MagicProperty>(
    _ path: KeyPath<Object, Property>, _ rule: DeleteRule
  ) -> PropertyTrait {
    PropertyTrait(.onDelete(rule), names(path))
  }
}

extension ObjectProperty {
  /// The rule that SQLite applies when the target of a relation is removed.
  ///
  /// A reference column uses the rule as its `ON DELETE` action. A link is deleted together with
  /// its owner or its target, unless the rule is `restrict`: then the target can't be removed
  /// (``LinkTable/restrictsTargetDeletion``).
  var deleteRule: DeleteRule {
    if let onDelete { return onDelete }
    return isLinked ? .cascade : role.isOptional ? .nullify : .restrict
  }
}
