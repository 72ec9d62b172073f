public import SQLiteCore
public import SQLiteMapping

// As the blocking forms. Values cross threads: an instance of a class is given away, so that nobody else
// uses it meanwhile, and what is handed back belongs to the caller.
extension Database {
  /// Reads the record that another refers to, or nil if there is none, suspending the task.
  ///
  /// - Parameters:
  ///   - owner: The record with the reference.
  ///   - reference: The reference.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func target<Owner: Record, Target: Record>(
    of owner: sending Owner, through reference: RecordReference<Owner, Target>
  ) async throws -> sending Target? {
    try await read(giving: owner) { try $0.target(of: $1, through: reference) }
  }

  /// Reads the records that many refer to, in one statement, suspending the task.
  ///
  /// - Parameters:
  ///   - owners: The records with the reference.
  ///   - reference: The reference.
  /// - Returns: For each of `owners` what it refers to, or nil.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func targets<Owner: Record, Target: Record>(
    ofEach owners: sending [Owner], through reference: RecordReference<Owner, Target>
  ) async throws -> sending [Target?] {
    try await read(giving: owners) { try $0.targets(ofEach: $1, through: reference) }
  }

  /// Reads the records that refer to another, in the order of their keys, suspending the task.
  ///
  /// - Parameters:
  ///   - target: The record that they refer to.
  ///   - reference: The reference.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func owners<Owner: Record, Target: Record>(
    of target: sending Target, through reference: RecordReference<Owner, Target>
  ) async throws -> sending [Owner] {
    try await read(giving: target) { try $0.owners(of: $1, through: reference) }
  }
}
