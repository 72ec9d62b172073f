public import SQLiteCore
public import SQLiteMapping

// Each call is a transaction of its own, or part of the `write` or `read` around it. With the forms
// that suspend the task values cross threads: an instance of a class is given away, so that nobody else
// uses it meanwhile, and the results belong to the caller.

extension Database {
  /// Reads the records that one on the left is linked to.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - reference: The links.
  ///   - order: The order, or nil for that of their keys; also by a column that only the links have.
  /// - Throws: `SQLiteError`; `RowDecodingError` if a row does not fit the type.
  public func rightObjects<Left: Record, Right: Record>(
    of left: Left, through reference: CrossReference<Left, Right>,
    orderedBy order: Ordering? = nil
  ) throws -> [Right] {
    try read { try $0.rightObjects(of: left, through: reference, orderedBy: order) }
  }

  /// As ``rightObjects(of:through:orderedBy:)``, without blocking the task.
  public func rightObjects<Left: Record, Right: Record>(
    of left: sending Left, through reference: CrossReference<Left, Right>,
    orderedBy order: Ordering? = nil
  ) async throws -> sending [Right] {
    try await read(giving: left) {
      try $0.rightObjects(of: $1, through: reference, orderedBy: order)
    }
  }

  /// Reads the records that are linked to one on the right.
  ///
  /// - Parameters:
  ///   - right: A record that was written.
  ///   - reference: The links.
  ///   - order: The order, or nil for that of their keys; also by a column that only the links have.
  /// - Throws: `SQLiteError`; `RowDecodingError` if a row does not fit the type.
  public func leftObjects<Left: Record, Right: Record>(
    of right: Right, through reference: CrossReference<Left, Right>,
    orderedBy order: Ordering? = nil
  ) throws -> [Left] {
    try read { try $0.leftObjects(of: right, through: reference, orderedBy: order) }
  }

  /// As ``leftObjects(of:through:orderedBy:)``, without blocking the task.
  public func leftObjects<Left: Record, Right: Record>(
    of right: sending Right, through reference: CrossReference<Left, Right>,
    orderedBy order: Ordering? = nil
  ) async throws -> sending [Left] {
    try await read(giving: right) {
      try $0.leftObjects(of: $1, through: reference, orderedBy: order)
    }
  }

  /// Reads the records that many on the left are linked to: one statement, however many there are.
  ///
  /// - Parameters:
  ///   - lefts: Records that were written.
  ///   - reference: The links.
  ///   - order: The order, or nil for that of their keys; also by a column that only the links have.
  /// - Returns: The linked records of each of `lefts`.
  /// - Throws: `SQLiteError`; `RowDecodingError` if a row does not fit the type.
  public func rightObjects<Left: Record, Right: Record>(
    ofEach lefts: [Left], through reference: CrossReference<Left, Right>,
    orderedBy order: Ordering? = nil
  ) throws -> [[Right]] {
    try read { try $0.rightObjects(ofEach: lefts, through: reference, orderedBy: order) }
  }

  /// As ``rightObjects(ofEach:through:orderedBy:)``, without blocking the task.
  public func rightObjects<Left: Record, Right: Record>(
    ofEach lefts: sending [Left], through reference: CrossReference<Left, Right>,
    orderedBy order: Ordering? = nil
  ) async throws -> sending [[Right]] {
    try await read(giving: lefts) {
      try $0.rightObjects(ofEach: $1, through: reference, orderedBy: order)
    }
  }

  /// Counts the records that one on the left is linked to, by the database.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - reference: The links.
  /// - Throws: `SQLiteError`.
  public func linkCount<Left: Record, Right: Record>(
    of left: Left, through reference: CrossReference<Left, Right>
  ) throws -> Int {
    try read { try $0.linkCount(of: left, through: reference) }
  }

  /// As ``linkCount(of:through:)``, without blocking the task.
  public func linkCount<Left: Record, Right: Record>(
    of left: sending Left, through reference: CrossReference<Left, Right>
  ) async throws -> Int {
    try await read(giving: left) { try $0.linkCount(of: $1, through: reference) }
  }

  /// Links a record to these records and no others, in one transaction.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - others: The records to link it to.
  ///   - reference: The links.
  /// - Returns: The others, with the keys that the database made.
  /// - Throws: `SQLiteError`; then nothing has changed.
  @discardableResult
  public func setLinks<Left: Record, Right: Record>(
    of left: Left, to others: some Sequence<Right>, through reference: CrossReference<Left, Right>
  ) throws -> [Right] {
    try write { try $0.setLinks(of: left, to: others, through: reference) }
  }

  /// As ``setLinks(of:to:through:)``, without blocking the task.
  @discardableResult
  public func setLinks<Left: Record, Right: Record>(
    of left: sending Left, to others: sending some Sequence<Right> & SendableMetatype,
    through reference: CrossReference<Left, Right>
  ) async throws -> sending [Right] {
    try await write(giving: (left, others)) {
      try $0.setLinks(of: $1.0, to: $1.1, through: reference)
    }
  }

  /// Links two records, or changes the values of their link in other columns.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - right: Another one that was written.
  ///   - reference: The links.
  ///   - values: The values of the link in its other columns.
  /// - Throws: `SQLiteError`; then nothing has changed.
  public func link<Left: Record, Right: Record>(
    _ left: Left, _ right: Right, through reference: CrossReference<Left, Right>,
    values: [String: any Bindable] = [:]
  ) throws {
    try write { try $0.link(left, right, through: reference, values: values) }
  }

  /// As ``link(_:_:through:values:)``, without blocking the task.
  public func link<Left: Record, Right: Record>(
    _ left: sending Left, _ right: sending Right, through reference: CrossReference<Left, Right>,
    values: [String: any Bindable & Sendable] = [:]
  ) async throws {
    try await write(giving: (left, right)) {
      try $0.link($1.0, $1.1, through: reference, values: values)
    }
  }

  /// Unlinks two records.
  ///
  /// - Parameters:
  ///   - left: A record.
  ///   - right: Another one.
  ///   - reference: The links.
  /// - Returns: Whether they were linked.
  /// - Throws: `SQLiteError`; then nothing has changed.
  @discardableResult
  public func unlink<Left: Record, Right: Record>(
    _ left: Left, _ right: Right, through reference: CrossReference<Left, Right>
  ) throws -> Bool {
    try write { try $0.unlink(left, right, through: reference) }
  }

  /// As ``unlink(_:_:through:)``, without blocking the task.
  @discardableResult
  public func unlink<Left: Record, Right: Record>(
    _ left: sending Left, _ right: sending Right, through reference: CrossReference<Left, Right>
  ) async throws -> Bool {
    try await write(giving: (left, right)) { try $0.unlink($1.0, $1.1, through: reference) }
  }
}

extension Database {
  /// Reads the record that another refers to, or nil if there is none.
  ///
  /// - Parameters:
  ///   - owner: The record with the reference.
  ///   - reference: The reference.
  /// - Throws: `SQLiteError`; `RowDecodingError` if a row does not fit the type.
  public func target<Owner: Record, Target: Record>(
    of owner: Owner, through reference: RecordReference<Owner, Target>
  ) throws -> Target? {
    try read { try $0.target(of: owner, through: reference) }
  }

  /// As ``target(of:through:)``, without blocking the task.
  public func target<Owner: Record, Target: Record>(
    of owner: sending Owner, through reference: RecordReference<Owner, Target>
  ) async throws -> sending Target? {
    try await read(giving: owner) { try $0.target(of: $1, through: reference) }
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
    try read { try $0.targets(ofEach: owners, through: reference) }
  }

  /// As ``targets(ofEach:through:)``, without blocking the task.
  public func targets<Owner: Record, Target: Record>(
    ofEach owners: sending [Owner], through reference: RecordReference<Owner, Target>
  ) async throws -> sending [Target?] {
    try await read(giving: owners) { try $0.targets(ofEach: $1, through: reference) }
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
    try read { try $0.owners(of: target, through: reference) }
  }

  /// As ``owners(of:through:)``, without blocking the task.
  public func owners<Owner: Record, Target: Record>(
    of target: sending Target, through reference: RecordReference<Owner, Target>
  ) async throws -> sending [Owner] {
    try await read(giving: target) { try $0.owners(of: $1, through: reference) }
  }
}
