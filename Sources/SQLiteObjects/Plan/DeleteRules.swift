public import SQLiteCore
public import SQLiteMapping

extension PropertyTrait {
  /// The consequence for an object when the target of its relation is removed.
  ///
  /// Unless declared, an optional relation becomes nil, and one that is not refuses the removal. A type
  /// with the rule `DeleteRule.nullify` for a relation that is not optional is refused when it is met.
  ///
  /// - Parameters:
  ///   - path: A relation, such as `\Self.$owner`.
  ///   - rule: What happens.
  public static func onDelete<Object: MagicObject, Property: MagicProperty>(
    _ path: KeyPath<Object, Property>, _ rule: DeleteRule
  ) -> PropertyTrait {
    PropertyTrait(.onDelete(rule), names(path))
  }
}

extension ObjectProperty {
  /// The rule that SQLite follows when the target of a relation is removed.
  ///
  /// A column that references another object has it as `ON DELETE`. A link is deleted together with either of its
  /// ends, unless the rule is to restrict: then its target cannot be removed (``LinkTable/keepsTargets``).
  var deleteRule: DeleteRule {
    if let onDelete { return onDelete }
    return isLinked ? .cascade : role.isOptional ? .nullify : .restrict
  }
}
