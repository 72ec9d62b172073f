public import SQLiteCore
public import SQLiteMapping

extension Connection {
  /// Makes a record be linked to just these, in one transaction.
  ///
  /// The others are written first, so that new ones get their keys. Links that stay are left alone,
  /// with what they have in other columns.
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
    try savepoint {
      let key = try keyValue(of: left)
      let saved = try others.map { try update($0) }
      if saved.isEmpty, try !hasLinks(reference) { return [] }
      try ensureLinks(reference)
      let wanted = Set(try saved.map { try keyValue(of: $0) })
      let stored: [Value] = try rows(
        "SELECT \(identifier: reference.rightKeyName) FROM \(identifier: reference.name) WHERE \(identifier: reference.leftKeyName) = \(key)",
        as: Value.self)
      let present = Set(stored)
      let leaving = Array(present.subtracting(wanted))
      if !leaving.isEmpty {
        try executeChange(
          "DELETE FROM \(identifier: reference.name) WHERE \(identifier: reference.leftKeyName) = \(key) AND \(identifier: reference.rightKeyName) IN \(leaving)"
        )
      }
      for other in wanted.subtracting(present) { try insertLink(key, other, [:], reference) }
      return saved
    }
  }

  /// Links two records, or changes what their link has in other columns.
  ///
  /// - Parameters:
  ///   - left: A record that was written.
  ///   - right: Another one that was written.
  ///   - reference: The links.
  ///   - values: What the link has in other columns.
  /// - Throws: ``SQLiteError``.
  public func link<Left: Record, Right: Record>(
    _ left: Left, _ right: Right, through reference: CrossReference<Left, Right>,
    values: [String: any Bindable] = [:]
  ) throws {
    try savepoint {
      try ensureLinks(reference)
      try insertLink(try keyValue(of: left), try keyValue(of: right), values, reference)
    }
  }

  /// Unlinks two records.
  ///
  /// - Parameters:
  ///   - left: A record.
  ///   - right: Another one.
  ///   - reference: The links.
  /// - Returns: Whether they were linked.
  /// - Throws: ``SQLiteError``.
  @discardableResult
  public func unlink<Left: Record, Right: Record>(
    _ left: Left, _ right: Right, through reference: CrossReference<Left, Right>
  ) throws -> Bool {
    guard try hasLinks(reference) else { return false }
    return try executeChange(
      "DELETE FROM \(identifier: reference.name) WHERE \(identifier: reference.leftKeyName) = \(keyValue(of: left)) AND \(identifier: reference.rightKeyName) = \(keyValue(of: right))"
    ).rows > 0
  }

  private func insertLink<Left: Record, Right: Record>(
    _ left: Value, _ right: Value, _ values: [String: any Bindable],
    _ reference: CrossReference<Left, Right>
  ) throws {
    let extra = values.sorted { $0.key < $1.key }
    let names = [reference.leftKeyName, reference.rightKeyName] + extra.map(\.key)
    let list = SQL(
      joining: ["\(left)", "\(right)"] + extra.map { "\($0.value)" as SQL }, separator: ", ")
    let changes = extra.map { "\(identifier: $0.key) = excluded.\(identifier: $0.key)" as SQL }
    let action: SQL =
      changes.isEmpty ? "NOTHING" : "UPDATE SET \(SQL(joining: changes, separator: ", "))"
    try executeChange(
      "INSERT INTO \(identifier: reference.name) (\(SQL(identifiers: names))) VALUES (\(list)) ON CONFLICT (\(SQL(identifiers: Array(names.prefix(2))))) DO \(action)"
    )
  }
}
