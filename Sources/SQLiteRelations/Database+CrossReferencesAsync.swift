public import SQLiteCore
public import SQLiteMapping

// As the blocking forms. Values cross threads: an instance of a class is given away, so that nobody else
// uses it meanwhile, and what is handed back belongs to the caller.
extension Database {
  /// Reads the records that one on the left is linked to, suspending the task.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - reference: The links.
  ///   - order: The order, or nil for that of their keys; also by a column that only the links have.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func rightObjects<Left: Record, Right: Record>(
    of left: sending Left, through reference: CrossReference<Left, Right>,
    orderedBy order: Ordering? = nil
  ) async throws -> sending [Right] {
    try await read(giving: left) {
      try $0.rightObjects(of: $1, through: reference, orderedBy: order)
    }
  }

  /// Reads the records that are linked to one on the right, suspending the task.
  ///
  /// - Parameters:
  ///   - right: A record that was written.
  ///   - reference: The links.
  ///   - order: The order, or nil for that of their keys; also by a column that only the links have.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func leftObjects<Left: Record, Right: Record>(
    of right: sending Right, through reference: CrossReference<Left, Right>,
    orderedBy order: Ordering? = nil
  ) async throws -> sending [Left] {
    try await read(giving: right) {
      try $0.leftObjects(of: $1, through: reference, orderedBy: order)
    }
  }

  /// Reads the records that many on the left are linked to: one statement, however many there are, suspending the task.
  ///
  /// - Parameters:
  ///   - lefts: Records that were written.
  ///   - reference: The links.
  ///   - order: The order, or nil for that of their keys; also by a column that only the links have.
  /// - Returns: For each of `lefts` what it is linked to.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func rightObjects<Left: Record, Right: Record>(
    ofEach lefts: sending [Left], through reference: CrossReference<Left, Right>,
    orderedBy order: Ordering? = nil
  ) async throws -> sending [[Right]] {
    try await read(giving: lefts) {
      try $0.rightObjects(ofEach: $1, through: reference, orderedBy: order)
    }
  }

  /// Counts the records that one on the left is linked to, by the database, suspending the task.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - reference: The links.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func linkCount<Left: Record, Right: Record>(
    of left: sending Left, through reference: CrossReference<Left, Right>
  ) async throws -> Int {
    try await read(giving: left) { try $0.linkCount(of: $1, through: reference) }
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
  public func setLinks<Left: Record, Right: Record>(
    of left: sending Left, to others: sending some Sequence<Right> & SendableMetatype,
    through reference: CrossReference<Left, Right>
  ) async throws -> sending [Right] {
    try await write(giving: (left, others)) {
      try $0.setLinks(of: $1.0, to: $1.1, through: reference)
    }
  }

  /// Links two records, or changes what their link has in other columns, suspending the task.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - right: Another one that was written.
  ///   - reference: The links.
  ///   - values: What the link has in other columns.
  /// - Throws: As the blocking form, or `CancellationError`.
  public func link<Left: Record, Right: Record>(
    _ left: sending Left, _ right: sending Right, through reference: CrossReference<Left, Right>,
    values: [String: any Bindable & Sendable] = [:]
  ) async throws {
    try await write(giving: (left, right)) {
      try $0.link($1.0, $1.1, through: reference, values: values)
    }
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
  public func unlink<Left: Record, Right: Record>(
    _ left: sending Left, _ right: sending Right, through reference: CrossReference<Left, Right>
  ) async throws -> Bool {
    try await write(giving: (left, right)) { try $0.unlink($1.0, $1.1, through: reference) }
  }
}
