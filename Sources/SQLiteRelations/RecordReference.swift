public import SQLiteCore
public import SQLiteMapping

/// A property of a record that holds the key of another: to one from the owner, to many from the other.
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
  /// The owner's property.
  public let property: String

  /// Names the property.
  ///
  /// - Parameter property: A property of the owner that holds the other's key, or nil.
  public init(_ property: String) {
    self.property = property
  }

  var column: String { Owner.strategies.keys.column(for: property) }
}

extension Connection {
  /// Reads the record that another refers to, or nil if there is none.
  ///
  /// - Parameters:
  ///   - owner: The record with the reference.
  ///   - reference: The reference.
  /// - Throws: `SQLiteError`; `RowDecodingError` if the row does not fit the type.
  public func target<Owner: Record, Target: Record>(
    of owner: Owner, through reference: RecordReference<Owner, Target>
  ) throws -> Target? {
    let key = try value(of: reference.column, in: owner)
    guard !key.isNull else { return nil }
    return try object(
      of: Target.self, where: "\(identifier: try keyColumn(of: Target.self)) = \(key)")
  }

  /// Reads the records that many refer to, in one statement.
  ///
  /// - Parameters:
  ///   - owners: The records with the reference.
  ///   - reference: The reference.
  /// - Returns: The record that each of `owners` refers to, or nil.
  /// - Throws: `SQLiteError`; `RowDecodingError` if a row does not fit the type.
  public func targets<Owner: Record, Target: Record>(
    ofEach owners: [Owner], through reference: RecordReference<Owner, Target>
  ) throws -> [Target?] {
    let keys = try owners.map { try value(of: reference.column, in: $0) }
    var found: [Value: Target] = [:]
    try forEachObject(of: Target.self, withKeys: Array(Set(keys))) { found[$0.asKey] = $1 }
    return keys.map { found[$0.asKey] }
  }

  /// Reads the records that refer to another, in the order of their keys.
  ///
  /// - Parameters:
  ///   - target: The record that they refer to.
  ///   - reference: The reference.
  /// - Throws: `SQLiteError`; `RowDecodingError` if a row does not fit the type.
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
  /// A whole real as an integer, since it depends on its column which of them SQLite stores.
  fileprivate var asKey: Value {
    if case .real(let real) = self, let integer = Int64(exactly: real) { return .integer(integer) }
    return self
  }
}
