public import SQLiteCore
public import SQLiteMapping

// As the blocking forms; values cross threads, so that they must be Sendable.
extension Database {
  /// Reads the record that another refers to, or nil if there is none, suspending the task.
  ///
  /// - Parameters:
  ///   - owner: The record with the reference.
  ///   - reference: The reference.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func target<Owner: Record & Sendable, Target: Record & Sendable>(
    of owner: Owner, through reference: RecordReference<Owner, Target>
  ) async throws -> Target? {
    try await read { try $0.target(of: owner, through: reference) }
  }

  /// Reads the records that many refer to, in one statement, suspending the task.
  ///
  /// - Parameters:
  ///   - owners: The records with the reference.
  ///   - reference: The reference.
  /// - Returns: For each of `owners` what it refers to, or nil.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func targets<Owner: Record & Sendable, Target: Record & Sendable>(
    ofEach owners: [Owner], through reference: RecordReference<Owner, Target>
  ) async throws -> [Target?] {
    try await read { try $0.targets(ofEach: owners, through: reference) }
  }

  /// Reads the records that refer to another, in the order of their keys, suspending the task.
  ///
  /// - Parameters:
  ///   - target: The record that they refer to.
  ///   - reference: The reference.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func owners<Owner: Record & Sendable, Target: Record & Sendable>(
    of target: Target, through reference: RecordReference<Owner, Target>
  ) async throws -> [Owner] {
    try await read { try $0.owners(of: target, through: reference) }
  }
}
