public import SQLiteCore
public import SQLiteMapping

// Each call is a transaction of its own, or part of the `write` or `read` around it.
extension Database {
  /// Reads the records that one on the left is linked to.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - reference: The links.
  ///   - order: The order, or nil for that of their keys; also by a column that only the links have.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if a row does not fit the type.
  public func rightObjects<Left: Record, Right: Record>(
    of left: Left, through reference: CrossReference<Left, Right>,
    orderedBy order: Ordering? = nil
  ) throws -> [Right] {
    try read { try $0.rightObjects(of: left, through: reference, orderedBy: order) }
  }

  /// Reads the records that are linked to one on the right.
  ///
  /// - Parameters:
  ///   - right: A record that was written.
  ///   - reference: The links.
  ///   - order: The order, or nil for that of their keys; also by a column that only the links have.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if a row does not fit the type.
  public func leftObjects<Left: Record, Right: Record>(
    of right: Right, through reference: CrossReference<Left, Right>,
    orderedBy order: Ordering? = nil
  ) throws -> [Left] {
    try read { try $0.leftObjects(of: right, through: reference, orderedBy: order) }
  }

  /// Reads the records that many on the left are linked to: one statement, however many there are.
  ///
  /// - Parameters:
  ///   - lefts: Records that were written.
  ///   - reference: The links.
  ///   - order: The order, or nil for that of their keys; also by a column that only the links have.
  /// - Returns: For each of `lefts` what it is linked to.
  /// - Throws: ``SQLiteError``; ``RowDecodingError`` if a row does not fit the type.
  public func rightObjects<Left: Record, Right: Record>(
    ofEach lefts: [Left], through reference: CrossReference<Left, Right>,
    orderedBy order: Ordering? = nil
  ) throws -> [[Right]] {
    try read { try $0.rightObjects(ofEach: lefts, through: reference, orderedBy: order) }
  }

  /// Counts the records that one on the left is linked to, by the database.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - reference: The links.
  /// - Throws: ``SQLiteError``.
  public func linkCount<Left: Record, Right: Record>(
    of left: Left, through reference: CrossReference<Left, Right>
  ) throws -> Int {
    try read { try $0.linkCount(of: left, through: reference) }
  }

  /// Makes a record be linked to just these, in one transaction.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - others: What it shall be linked to.
  ///   - reference: The links.
  /// - Returns: The others, with the keys that the database made.
  /// - Throws: ``SQLiteError``; then nothing has changed.
  @discardableResult
  public func setLinks<Left: Record, Right: Record>(
    of left: Left, to others: some Sequence<Right>, through reference: CrossReference<Left, Right>
  ) throws -> [Right] {
    try write { try $0.setLinks(of: left, to: others, through: reference) }
  }

  /// Links two records, or changes what their link has in other columns.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - right: Another one that was written.
  ///   - reference: The links.
  ///   - values: What the link has in other columns.
  /// - Throws: ``SQLiteError``; then nothing has changed.
  public func link<Left: Record, Right: Record>(
    _ left: Left, _ right: Right, through reference: CrossReference<Left, Right>,
    values: [String: any Bindable] = [:]
  ) throws {
    try write { try $0.link(left, right, through: reference, values: values) }
  }

  /// Unlinks two records.
  ///
  /// - Parameters:
  ///   - left: A record.
  ///   - right: Another one.
  ///   - reference: The links.
  /// - Returns: Whether they were linked.
  /// - Throws: ``SQLiteError``; then nothing has changed.
  @discardableResult
  public func unlink<Left: Record, Right: Record>(
    _ left: Left, _ right: Right, through reference: CrossReference<Left, Right>
  ) throws -> Bool {
    try write { try $0.unlink(left, right, through: reference) }
  }
}
