import SQLiteCore
import SQLiteMapping
import SQLiteRelations
import Synchronization

/// The relation of a property between the objects of two types, asked from one of its ends.
final class ObjectRelation: Sendable {
  /// The type with the property.
  let owner: ObjectPlan
  /// The property.
  let slot: Int
  /// The type of the objects that the relation leads to: of a reversed one the type with the property.
  let destination: ObjectPlan
  /// The property's links, unless it leads to one object.
  let table: LinkTable?
  /// Whether the relation leads from the referenced objects to those with the property.
  let isReversed: Bool
  /// The keys of the objects.
  let keys: Relation
  /// Counts the objects that one key leads to, a parameter.
  fileprivate let countSQL: SQL
  /// Reads the objects that one key leads to, a parameter.
  fileprivate let objectsSQL: SQL

  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if the property is no relation.
  init(
    _ owner: ObjectPlan, _ slot: Int, isReversed: Bool,
    _ plans: (any MagicObject.Type) throws -> ObjectPlan
  ) throws {
    guard let type = owner.properties[slot].role.target else {
      throw MagicError.unsuitableType(
        type: owner.typeName, reason: "“\(owner.properties[slot].name)” is not a relation")
    }
    self.owner = owner
    self.slot = slot
    self.isReversed = isReversed
    let target = try plans(type)
    table = try owner.linkTable(slot, plans)
    let forth =
      try table?.relation
      ?? Relation(
        column: owner.properties[slot].name, of: .init(table: owner.table, key: owner.key),
        to: .init(table: target.table, key: target.key))
    keys = isReversed ? forth.reversed : forth
    destination = isReversed ? owner : target
    countSQL = keys.countOfParameter
    objectsSQL = "SELECT \(destination.qualifiedList { _ in true }) FROM \(keys.rowsOfParameter)"
  }

  var property: ObjectPlan.Property { owner.properties[slot] }

  /// Returns whether the relation is stored in the database yet.
  func isStored(_ tables: TableCache, _ connection: Connection) throws -> Bool {
    if let table { return try tables.has(table, connection) }
    return try tables.columns(of: owner, connection)?.contains(property.name) ?? false
  }
}

extension ObjectRelation {
  /// Counts the objects that a key leads to.
  func count(from key: Int64, in connection: Connection) throws -> Int {
    var statement = try connection.statement(countSQL)
    try statement.bind(key, at: 1)
    return try statement.step() ? Int(statement.integer(at: 0)) : 0
  }

  /// Lends the rows of the objects that a key leads to, each once: key and columns.
  func forEachObject(
    from key: Int64, _ page: Relation.Page, in connection: Connection,
    _ body: (borrowing Statement) throws -> Void
  ) throws {
    guard page.isWhole else {
      return try connection.forEachRow(
        "SELECT \(destination.qualifiedList { _ in true }) FROM \(keys.rows(from: .integer(key), page))",
        body)
    }
    var statement = try connection.statement(objectsSQL)
    try statement.bind(key, at: 1)
    var last: Int64?
    while try statement.step() {
      // An owner that leads here several times comes several times, one directly behind the other.
      let key = statement.integer(at: 0)
      if key != last { try body(statement) }
      last = key
    }
  }
}

/// The relations that a store was asked for, each put together once.
package final class RelationCache: Sendable {
  private let relations = Mutex<[PropertyKey: ObjectRelation]>([:])

  /// The relation of a property; of a reverse value, the relation that it names, from the other end.
  ///
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if the property is no relation, or names none.
  func relation(
    of shape: ObjectShape, _ slot: Int, _ plans: (any MagicObject.Type) throws -> ObjectPlan
  ) throws -> ObjectRelation {
    let key = PropertyKey(type: ObjectIdentifier(shape.type), slot: slot)
    if let known = relations.withLock({ $0[key] }) { return known }
    let relation: ObjectRelation
    if let reverse = shape.properties[slot].reverse?.value as? any ReverseRelation {
      let (owner, slot) = try reverse.property(plans)
      relation = try ObjectRelation(owner, slot, isReversed: true, plans)
    } else {
      relation = try ObjectRelation(plans(shape.type), slot, isReversed: false, plans)
    }
    relations.withLock { $0[key] = relation }
    return relation
  }
}

/// The relation that a reverse value names.
protocol ReverseRelation {
  /// The property of the owners.
  func property(
    _ plans: (any MagicObject.Type) throws -> ObjectPlan
  ) throws -> (owner: ObjectPlan, slot: Int)
}
