public import SQLiteCore
public import SQLiteMapping

// Each call is a transaction of its own, or part of the `write` or `read` around it.
extension Database {
  /// Reads the record that another refers to, or nil if there is none.
  ///
  /// - Parameters:
  ///   - owner: The record with the reference.
  ///   - reference: The reference.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if a row does not fit the type.
  public func target<Owner: Record, Target: Record>(
    of owner: Owner, through reference: RecordReference<Owner, Target>
  ) throws -> Target? {
    try read { try $0.target(of: owner, through: reference) }
  }

  /// Reads the records that many refer to, in one statement.
  ///
  /// - Parameters:
  ///   - owners: The records with the reference.
  ///   - reference: The reference.
  /// - Returns: For each of `owners` what it refers to, or nil.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if a row does not fit the type.
  public func targets<Owner: Record, Target: Record>(
    ofEach owners: [Owner], through reference: RecordReference<Owner, Target>
  ) throws -> [Target?] {
    try read { try $0.targets(ofEach: owners, through: reference) }
  }

  /// Reads the records that refer to another, in the order of their keys.
  ///
  /// - Parameters:
  ///   - target: The record that they refer to.
  ///   - reference: The reference.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if a row does not fit the type.
  public func owners<Owner: Record, Target: Record>(
    of target: Target, through reference: RecordReference<Owner, Target>
  ) throws -> [Owner] {
    try read { try $0.owners(of: target, through: reference) }
  }
}
