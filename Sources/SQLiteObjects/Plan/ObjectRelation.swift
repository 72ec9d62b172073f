import SQLiteCore
import SQLiteMapping
import SQLiteRelations
import Synchronization

/// The relation between the objects of two types that a property declares, queried in one
/// direction.
final class ObjectRelation: Sendable {
  /// The plan of the type that declares the relation property.
  let owner: ObjectPlan
  /// The index of the property among the owner type's properties.
  let slot: Int
  /// The type of the objects that a query returns: the target type, or the owner type if the
  /// relation is reversed.
  let destination: ObjectPlan
  /// The link table, or nil for a to-one relation.
  let table: LinkTable?
  /// Whether the relation is queried from the targets to the owners.
  let isReversed: Bool
  /// The relation as pairs of row keys, with the SQL that queries them.
  let keys: Relation
  /// The query that counts the objects that are related to one object. Its parameter is the key of
  /// that object.
  fileprivate let countSQL: SQL
  /// The query that reads the objects that are related to one object. Its parameter is the key of
  /// that object.
  fileprivate let objectsSQL: SQL

  /// Creates the relation of the property `slot` of `owner`.
  ///
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if the property is not a relation.
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
    let forward =
      try table?.relation
      ?? Relation(
        column: owner.properties[slot].name, of: .init(table: owner.table, key: owner.key),
        to: .init(table: target.table, key: target.key))
    keys = isReversed ? forward.reversed : forward
    destination = isReversed ? owner : target
    countSQL = keys.countWithParameter
    objectsSQL = "SELECT \(destination.qualifiedList { _ in true }) FROM \(keys.rowsWithParameter)"
  }

  var property: ObjectPlan.Property { owner.properties[slot] }

  /// Returns whether the database already has the table or the column that stores the relation.
  func isStored(_ tables: TableCache, _ connection: Connection) throws -> Bool {
    if let table { return try tables.has(table, connection) }
    return try tables.columns(of: owner, connection)?.contains(property.name) ?? false
  }
}

extension ObjectRelation {
  /// Returns the number of objects that are related to the object with a key.
  func count(from key: Int64, in connection: Connection) throws -> Int {
    var statement = try connection.statement(countSQL)
    try statement.bind(key, at: 1)
    return try statement.step() ? Int(statement.integer(at: 0)) : 0
  }

  /// Calls `body` with the row of each object that is related to the object with a key. A row
  /// consists of the related object's key and columns, and is valid only inside the closure. Each
  /// object occurs once.
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
      // An owner that references the key several times produces several consecutive rows.
      let key = statement.integer(at: 0)
      if key != last { try body(statement) }
      last = key
    }
  }
}

/// The relations that a store has used, each created once.
package final class RelationCache: Sendable {
  private let relations = Mutex<[PropertyKey: ObjectRelation]>([:])

  /// Returns the relation of a property. For a reverse relation, returns the declared relation in
  /// reverse direction.
  ///
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if the property is not a relation, or if
  ///   a reverse relation doesn't name a relation to this type.
  func relation(
    of shape: ObjectShape, _ slot: Int, _ plans: (any MagicObject.Type) throws -> ObjectPlan
  ) throws -> ObjectRelation {
    let key = PropertyKey(type: ObjectIdentifier(shape.type), slot: slot)
    if let known = relations.withLock({ $0[key] }) { return known }
    let relation: ObjectRelation
    if let reverse = shape.properties[slot].reverse?.value as? any ReverseRelation {
      let (owner, reversed) = try reverse.property(plans)
      relation = try ObjectRelation(owner, reversed, isReversed: true, plans)
      let target = owner.properties[reversed].role.target
      guard target.map(ObjectIdentifier.init) == ObjectIdentifier(shape.type) else {
        throw MagicError.unsuitableType(
          type: shape.typeName,
          reason: "“\(shape.properties[slot].name)” reverses a relation to another type; "
            + "@ReverseMagicValue must name a relation to \(shape.typeName)")
      }
    } else {
      relation = try ObjectRelation(plans(shape.type), slot, isReversed: false, plans)
    }
    relations.withLock { $0[key] = relation }
    return relation
  }
}

/// A reverse relation, which names the property that it reverses.
protocol ReverseRelation {
  /// Returns the property that the relation reverses, and the plan of the type that declares it.
  func property(
    _ plans: (any MagicObject.Type) throws -> ObjectPlan
  ) throws -> (owner: ObjectPlan, slot: Int)
}
