import SQLiteCore
import SQLiteMapping

extension ObjectPlan {
  /// Notes in the properties what their type declares of them, and returns its indexes.
  static func apply(
    _ traits: [PropertyTrait], of type: any MagicObject.Type, to properties: inout [Property]
  ) throws -> [IndexDefinition] {
    var indexes: [IndexDefinition] = []
    for trait in traits {
      let slots = try trait.properties.map { name in
        guard let slot = properties.firstIndex(where: { $0.name == name }) else {
          throw MagicError.unsuitableType(
            type: "\(type)", reason: "it declares a trait of “\(name)”, which it does not have")
        }
        return slot
      }
      func refuse(_ reason: String) -> MagicError {
        .unsuitableType(
          type: "\(type)", reason: "“\(trait.properties.joined(separator: ", "))” \(reason)")
      }
      switch trait.kind {
      case .unique, .indexed:
        guard slots.allSatisfy({ properties[$0].hasColumn }) else {
          throw refuse("cannot have an index: it has no column")
        }
        var isUnique = false
        if case .unique = trait.kind { isUnique = true }
        indexes.append(IndexDefinition(slots.map { properties[$0].name }, isUnique: isUnique))
      case .searched:
        throw refuse("cannot be searched: full-text search is of records only, as yet")
      case .defaultValue(let value):
        for slot in slots { properties[slot].defaultValue = try value.databaseValue }
      case .references: throw refuse("is no reference by key: objects lead to objects")
      case .onDelete(let rule):
        for slot in slots {
          guard properties[slot].isRelation else {
            throw refuse("cannot have a delete rule: it leads to no object")
          }
          guard rule != .cascade || !properties[slot].isLinked else {
            throw refuse("cannot cascade: of a collection only the links go")
          }
          guard rule != .nullify || properties[slot].role.isOptional || properties[slot].isLinked
          else { throw refuse("cannot become nil: it is not optional") }
          properties[slot].onDelete = rule
        }
      }
    }
    return indexes
  }
}
