/// A relation to any number of objects, which filters look into.
///
/// Arrays, dictionaries and sets of objects conform; there is no reason to write others.
public protocol MagicRelation<Target> {
  /// The type of the objects.
  associatedtype Target: MagicObject
}

extension Array: MagicRelation where Element: MagicObject {
  /// The type of the objects.
  public typealias Target = Element
}

extension Dictionary: MagicRelation where Key: Codable, Value: MagicObject {
  /// The type of the objects.
  public typealias Target = Value
}

extension MagicalSet: MagicRelation {
  /// The type of the objects.
  public typealias Target = Element
}

extension AsyncMagical: MagicRelation where Element: MagicRelation {
  /// The type of the objects.
  public typealias Target = Element.Target
}

extension KeyPath where Root: MagicObject, Value: MagicColumn, Value.Element: MagicRelation {
  /// True if the relation leads to some object that the filter holds for.
  ///
  ///     (\Person.$friends).contains(where: \.$age > 30)
  ///
  /// - Parameter filter: A condition on the objects at the other end.
  public func contains(where filter: Filter<Value.Element.Target>) -> Filter<Root> {
    Filter(.term(.leads(to: filter.condition, through: relation), around: filter.condition))
  }

  /// True if the relation leads to the object.
  ///
  /// - Parameter object: An object that was saved, else the query throws.
  public func contains(_ object: Value.Element.Target) -> Filter<Root> {
    Filter(.term(.leadsToObject(Operand(object: object), through: relation)))
  }

  /// True if the relation leads to no object.
  public var isEmpty: Filter<Root> {
    Filter(.not(.term(.leads(to: nil, through: relation))))
  }

  /// How many objects the relation leads to, duplicates included.
  public var count: MagicExpression<Root, Int> { MagicExpression(relation) }

  private var relation: Operand { Operand(self) { .known(.count($0)) } }
}
