public import SQLiteCore
public import SQLiteMapping

/// A relation through a property that contains the primary key of another record: to-one from the
/// owner, and to-many from the target.
///
///     struct City: Record {
///       static let traits: [PropertyTrait] = [.references("countryID", Country.self)]
///       var id: Int?
///       var countryID: Int?
///     }
///
///     let country = RecordReference<City, Country>("countryID")
///     let canada = try connection.target(of: toronto, through: country)
///     let cities = try connection.owners(of: canada, through: country)
public struct RecordReference<Owner: Record, Target: Record>: Sendable {
  /// The name of the owner's property that contains the primary key of the target, or nil.
  public let property: String

  /// Creates a reference through a property.
  ///
  /// - Parameter property: The name of a property of the owner that contains the primary key of the
  ///   target, or nil.
  public init(_ property: String) {
    self.property = property
  }

  var column: String { Owner.strategies.keys.column(for: property) }
}

extension Connection {
  /// Fetches the record that another record references.
  ///
  /// - Parameters:
  ///   - owner: The record with the reference.
  ///   - reference: The reference through the owner's property.
  /// - Returns: The referenced record, or nil if the property is nil or the record doesn't exist.
  /// - Throws: `SQLiteError` if a statement fails, or with `ResultCode.misuse` if the primary key
  ///   of `Target` consists of several columns; `RowDecodingError` if the row cannot be decoded as
  ///   the type; `SchemaError` if rows of a record type are equal in properties that it declares as
  ///   unique; an error from the `encode(to:)` of `owner`.
  public func target<Owner: Record, Target: Record>(
    of owner: Owner, through reference: RecordReference<Owner, Target>
  ) throws -> Target? {
    let key = try value(of: reference.column, in: owner)
    guard !key.isNull else { return nil }
    return try object(
      of: Target.self, where: "\(identifier: try keyColumn(of: Target.self)) = \(key)")
  }

  /// Fetches the records that many records reference, with one statement for all of them.
  ///
  /// - Parameters:
  ///   - owners: The records with the reference.
  ///   - reference: The reference through the owners' property.
  /// - Returns: For each of `owners`, the record that it references. The element is nil if the
  ///   property is nil or the record doesn't exist.
  /// - Throws: `SQLiteError` if a statement fails, or with `ResultCode.misuse` if the primary key
  ///   of `Target` consists of several columns; `RowDecodingError` if a row cannot be decoded as
  ///   the type; `SchemaError` if rows of a record type are equal in properties that it declares as
  ///   unique; an error from the `encode(to:)` of one of `owners`.
  public func targets<Owner: Record, Target: Record>(
    ofEach owners: [Owner], through reference: RecordReference<Owner, Target>
  ) throws -> [Target?] {
    let keys = try owners.map { try value(of: reference.column, in: $0) }
    var found: [Value: Target] = [:]
    try forEachObject(of: Target.self, withKeys: Array(Set(keys))) { found[$0.normalizedKey] = $1 }
    return keys.map { found[$0.normalizedKey] }
  }

  /// Fetches the records that reference another record, in the order of their primary keys.
  ///
  /// - Parameters:
  ///   - target: The referenced record.
  ///   - reference: The reference through the owners' property.
  /// - Returns: The records with the reference. Empty if none exists.
  /// - Throws: `SQLiteError` if a statement fails, or with `ResultCode.misuse` if `target` has no
  ///   primary key or a primary key consists of several columns; `RowDecodingError` if a row cannot
  ///   be decoded as the type; `SchemaError` if rows of a record type are equal in properties that
  ///   it declares as unique; an error from the `encode(to:)` of `target`.
  public func owners<Owner: Record, Target: Record>(
    of target: Target, through reference: RecordReference<Owner, Target>
  ) throws -> [Owner] {
    let relation = try Relation(
      column: reference.column,
      of: .init(table: Owner.tableName, key: try keyColumn(of: Owner.self)),
      to: .init(table: Target.tableName, key: try keyColumn(of: Target.self)))
    return try objects(
      of: Owner.self, through: relation.reversed, from: keyValue(of: target))
  }
}

extension Value {
  /// The value, with a whole real as an integer. SQLite stores a whole number as a real or as an
  /// integer, depending on the column.
  fileprivate var normalizedKey: Value {
    if case .real(let real) = self, let integer = Int64(exactly: real) { return .integer(integer) }
    return self
  }
}
