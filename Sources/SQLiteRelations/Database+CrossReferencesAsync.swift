public import SQLiteCore
public import SQLiteMapping

// As the blocking forms; values cross threads, so that they must be Sendable.
extension Database {
  /// Reads the records that one on the left is linked to, in the order of their keys, suspending the task.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - reference: The links.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func rightObjects<Left: Record & Sendable, Right: Record & Sendable>(
    of left: Left, through reference: CrossReference<Left, Right>
  ) async throws -> [Right] {
    try await read { try $0.rightObjects(of: left, through: reference) }
  }

  /// Reads the records that are linked to one on the right, in the order of their keys, suspending the task.
  ///
  /// - Parameters:
  ///   - right: A record that was written.
  ///   - reference: The links.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func leftObjects<Left: Record & Sendable, Right: Record & Sendable>(
    of right: Right, through reference: CrossReference<Left, Right>
  ) async throws -> [Left] {
    try await read { try $0.leftObjects(of: right, through: reference) }
  }

  /// Reads the records that many on the left are linked to: one statement, however many there are, suspending the task.
  ///
  /// - Parameters:
  ///   - lefts: Records that were written.
  ///   - reference: The links.
  /// - Returns: For each of `lefts` what it is linked to.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func rightObjects<Left: Record & Sendable, Right: Record & Sendable>(
    ofEach lefts: [Left], through reference: CrossReference<Left, Right>
  ) async throws -> [[Right]] {
    try await read { try $0.rightObjects(ofEach: lefts, through: reference) }
  }

  /// Counts the records that one on the left is linked to, by the database, suspending the task.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - reference: The links.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func linkCount<Left: Record & Sendable, Right: Record & Sendable>(
    of left: Left, through reference: CrossReference<Left, Right>
  ) async throws -> Int {
    try await read { try $0.linkCount(of: left, through: reference) }
  }

  /// Makes a record be linked to just these, in one transaction, suspending the task.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - others: What it shall be linked to.
  ///   - reference: The links.
  /// - Returns: The others, with the keys that the database made.
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func setLinks<Left: Record & Sendable, Right: Record & Sendable>(
    of left: Left, to others: some Sequence<Right> & Sendable,
    through reference: CrossReference<Left, Right>
  ) async throws -> [Right] {
    try await write { try $0.setLinks(of: left, to: others, through: reference) }
  }

  /// Links two records, or changes what their link has in other columns, suspending the task.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - right: Another one that was written.
  ///   - reference: The links.
  ///   - values: What the link has in other columns.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func link<Left: Record & Sendable, Right: Record & Sendable>(
    _ left: Left, _ right: Right, through reference: CrossReference<Left, Right>,
    values: [String: any Bindable & Sendable] = [:]
  ) async throws {
    try await write { try $0.link(left, right, through: reference, values: values) }
  }

  /// Unlinks two records, suspending the task.
  ///
  /// - Parameters:
  ///   - left: A record.
  ///   - right: Another one.
  ///   - reference: The links.
  /// - Returns: Whether they were linked.
  /// - Throws: As the blocking form, or `CancellationError`.
  @discardableResult
  public func unlink<Left: Record & Sendable, Right: Record & Sendable>(
    _ left: Left, _ right: Right, through reference: CrossReference<Left, Right>
  ) async throws -> Bool {
    try await write { try $0.unlink(left, right, through: reference) }
  }
}
